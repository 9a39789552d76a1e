"""English questions about a sentence, by rule.

A question form looks for the constituent it asks for (a date, a place, a cause...) and for a subject
and a verb to turn round. A form that finds none gives nothing; one fallback always gives a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from quern.schemas.words.calendar import MONTH

Form = Callable[[str, str], str]

_PERSONS = """
actor actress author bishop biker bowler boxer chef comedian cricketer cyclist dancer designer driver duke fighter
golfer governor historian judge jumper knight librarian mayor minister monk musician nun physician physicist pilot
player priest rapper rider rower runner scholar screenwriter senator skater skier soldier songwriter sprinter surgeon
swimmer wrestler
bishop coach composer daughter director emperor engineer footballer founder general king lawyer
leader manager member officer painter philosopher player poet president prince princess producer professor queen rapper
saint singer son teacher writer
"""
# What persons are called, beside words such as `politician`, `artist`, `playwright`, `woman`.

PERSON_NOUN = re.compile(
    r"(?:an?|the|one of the) (?:[\w-]+ ){0,4}?(?:[a-z]+(?:ist|ician|wright|woman|man)|"
    + "|".join(sorted({*_PERSONS.split()}))
    + r")\b"
)
_LEAD = re.compile(
    r"(?:In|On|At|By|During|After|Before|From|Since|As|For|Under|With|However|Moreover|Also|Today|Currently|Then|Finally)\b"
    r"(?: \d{1,2}, (?=\d{4}\b)|[^,.;:]){0,60}(?:, | (?=(?:he|she|it|they) [a-z]))(?=\S)"
)
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_YEAR = r"(?:1\d{3}|20\d\d)s?\b"
_DATE = (
    rf"(?:(?:on|in|by|since|until|from|around) )?(?:the )?(?:{_DAY}(?:,? )?)?(?:\d{{1,2}}(?:st|nd|rd|th)? )?"
    rf"{MONTH}\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}})?"
    rf"|(?:in|since|by|from|until|around|circa|between) (?:the )?{_YEAR}"
)
_DATE_IN = re.compile(rf"(?:^| )(?:{_DATE})")
_APPOSITION = re.compile(r"(?:, [^,]{2,80},| \([^()]{0,120}\))(?= )")
_CLAUSE_END = re.compile(
    r"[;:]| [–—] |, (?=(?:and|but|which|who|where|while|with|when|although|though|as|so|or) )|[.!?]+[\"'”’)]*$"
)
_AUX = "is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|does|did"
_INVERT = re.compile(rf"(?P<subject>\S+(?: \S+){{0,8}}?) (?P<verb>{_AUX}) (?P<rest>\S.*)")
_PARTICIPLE = re.compile(
    r"(?:(?:not|also|always|never|since|long|\w+ly) )?(?:been|become|made|had|won|held|led|built|\w{2,}ed)\b"
)
_BREAKS_SUBJECT = re.compile(r"[,;:]|[a-z]{3}[.!?] | (?:who|which|that|when|where|if|because|and then) ", re.IGNORECASE)
_CONJUNCTION = re.compile(
    r"(?:When|While|If|Although|Though|Because|Since|As|After|Before|There|Here|Who|What|How|Where|Why|And|But|So|Unlike|Like|In|On|At|By"
    r"|For|From|Following|During|Among|Within|To|With|Of|Under|Over|Between) "
)
_WHY = re.compile(r" (?:because(?: of)?|due to|owing to|in order to|so that|as a result of|thanks to) ")
_PLACE = re.compile(r" (?:in|at|near|from|to|into|outside|around) (?:the )?(?!" + MONTH + r")[A-Z][\w'’-]+")
_PRONOUNS = frozenset("he she it they this these his her its their".split())
_DETERMINERS = frozenset("the a an that those some most many all".split())


def questions(text: str, topic: str) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the plain sentence `text` of a document about `topic`, the best first.

    None for a sentence that begins with a pronoun: alone, the question would not say whom it asks about.
    """
    sentence = _APPOSITION.sub("", text)
    clause = _CLAUSE_END.split(_LEAD.sub("", sentence, count=1), maxsplit=1)[0].strip()
    if clause.split(" ", 1)[0].lower() in _PRONOUNS:
        return
    for name, form in _FORMS.items():
        question = form(sentence, clause)
        if question:
            yield name, _finished(question, topic)


def overview(topic: str, words: Sequence[str]) -> str:
    """The question about a whole chunk on `topic` that speaks of `words`."""
    return f"What is there to know about {topic}: {', '.join(words)}?"


def about(names: str, topic: str) -> str:
    """The question that always works: what is said about `names` in a document about `topic`."""
    if names and topic and names.lower() not in topic.lower():
        return f"What is said about {topic} and {names}?"
    return f"What is said about {topic or names}?" if topic or names else "What is said?"


def _uncapitalised(text: str) -> str:
    """The text with a small letter in a determiner that begins it."""
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first.lower() in _DETERMINERS else text


def _inverted(clause: str) -> tuple[str, str, str] | None:
    """Subject, auxiliary and rest of a clause."""
    found = _INVERT.match(clause)
    if found is None or _BREAKS_SUBJECT.search(found["subject"] + " ") or _CONJUNCTION.match(clause):
        return None
    if found["verb"] in ("has", "have", "had") and not _PARTICIPLE.match(found["rest"]):
        return None
    return _uncapitalised(found["subject"]), found["verb"], found["rest"]


def _when(sentence: str, clause: str) -> str:
    if not _DATE_IN.search(sentence):
        return ""
    parts = _inverted(clause)
    if parts is None:
        return (
            f"When was it that {_uncapitalised(_shortened(_DATE_IN.sub('', clause)))}"
            if len(clause.split()) > 3
            else ""
        )
    return f"When {parts[1]} {parts[0]} {_shortened(_DATE_IN.split(parts[2], maxsplit=1)[0])}"


def _why(sentence: str, clause: str) -> str:
    cause = _WHY.search(sentence)
    if cause is None or cause.start() < 8:
        return ""
    effect = _LEAD.sub("", sentence[: cause.start()], count=1)
    parts = _inverted(effect)
    return (
        f"Why {parts[1]} {parts[0]} {_shortened(parts[2])}"
        if parts
        else f"Why is it that {_uncapitalised(_shortened(effect))}"
    )


def _definition(sentence: str, clause: str) -> str:
    parts = _inverted(clause)
    if parts is None or parts[1] not in ("is", "are", "was", "were"):
        return ""
    if PERSON_NOUN.match(parts[2]):
        return f"Who {parts[1]} {parts[0]}"
    return f"What {parts[1]} {parts[0]}" if re.match(r"(?:an?|the|one) ", parts[2]) else ""


def _where(sentence: str, clause: str) -> str:
    parts = _inverted(clause)
    if parts is None or not (place := _PLACE.search(" " + parts[2])):
        return ""
    return f"Where {parts[1]} {parts[0]} {_shortened(parts[2][: max(place.start() - 1, 0)])}"


def _whether(sentence: str, clause: str) -> str:
    parts = _inverted(clause)
    return f"{parts[1].capitalize()} {parts[0]} {_shortened(parts[2])}" if parts else ""


# The order is that of preference: the most telling constituents first.
_FORMS: dict[str, Form] = {"why": _why, "when": _when, "definition": _definition, "where": _where, "whether": _whether}


def _shortened(text: str) -> str:
    # Words of a question at most, before its topic.
    return " ".join(_CLAUSE_END.split(text.strip(), maxsplit=1)[0].split()[:22])


def _finished(question: str, topic: str) -> str:
    """The question with its mark, and with the topic where it does not name it."""
    body = question.strip().rstrip(".,;:!?").strip()
    return f"{body}?" if not topic or topic.lower() in body.lower() else f"About {topic}: {body[0].lower()}{body[1:]}?"
