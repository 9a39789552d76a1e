"""English questions about a sentence, by rule.

A question form looks for the constituent it asks for (a date, a place, a cause, a count...) and for a subject
and a verb to turn round. A form that finds none gives nothing; one fallback always gives a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from quern.jobs.queries.rules.pronouns import LEAD, PERSON_NOUN, resolve
from quern.schemas.words.calendar import MONTH

Form = Callable[[str, str], str]

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
_HOW = re.compile(r" by (?:\w+ly )?\w+ing ")
_PLACE = re.compile(r" (?:in|at|near|from|to|into|outside|around) (?:the )?(?!" + MONTH + r")[A-Z][\w'’-]+")
_COUNT = re.compile(
    r"\b(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|"
    r"(?:dozen|hundred|thousand)s of) (?P<noun>(?:[a-z-]+ ){0,2}[a-z]{3,}s)\b"
)
_BY_AGENT = re.compile(r"(?P<verb>[a-z]+ed|led|built|held|won|sung) (?P<rest>.*?)\bby (?=[A-Z]|the )")
_COMPARE = re.compile(
    r"\b(?:more|less|fewer|[a-z]{3,}er)(?: [\w-]+)? than (?P<other>\S+(?: \S+){0,5})"
    r"|\b(?:unlike|compared (?:to|with)) (?P<with>\S+(?: \S+){0,4})"
)
_ACTION = re.compile(
    r"(?P<subject>(?:The |An? )?[A-Z][\w'’.-]*(?: (?:of|the|and|de|von|van|[A-Z][\w'’.-]*))*) "
    r"(?P<verb>(?!is |was |has |does )[a-z]{2,}(?:ed|[^s]s)|became|began|built|fought|gave|grew|held|led|left|lost"
    r"|made|met|ran|sang|took|won|wrote) (?P<rest>\S.*)"
)
_CONDITION = re.compile(r"(?P<word>If|When|Once|Unless) (?P<rest>[^,]{5,90}),")
_IMPERATIVE = re.compile(
    r"(?:(?:Please|Always|Never|Do not|Don't) )?(?:Add|Avoid|Call|Check|Choose|Click|Consider|Create|Cut|Ensure|Enter"
    r"|Follow|Go|Heat|Install|Keep|Let|Make|Mix|Note|Open|Place|Press|Put|Read|Remember|Remove|Run|Select|Send|Start"
    r"|Stop|Take|Try|Turn|Use|Visit|Write) ",
    re.IGNORECASE,
)
_DETERMINERS = frozenset("the a an this that these those its his her their some most many all it he she they".split())
_ASKED = 22  # Words of a question at most, before its topic.


def questions(text: str, topic: str, before: str = "", kind: str = "") -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the plain sentence `text` of a document about `topic`, the best first.

    Args:
        text: The sentence.
        topic: What the document is about; may be empty.
        before: The sentence before it.
        kind: What the topic is known to be: `person`, `thing` or nothing.
    """
    sentence = resolve(_APPOSITION.sub("", text), before, topic, kind)
    clause = _CLAUSE_END.split(LEAD.sub("", sentence, count=1), maxsplit=1)[0].strip()
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
    effect = LEAD.sub("", sentence[: cause.start()], count=1)
    parts = _inverted(effect)
    return (
        f"Why {parts[1]} {parts[0]} {_shortened(parts[2])}"
        if parts
        else f"Why is it that {_uncapitalised(_shortened(effect))}"
    )


def _how(sentence: str, clause: str) -> str:
    means, parts = _HOW.search(clause), _inverted(clause)
    if means is None or parts is None:
        return ""
    return f"How {parts[1]} {parts[0]} {_shortened(_HOW.split(parts[2], maxsplit=1)[0])}"


def _who_by(sentence: str, clause: str) -> str:
    parts = _inverted(clause)
    agent = _BY_AGENT.match(parts[2]) if parts else None
    if parts is None or agent is None or parts[1] not in ("was", "were"):
        return ""
    return f"Who {agent['verb']} {parts[0]} {agent['rest']}"


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


def _compared(sentence: str, clause: str) -> str:
    found, parts = _COMPARE.search(clause), _inverted(clause)
    if found is None or parts is None:
        return ""
    return f"How does {parts[0]} compare with {found['other'] or found['with']}"


def _condition(sentence: str, clause: str) -> str:
    found = _CONDITION.match(sentence)
    return f"What happens {found['word'].lower()} {_shortened(found['rest'])}" if found else ""


def _instruction(sentence: str, clause: str) -> str:
    return f"What should one do: {_shortened(clause[:1].lower() + clause[1:])}" if _IMPERATIVE.match(sentence) else ""


def _who_did(sentence: str, clause: str) -> str:
    action = _ACTION.match(clause)
    if action is None:
        return ""
    asked = "What" if action["subject"].startswith(("The ", "A ", "An ")) else "Who or what"
    return f"{asked} {action['verb']} {_shortened(action['rest'])}"


def _how_many(sentence: str, clause: str) -> str:
    count = _COUNT.search(sentence)
    return f"How many {count['noun']} are there" if count else ""


def _whether(sentence: str, clause: str) -> str:
    parts = _inverted(clause)
    return f"{parts[1].capitalize()} {parts[0]} {_shortened(parts[2])}" if parts else ""


# The order is that of preference: the most telling constituents first.
_FORMS: dict[str, Form] = {
    "why": _why,
    "who_by": _who_by,
    "when": _when,
    "definition": _definition,
    "how": _how,
    "compared": _compared,
    "condition": _condition,
    "instruction": _instruction,
    "where": _where,
    "how_many": _how_many,
    "who_did": _who_did,
    "whether": _whether,
}


def _shortened(text: str) -> str:
    return " ".join(_CLAUSE_END.split(text.strip(), maxsplit=1)[0].split()[:_ASKED])


def _finished(question: str, topic: str) -> str:
    """The question with its mark, and with the topic where it does not name it."""
    body = question.strip().rstrip(".,;:!?").strip()
    return f"{body}?" if not topic or topic.lower() in body.lower() else f"About {topic}: {body[0].lower()}{body[1:]}?"
