"""Questions of two events and their order in time, as one question for each: `Did A happen before B`."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.questions.clause_forms import asked_of_clause, asked_of_question, is_event, raised
from quern.jobs.reasoning.questions.pairs import Pair
from quern.jobs.reasoning.questions.references import has_pronoun, named, subject
from quern.jobs.reasoning.questions.words import ADVERBS, BE, bare, is_past
from quern.schemas.words.patterns import lazy_pattern


def ordered(text: str) -> Pair | None:
    """Two events and their times: `Did A happen before B`, `How long after A was B`."""
    if _HAPPENED.match(text) and (cut := _cut_in_time(text)) is not None:
        question, word, b = cut
        first = asked_of_question(question, "When")
        if first is not None and (" or " in word or not _asks_state(question)):
            whole = named(b, question) if has_pronoun(b) else b
            return Pair("order", (question, b), (first, asked_of_clause(whole, by=subject(question))), word)
    if (m := _IT_WAS.fullmatch(text)) is not None:
        whole = named(m["a"], m["b"]) if has_pronoun(m["a"]) else m["a"]
        return Pair("order", (m["a"], m["b"]), (asked_of_clause(whole), asked_of_clause(m["b"])), m["word"].lower())
    m = re.fullmatch(
        r"how\s+(?:long|(?:many|much)\s+(?P<unit>[a-z]+))(?:\s+(?P<time>time|later))?\s+(?P<word>after|before)\s+"
        r"(?P<a>.+?)\s+(?P<aux>was|were|did|is|has|had|does|do|will)\s+(?P<b>.+)",
        text,
        re.IGNORECASE,
    )
    if m and not re.match(r"(?:that|it|this)\b", m["b"]):
        a, auxiliary, b = _parted(m["a"], m["aux"], m["b"])
        when = _asking(m["unit"])
        second = raised(f"{when} {auxiliary} {b}")
        whole = named(a, second) if has_pronoun(a) else a
        return Pair("order", (a, b), (asked_of_clause(whole, when), second), m["word"].lower())
    m = re.fullmatch(
        r"how\s+(?:long|(?:many|much)\s+(?P<unit>[a-z]+))\s+(?:was\s+it\s+|were\s+there\s+|(?:passed|elapsed|lay|went\s+by"
        r"|lie|are\s+there|is\s+there|is\s+it|was\s+there)\s+)between\s+(?P<a>.+?)\s+and\s+(?P<b>.+)",
        text,
        re.IGNORECASE,
    )
    if m:
        when = _asking(m["unit"])
        return Pair("order", (m["a"], m["b"]), tuple(asked_of_clause(x, when) for x in (m["a"], m["b"])), "between")
    return _aged(text) or _further_apart(text)


_AUXILIARY: Final = lazy_pattern(r"\s(was|were|did|is|has|had|does|do|will)\s", re.IGNORECASE)


def _parted(a: str, auxiliary: str, b: str) -> tuple[str, str, str]:
    """The first event, the auxiliary of the second and its rest: `the cracks were found`, `was`, `the quay closed`."""
    later = _AUXILIARY.search(b) if is_past(bare(b.split()[0])) else None
    return (a, auxiliary, b) if later is None else (f"{a} {auxiliary} {b[: later.start()]}", later[1], b[later.end() :])


# `Was it before or after the flood that the museum bought the barge`.
_IT_WAS: Final = lazy_pattern(
    r"(?:was|is)\s+it\s+(?P<word>before\s+or\s+after|after\s+or\s+before|before|after)\s+(?P<b>.+?)\s+(?:that|when)\s+"
    r"(?P<a>.+)",
    re.IGNORECASE,
)


# What is so for a while has no day: `Did she keep her post after the inquiry` asks whether, not which came first.
_STATES: Final = frozenset("keep stay remain own know live work belong contain need want believe like exist".split())
_STATE_OF: Final = lazy_pattern(
    r"\bon\s+(?:standby|hold|board|duty|leave|strike|sale|loan|display|watch|guard|call)\b", re.IGNORECASE
)
_STANDING: Final = frozenset("on off out".split())  # `Was the radar on`, which has no verb behind its subject.


def _asks_state(question: str) -> bool:
    """Whether a question of yes or no asks for what was so, not for what happened."""
    about = subject(question)
    if not about:
        return False
    behind = [w for raw in question.partition(about)[2].split() if (w := bare(raw)) not in ADVERBS]
    if _STATE_OF.search(question):
        return True
    if bare(question.split()[0]) in BE:
        return not _STANDING.isdisjoint([bare(about.split()[-1]), *behind[:1]])
    return not _STATES.isdisjoint(behind[:1])


def _asking(unit: str | None) -> str:
    """The words that ask for the time of an event: an hour, where minutes or hours lie between two."""
    return "At what time" if unit and unit.lower().rstrip("s") in ("minute", "hour") else "When"


_AGED: Final = lazy_pattern(
    r"how\s+many\s+(?:day|week|month|year)s\s+old\s+(?P<be>was|were|is)\s+(?P<a>.+?)\s+(?:when|as|on|at\s+the\s+time\s+of)\s+"
    r"(?P<b>.+)",
    re.IGNORECASE,
)


def _aged(text: str) -> Pair | None:
    """How long something had been when an event came: `How many months old was the firm when it closed the plant`."""
    m = _AGED.fullmatch(text)
    if m is None:
        return None
    began = raised(f"when {m['be']} {m['a']} born, founded or opened")
    whole = named(m["b"], began) if has_pronoun(m["b"]) else m["b"]
    return Pair("order", (m["a"], m["b"]), (began, asked_of_clause(whole)), "between")


_THAN: Final = r"(?:more|less|longer|shorter)\s+than\s+(?:an?|\d{1,4}|[a-z]+)\s+(?:day|week|month|year)s?"
_APART: Final = (
    lazy_pattern(
        rf"(?:is|was)\s+the\s+(?:time\s+|length\s+of\s+)?(?:time|interval|span|gap|period)\s+(?:(?P<than>{_THAN})\s+)?"
        rf"between\s+(?P<a>.+?)\s+and\s+(?P<b>.+?)(?:\s+(?P<late>{_THAN}))?(?:\s*\([^()]*\))?",
        re.IGNORECASE,
    ),
    lazy_pattern(
        rf"did\s+(?:it\s+take\s+)?(?P<than>{_THAN})\s+(?:(?:pass|lie|elapse|go\s+by)\s+)?(?:from|between)\s+(?P<a>.+?)\s+"
        r"(?:to|and)\s+(?P<b>[A-Z].+|the\s.+)",
        re.IGNORECASE,
    ),
)


def _further_apart(text: str) -> Pair | None:
    """Two events and how far apart they may be: `Did it take more than a week from A to B`."""
    m = next((m for pattern in _APART if (m := pattern.fullmatch(text)) is not None), None)
    if m is None or (than := m["than"] or m.groupdict().get("late")) is None:
        return None
    return Pair("order", (m["a"], m["b"]), tuple(asked_of_clause(x) for x in (m["a"], m["b"])), than.lower())


# What happened has a time; what can, would or usually does happen has none.
_HAPPENED: Final = lazy_pattern(r"(?:did|was|were|had|has|have|is|are)\s", re.IGNORECASE)
_IN_TIME: Final = lazy_pattern(
    r"\s(before\s+or\s+after|after\s+or\s+before|before|after|by\s+the\s+time)\s", re.IGNORECASE
)

_WORD: Final = {"by the time": "before"}

_NUMBER: Final = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|half an?|few|several)"
_AMOUNT: Final = lazy_pattern(
    rf"\b(?P<than>(?:less|more)\s+than\s+{_NUMBER}\s+(?:day|week|month|year)s?)$|"
    rf"\b{_NUMBER}\s+(?:second|minute|hour|day|week|fortnight|month|year|decade)s?$",
    re.IGNORECASE,
)


def _by_limit(cut: tuple[str, str, str]) -> tuple[str, str, str] | None:
    """A cut where `less than a day` stands before `after`: that limit is asked for, not which came first.

    None where another amount stands there: `two days after` asks for no order.
    """
    text, _, event = cut
    amount = _AMOUNT.search(text)
    if amount is None:
        return cut
    return (text[: amount.start()].strip(), amount["than"].lower(), event) if amount["than"] else None


def _cut_in_time(text: str) -> tuple[str, str, str] | None:
    """Question, word and second event of `Did A happen before B`, cut at the last word of time before an event."""
    cuts = [
        (text[: m.start()], _WORD.get(m[1].lower(), m[1].lower()), text[m.end() :]) for m in _IN_TIME.finditer(text)
    ]
    cuts = [c for cut in cuts if (c := _by_limit(cut)) is not None]
    events = [c for c in cuts if (len(c[2].split()) >= 3 or " or " in c[1]) and len(c[0].split()) >= 3]
    told = [c for c in events if is_event(c[2])]
    return told[-1] if told else events[0] if events else None
