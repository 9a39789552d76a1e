"""English questions about a sentence or a turn of a dialogue, by rule.

A question form looks for the constituent it asks for (a date, a place, a cause...) and for a subject
and a verb to turn round. A form that finds none gives nothing; one fallback always gives a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quern.jobs.queries.rules.units import Unit
from quern.schemas.words.calendar import MONTH
from quern.schemas.words.sentences import sentences

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
    for name, question in _forms(sentence, clause):
        body = question.strip().rstrip(".,;:!?").strip()
        # With the topic, where it does not name it.
        on_topic = not topic or topic.lower() in body.lower()
        yield name, f"{body}?" if on_topic else f"About {topic}: {body[0].lower()}{body[1:]}?"


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
    match = _INVERT.match(clause)
    if match is None or _BREAKS_SUBJECT.search(match["subject"] + " ") or _CONJUNCTION.match(clause):
        return None
    if match["verb"] in ("has", "have", "had") and not _PARTICIPLE.match(match["rest"]):
        return None
    return _uncapitalised(match["subject"]), match["verb"], match["rest"]


def _forms(sentence: str, clause: str) -> Iterator[tuple[str, str]]:
    """Pairs (form, question without its mark), the most telling constituents first."""
    inverse = _inverted(clause)
    cause = _WHY.search(sentence)
    if cause and cause.start() >= 8:
        effect = _LEAD.sub("", sentence[: cause.start()], count=1)
        if parts := _inverted(effect):
            yield "why", f"Why {parts[1]} {parts[0]} {_shortened(parts[2])}"
        else:
            yield "why", f"Why is it that {_uncapitalised(_shortened(effect))}"
    if _DATE_IN.search(sentence):
        if inverse:
            yield "when", f"When {inverse[1]} {inverse[0]} {_shortened(_DATE_IN.split(inverse[2], maxsplit=1)[0])}"
        elif len(clause.split()) > 3:
            yield "when", f"When was it that {_uncapitalised(_shortened(_DATE_IN.sub('', clause)))}"
    if inverse is None:
        return
    subject, verb, rest = inverse
    if verb in ("is", "are", "was", "were"):
        if PERSON_NOUN.match(rest):
            yield "definition", f"Who {verb} {subject}"
        elif re.match(r"(?:an?|the|one) ", rest):
            yield "definition", f"What {verb} {subject}"
    if place := _PLACE.search(f" {rest}"):
        yield "where", f"Where {verb} {subject} {_shortened(rest[: max(place.start() - 1, 0)])}"
    yield "whether", f"{verb.capitalize()} {subject} {_shortened(rest)}"


def _shortened(text: str) -> str:
    # Words of a question at most, before its topic.
    return " ".join(_CLAUSE_END.split(text.strip(), maxsplit=1)[0].split()[:22])


_WHEN = (
    r"\b(?:\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m|p\.m|o'clock)\b|\d{1,2}:\d\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|today|tomorrow|tonight|yesterday|(?:this|next|last) (?:week|month|year)|weekend|noon|midnight)"
)
_INVITE = r"\b(?:join|invite|come over|want to|wanna|would you like|care to|free (?:this|on|for))\b.*\?"
_SUGGEST = r"\b(?:let's|how about|what about|why don't|should try|could try|recommend|suggest|you should|you can)\b"
_PLAN = r"\b(?:i'll|i will|we'll|we will|going to|gonna|plan(?:ning)? to)\b"
_FEEL = r"\b(?:love|enjoy|like|prefer|favou?rite|excited|feel|glad|happy)\b"
_DID = r"\b(?:i|we) (?:\w+ed|was|were|went|had|got|saw|made|found|bought|tried)\b"

# What a turn does, in order of preference, and the question that asks for it: a speaks to b about k.
_ACTS: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE), template)
    for name, pattern, template in (
        ("why", r"\bbecause\b|\bsince (?:i|we|it)\b|\bso that\b|that's why", "Why does {a} tell {b} this{k}?"),
        ("when", _WHEN, "When does {a} tell {b} it is{k}{d}?"),
        ("invite", _INVITE, "What does {a} invite {b} to do{k}?"),
        ("suggest", _SUGGEST, "What does {a} suggest to {b}{k}?"),
        ("ask", r"\?\W*$", "What does {a} ask {b}{k}?"),
        ("thank", r"\b(?:thanks|thank you|appreciate)\b", "Why does {a} thank {b}{k}?"),
        ("plan", _PLAN, "What will {a} do{k}?"),
        ("feel", _FEEL, "What does {a} like or feel{k}?"),
        ("think", r"\b(?:think|believe|guess|opinion|seems?|sounds?)\b", "What does {a} think{k}?"),
        ("did", _DID, "What did {a} do{k}?"),
    )
)
_ASKED = 22  # Words of a reported question at most, unless its last sentence has more.


def turn_questions(text: str, unit: Unit, key: str, day: str) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the turn `text`, which is about `key` and was said on `day`; either may be empty."""
    a, b = unit.speaker, unit.addressee or "the others"
    plain = text.replace("’", "'")
    k, d = (f" about {key}" if key else ""), f" (said on {day})" if day else ""
    yield "tell", f"What does {a} tell {b}{k}?"
    if unit.before.rstrip().endswith("?"):
        # The end of what was asked, whole sentences as long as they are not too many words.
        *before, question = sentences(unit.before)
        while before and len(question.split()) + len(before[-1].split()) <= _ASKED:
            question = f"{before.pop()} {question}"
        yield "reply", f"What does {a} answer when {b} asks: {' '.join(question.split()[-2 * _ASKED :])}"
    for name, pattern, template in _ACTS:
        if pattern.search(plain):
            yield name, template.format(a=a, b=b, k=k, d=d)


def conversation(speakers: Sequence[str], topics: Sequence[str], day: str) -> str:
    """The question that asks for a whole conversation."""
    on, about = f" on {day}" if day else "", f": {', '.join(topics)}" if topics else ""
    return f"What do {' and '.join(speakers[:4])} talk about{on}{about}?"
