"""Values of a sentence that could answer a question of a kind: dates, amounts, persons, places."""

from __future__ import annotations

import re

from quern.jobs.reasoning.answering.kinds.kind import NAMED, NAMESAKE, PHONE, Kind
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.typed.counted import counted
from quern.jobs.reasoning.answering.typed.named import introduced, namesakes, naming, of_noun, persons, places
from quern.jobs.reasoning.answering.typed.value import MARKED, Days, Period, Value, amounts, times
from quern.jobs.reasoning.answering.typed.when import clocks, dated
from quern.schemas.words.calendar import MONTHS, WEEKDAYS
from quern.schemas.words.patterns import lazy_pattern

# `Since that weekend` tells a time, `since the mayor was ill` does not, nor does `since it may rain`.
_TIME = (
    r"(?:(?:the|that|this|last|its|his|her|their|early|late|mid|about|around)\s+){0,2}"
    r"(?:(?:first|next|same|previous|following|very)\s+)?"
    r"(?:\d+(?!\s+[a-z]+s\b)|(?:day|night|morning|evening|noon|dawn|week|weekend|month|year|decade|century|spring|summer|"
    r"autumn|winter|start|beginning|end|war|then|yesterday|(?-i:" + "|".join((*MONTHS, *WEEKDAYS)) + r"))s?\b)"
)
CAUSE = lazy_pattern(
    rf"\b(?:because(?:\s+of)?|since(?!\s+{_TIME})|so\s+that|in\s+order\s+to|due\s+to|"
    r"owing\s+to|on\s+account\s+of|as\s+a\s+result|thanks\s+to|caused\s+(?:\w+\s+)?by|(?:resulted|resulting|stemmed)\s+from|blamed\s+on|for\s+fear|to\s+(?:avoid|prevent|thank|"
    r"protect|"
    r"save|mark|honour|honor|help|make|keep)|except\s+(?:during|for)|the\s+(?:\w+\s+)?(?:cause|reason)\s+(?:is|was))\b|"
    r"因为|由于|因此|导致|原因(?!正在|不明|尚|待)|为了|以便|引起|(?<!没有)(?<!未)造成|引发|所致|(?<![原起])因(?![素子特果此])",
    re.IGNORECASE,
)
_MANNER = lazy_pattern(
    r"\b(?:by\s+\w+ing|so\s+that|by\s+means\s+of|through|with\s+the\s+help|using|via)\b|通过|利用|借助|用"
)
# Three things or more one after another, or two names.
_SEVERAL = lazy_pattern(
    r"[\w’'-]+(?: [\w’'-]+){0,5}, [\w’' -]{2,50},? (?:and|or) [\w’'-]+|[A-Z][\w’'-]+ and (?:the )?[A-Z][\w’'-]+|、"
)
_PHONE = lazy_pattern(r"(?<![\w.-])(?:\+|\(0?)?\d{1,4}\)?(?:[ -]\d{2,5}){1,4}(?![\w-]|[.,]\d)(?<=\d[\d ()-]{5}\d)")
# How well a value fits at least that may be the one asked for. Below are values of another kind: a time that is no age
# (.3), a bare number for metres (.25).
LEAST_FIT = 0.35
_MESSAGE = lazy_pattern(
    r"\b(?:ask|tell|told|inform|invite|remind|confirm|express|send|sent|share|mention|announce|propose|suggest|message|"
    r"complain|request|say|said|discuss|recommend|post)(?:s|ed|ing)?\b",
    re.IGNORECASE,
)


def typed(kind: Kind, sentence: str, days: Days) -> list[Value]:
    """The values of `sentence` that are of the `kind`, in order; none for kinds whose answers have no form."""
    if kind.name == "when":
        return clocks(sentence) if kind.units else dated(sentence, days, kind.grain)
    if kind.name in ("how_many", "how_much", "how_long"):
        return counted(kind, sentence, days)
    if kind.name == "who":
        return persons(kind, sentence)
    if kind.name == "where":
        return places(sentence)
    if kind.verb == PHONE:
        return [Value(*m.span(), m[0], 1.0, m[0]) for m in _PHONE.finditer(sentence)]
    if kind.verb == NAMESAKE:
        return namesakes(sentence)
    if kind.name == "which" and kind.verb == NAMED:
        return naming(sentence)
    if kind.name == "which" and kind.noun:
        return of_noun(kind, sentence)
    if kind.name == "definition":
        return introduced(kind, sentence)
    if kind.name == "how" and (shares := [q for q in amounts(sentence) if q.unit in kind.units]):
        return [Value(q.start, q.end, sentence[q.start : q.end], MARKED, (q.value, q.unit)) for q in shares]
    marker = {"why": CAUSE, "how": _MANNER, "list": _SEVERAL}.get(kind.name)
    found = marker.search(sentence) if marker else None
    return [] if found is None else [Value(found.start(), found.end(), found[0], MARKED, found[0].lower())]


def of_message(kind: Kind, question: str, speaker: str, stamp: str, also: int) -> list[Value]:
    """What a message of a conversation answers by being sent: who by, and when by the line that tells its time."""
    if kind.name == "who" and not kind.noun:
        return [Value(0, len(speaker), speaker, 0.85, speaker.lower())]
    if kind.name != "when" or not stamp or not (known := times(stamp, None)):
        return []
    day = known[0].from_day
    means = f"{day.day} {day:%B %Y}" if day else ""
    fit = 1.0 if _MESSAGE.search(question) else 0.6
    return [Value(0, 0, stamp, fit, Period(day, day), means, also=also)]


def tells(question: str, text: str) -> bool:
    """Whether a text has a value that is of the kind a question asks for; never where its answers have no form."""
    return any(v.fit >= LEAST_FIT for v in typed(kind_of(question), text, Days()))
