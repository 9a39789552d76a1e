"""The values of two things that a question sets beside each other, chosen together from the evidence.

Alone, each side takes the value that its question fits best, and two sides that share most of their words easily take
the same one. Together they must be of one kind, and a value belongs to the side whose own words stand nearest to it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from typing import Final

from quern.jobs.reasoning.answering.as_it_was import as_it_was
from quern.jobs.reasoning.answering.choosing import choices, shares
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.kinds.units import DURATIONS, LENGTHS, MONEY, SHARES
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.siblings import siblings
from quern.jobs.reasoning.answering.spans_of_time import so_asked
from quern.jobs.reasoning.answering.typed.counted import PART_OF_THEM
from quern.jobs.reasoning.answering.typed.value import Value, amounts
from quern.jobs.reasoning.questions.pairs import QUANTITY
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_WEIGHED: Final = 10  # Of each side, the likeliest values.
# Log odds, set by hand on the comparisons and orders of the sample corpus. A value
# beside the other side's words, or in a sentence of the other side alone; beside its own side's words, in a chunk or
# among evidence of its own side; one value for both sides; times of which neither is before the other; two units of one
# kind; both in one sentence, each beside its side; what was answered alone; a time that is known to the day.
_OTHERS_NEARER: Final = -1.5
_OTHERS_ALONE: Final = -2.0
_OWN_NEAR: Final = 1.5
_FAR: Final = 40.0  # Characters at which being near counts a half.
_LEAST_FIT: Final = 0.5  # Of a value, where the question says which units it may have.
_OWN_IN_CHUNK: Final = -1.0
_OWN_NOWHERE: Final = -3.0
_SAME_VALUE: Final = -5.0
_OVERLAP: Final = -2.0
_ONE_UNIT: Final = 0.8
_ONE_SENTENCE: Final = 1.0
_ANSWERED: Final = 0.5
_EXACT: Final = 0.2
_AS_ASKED: Final = 1.6  # Who asks whether A was before B mostly takes it to be so: 45 of 54 times in lihua_world.
_COUNTED: Final = 1.0  # A sentence with a word like the noun that is counted: `employs 620 people` for employees.
_STEM: Final = 5  # Letters in which words of one family agree.
# A date of publication stands for that of an event, by what the question says of it.
_PUBLISHED: Final = 0.35
_PUBLISHED_IF_SAID: Final = 8.0
# What is said is said on the day of its text; dates in it are of what it speaks of.
_SAID: Final = lazy_pattern(
    r"when\s+(?:did|was|were|had|has|have)\s+(?:[\w’'.,-]+\s+){0,6}?"
    r"(?:announce|publish|report|say|tell|ask|send|message|share|mention|suggest|remind|recommend|discuss|invite|warn|"
    r"statement|news|propose|confirm|complain|wonder|debate|start\s+a\s+vote|consult|comfort|agree|talk|write"
    r"|wrote)\w*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sided:
    """The value of one side.

    Attributes:
        text: Its characters in the evidence, or the date of publication in words.
        same: What equal values have in common: number and unit, or first and last day.
        number: The sentence that says it.
        day: Its first day, where it is a time.
        exact: Whether a time is known to the day.
    """

    text: str
    same: object
    number: int
    day: date | None = None
    exact: bool = True


@dataclass(frozen=True)
class _Candidate:
    sided: Sided
    line: Line
    odds: float
    near: bool
    start: int = 0
    end: int = 0


def contrasted(given: AnswerInput, questions: Sequence[str], answers: Sequence[str], word: str) -> list[Sided]:
    """The values of two sides; empty where the evidence has none of one kind for both.

    Args:
        given: The whole question with its evidence.
        questions: What is asked of each side.
        answers: What was answered to each alone; empty strings where nothing was.
        word: The word of the question that compares, such as `longer`; `before` and `after` ask whether it was so.
    """
    if len(questions) != 2:
        return []
    for kind in _kinds(questions, word):
        asked = [_OLD.sub("When was \\1 founded or born", q) for q in questions] if kind.name == "when" else questions
        vague = _OLD.match(questions[0]) is not None or kind_of(questions[0]).name == "how"
        if kind_of(questions[0]).name == "how" and not all(answers):
            continue  # Neither is it known by what they are compared nor that both are spoken of.
        pairs = _pairs(given, asked, answers, kind, near=kind.name != "when" and vague)
        if pairs:
            return _likeliest(pairs, word)
    return []


def _pairs(
    given: AnswerInput, questions: Sequence[str], answers: Sequence[str], kind: Kind, *, near: bool
) -> list[tuple[float, list[Sided]]]:
    """The pairs of values that may stand beside each other, with their log odds; if `near`, each beside its side."""
    words = [content_words(q) for q in questions]
    sides = [
        _candidates(AnswerInput(q, given.evidence), kind, words[n] - words[1 - n], words[1 - n] - words[n], answers[n])
        for n, q in enumerate(questions)
    ]
    return [
        (one.odds + other.odds + _together(one, other, kind), [one.sided, other.sided])
        for one, other in product(*sides)
        if _comparable(one, other) and (not near or (one.near and other.near))
    ]


def _likeliest(pairs: Sequence[tuple[float, list[Sided]]], word: str) -> list[Sided]:
    """The likeliest pair; of two events in time, the likeliest in the likelier order, all pairs weighed together."""
    if so_asked(word, 0.0) is not None:
        orders: tuple[list[tuple[float, list[Sided]]], list[tuple[float, list[Sided]]]] = ([], [])
        for odds, (one, other) in pairs:
            if one.day is not None and other.day is not None and one.day != other.day:
                so = so_asked(word, float((other.day - one.day).days))
                orders[so is True].append((odds, [one, other]))
        unlike, as_asked = (sum(math.exp(odds) for odds, _ in order) for order in orders)
        if unlike or as_asked:
            pairs = orders[as_asked * math.exp(_AS_ASKED) >= unlike]
    return max(pairs, key=lambda pair: pair[0])[1]


def _kinds(questions: Sequence[str], word: str) -> list[Kind]:
    """The kinds of value that the sides may have, the likelier first; any amount where a comparison leaves it open."""
    kinds = [kind_of(q) for q in questions]
    typed = [k for k in kinds if k.name in ("when", "how_many", "how_much", "how_long")]
    if not typed:
        any_amount = word in ("compare", "compared", "difference") or " or " in word
        shares_first = [Kind("how_much", units=SHARES)] if _IN_SHARES.search(questions[0]) else []
        adjective = _HOW.match(questions[0])  # `How busy was A`: by what is not said.
        return [*shares_first, Kind("how_much")] if any_amount or adjective else []
    if typed[0].name == "how_long" and _OF_THING.match(questions[0]):
        return [replace(typed[0], units=LENGTHS), replace(typed[0], units=DURATIONS)]
    if typed[0].name == "how_much" and _HIGH.match(questions[0]) and QUANTITY.search(questions[0]):
        typed = [replace(typed[0], units=frozenset())]  # A limit or a rate is as high as a number, not as a tower.
    if typed[0].name == "how_much" and not typed[0].units and _MONEY_WORD.search(questions[0]):
        return [replace(typed[0], units=MONEY), typed[0]]
    return [*typed[:1], Kind("when")] if _OLD.match(questions[0]) else typed[:1]


_HOW: Final = lazy_pattern(r"how\s+(?!much\b|many\b|is\b|was\b|are\b|were\b|did\b|do\b|does\b)[a-z]+\b", re.IGNORECASE)
_HIGH: Final = lazy_pattern(r"how\s+(?:high|low|large|big|great|small)\b", re.IGNORECASE)
_MONEY_WORD: Final = lazy_pattern(
    r"\b(?:budgets?|costs?|prices?|bill|fares?|fined?|fees?|revenue|income|turnover|profit|loss|salary|wages?|pay"
    r"|paid|spent|"
    r"spend|earn|offer|worth|tax|grant|debt|invest\w*)\b",
    re.IGNORECASE,
)


_OLD: Final = lazy_pattern(r"how\s+old\s+(?:is|was|are|were)\s+(.+?)(?=\?|$)", re.IGNORECASE)


_IN_SHARES: Final = lazy_pattern(
    r"\b(?:effect|rate|share|reduction|increase|growth|success|turnout"
    r"|support)\b",
    re.IGNORECASE,
)
# `How long is the Orrin`, with no verb behind it, asks for a length sooner than for a time.
_OF_THING: Final = lazy_pattern(r"how\s+long\s+(?:is|was|are|were)\s+(?:(?:the|a)\s+)?[\w\s’'-]+\?$", re.IGNORECASE)


def _candidates(
    given: AnswerInput, kind: Kind, own: frozenset[str], others: frozenset[str], answered: str
) -> list[_Candidate]:
    ranked = as_it_was(given.question, kind, lines(given, kind))
    found = []
    for choice in choices(given.question, kind, ranked)[:_WEIGHED]:
        value, line = choice.value, choice.line
        if kind.units and value.fit < _LEAST_FIT:
            continue
        if kind.name != "when" and _DIFFERENCE.match(line.text, value.end):
            continue
        meant = _meant(given.question, kind, line, value)
        side = _of_side(given, line, value, own, others) if meant is None else _OWN_NEAR if meant else _OTHERS_ALONE
        odds = math.log(max(choice.share, 1e-6)) + side
        if answered and (value.text in answered or (value.means and value.means in answered)):
            odds += _ANSWERED
        day = value.same[0] if kind.name == "when" and isinstance(value.same, tuple) else None
        if kind.name == "when" and not isinstance(day, date):
            continue
        text = value.means or value.text
        if day is not None and text.isdecimal() and len(text) > len("2024"):
            text = f"{day.day} {day:%B %Y}"
        exact = kind.name == "when" and isinstance(value.same, tuple) and _is_day(value.same)
        odds += _EXACT if exact else 0.0
        odds += _COUNTED if kind.noun and _said(content_words(line.text), kind.noun) else 0.0
        found.append(
            _Candidate(Sided(text, value.same, line.number, day, exact), line, odds, side > 0, value.start, value.end)
        )
    return [*found, *_published(given, ranked, own, others)] if kind.name == "when" and not kind.units else found


def _meant(question: str, kind: Kind, line: Line, value: Value) -> bool | None:
    """Whether the sentence says a value of the side asked about, not of another; None where it does not tell."""
    at = next((n for n, v in enumerate(line.values) if (v.start, v.end) == (value.start, value.end)), None)
    beside = siblings(question, kind, line.text, line.values) if at is not None and line.row is None else None
    return None if beside is None or at is None else beside.means(at)


def _is_day(same: tuple[object, ...]) -> bool:
    """Whether a time is known to the day, by its first and last."""
    first, last = same
    return isinstance(first, date) and isinstance(last, date) and (last - first).days < 7


def _published(
    given: AnswerInput, ranked: Sequence[Line], own: frozenset[str], others: frozenset[str]
) -> list[_Candidate]:
    """The days on which the best lines were published."""
    factor = _PUBLISHED_IF_SAID if _SAID.match(given.question) else _PUBLISHED
    belief = shares(ranked[:_WEIGHED])
    found = []
    for line, odds in zip(ranked[:_WEIGHED], belief, strict=True):
        if line.published is None:
            continue
        day = line.published
        text = f"{day.day} {day:%B %Y}"
        log = math.log(max(1e-6, odds / belief[0] * factor)) + _of_side(given, line, None, own, others) + _EXACT
        found.append(_Candidate(Sided(text, (day, day), line.number, day), line, log, near=False))
    return found


def _of_side(given: AnswerInput, line: Line, value: Value | None, own: frozenset[str], others: frozenset[str]) -> float:
    """Log odds that what `line` says belongs to the side of the words `own`."""
    start, end = (value.start, value.end) if value else (0, len(line.text))
    first, last = _half(line.text, start, end)
    half, rest = line.text[first:last], content_words(f"{line.text[:first]} {line.text[last:]}")
    to_own, to_others = (_distance(half, start - first, end - first, words) for words in (own, others))
    if to_own == to_others == math.inf and _said(rest, own) != _said(rest, others):
        return _OTHERS_NEARER if _said(rest, own) else _OWN_NEAR / 2  # `44 cars, compared with 36 on the Orrin`.
    if value is not None and (told := _TOLD_OF.match(line.text, value.end)) and _said(content_words(told["of"]), own):
        return _OWN_NEAR  # `95 of them at Casterby and 45 in Port Averil`.
    if to_others < to_own:
        alone = to_own == math.inf
        return _OTHERS_ALONE / (1.0 + to_others / (3 * _FAR)) if alone else _OTHERS_NEARER / (1.0 + to_others / _FAR)
    if to_own < math.inf:
        return _OWN_NEAR / (1.0 + to_own / _FAR)
    around, chunk = _around(given, line)
    if _said(around, own) and not _said(around, others):
        return 0.0
    title = content_words(given.evidence[line.evidence].title or "") if value is not None else frozenset[str]()
    if _said(title, others) and not _said(title, own):
        return _OTHERS_ALONE
    return _OWN_IN_CHUNK if _said(chunk, own) else _OWN_NOWHERE


def _half(text: str, start: int, end: int) -> tuple[int, int]:
    """The part of a sentence that a value stands in, where the sentence sets one thing against another."""
    cuts = [(m.start(), m.end()) for m in _AGAINST.finditer(text) if not m.start() < end <= m.end()]
    return max((b for _, b in cuts if b <= start), default=0), min((a for a, _ in cuts if a >= end), default=len(text))


# `0.9 million under the budget` is no value of either.
_DIFFERENCE: Final = lazy_pattern(
    r"\s(?:[a-z]+\s)?(?:under|below|above|more|less|fewer|higher|lower|longer|shorter|cheaper|dearer|older|younger)\b",
)
# What a value is said of by what follows it.
_TOLD_OF: Final = lazy_pattern(
    r"(?:\s+of\s+(?:them|these|those))?\s+(?:in|at|on|for|from|by)\s+(?:the\s+)?(?P<of>[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*)*)"
)
_AGAINST: Final = lazy_pattern(
    r"\b(?:compared (?:with|to)|as opposed to|against|than|versus|vs|whereas)\b", re.IGNORECASE
)


def _said(some: frozenset[str], words: frozenset[str]) -> bool:
    """Whether one of the stems is among the others, or begins like one: `publish` and `publication`."""
    return bool(some & words) or any(
        a[:_STEM] == b[:_STEM] for a in some if len(a) >= _STEM for b in words if len(b) >= _STEM
    )


def _around(given: AnswerInput, line: Line) -> tuple[frozenset[str], frozenset[str]]:
    """The words of the title and of the sentences beside `line`, and those of its chunk."""
    evidence = given.evidence[line.evidence]
    beside = [
        evidence.text[span.start : span.end]
        for span in given.sentences[max(0, line.number - 2) : line.number + 1]
        if span.evidence == line.evidence
    ]
    title = evidence.title or ""
    return content_words(" ".join([title, *beside])), content_words(f"{title} {evidence.text}")


def _distance(text: str, start: int, end: int, words: frozenset[str]) -> float:
    """Characters between a value and the nearest of `words` in its sentence; words behind it count double."""
    best, at = math.inf, 0
    for raw in text.split():
        at = text.index(raw, at)
        if _said(content_words(raw), words) and not start <= at < end:
            best = min(best, start - at - len(raw) if at < start else 2.0 * (at - end))
        at += len(raw)
    return max(best, 0.0)


def _comparable(one: _Candidate, other: _Candidate) -> bool:
    """Whether two values may stand beside each other: both times, or of one unit, a bare number being of any."""
    if one.sided.day is not None or other.sided.day is not None:
        return one.sided.day is not None and other.sided.day is not None
    if not _parallel(one, other):
        return False
    units = {_unit(one.sided), _unit(other.sided)}
    if len(units) == 1 or "" not in units:
        return len(units) == 1
    (named,) = units - {""}
    bare = one.sided.text if not _unit(one.sided) else other.sided.text
    return named in MONEY if _OF_MONEY.search(bare) else named not in MONEY | LENGTHS | DURATIONS | SHARES


def _parallel(one: _Candidate, other: _Candidate) -> bool:
    """Whether values of two halves of a sentence that tell as many have one place: `320 and 44, against 280 and 36`.

    A part of what is told before it in its sentence is not set against the whole: `140 jobs, 95 of them at Casterby`.
    """
    if one.line.number != other.line.number:
        return True
    text = one.line.text
    second = max(one, other, key=lambda c: c.start)
    if PART_OF_THEM.match(text, second.end):
        return False
    halves = [_half(text, c.start, c.end) for c in (one, other)]
    if halves[0] == halves[1]:
        return True
    told = [[q.start for q in amounts(text) if start <= q.start < end] for start, end in halves]
    if len(told[0]) != len(told[1]) or one.start not in told[0] or other.start not in told[1]:
        return True
    return told[0].index(one.start) == told[1].index(other.start)


_OF_MONEY: Final = lazy_pattern(r"(?:million|billion|thousand|[万亿])$")


def _unit(sided: Sided) -> str:
    return str(sided.same[1]) if isinstance(sided.same, tuple) else ""


def _together(one: _Candidate, other: _Candidate, kind: Kind) -> float:
    odds = 0.0
    if one.line.number == other.line.number and one.near and other.near:
        odds += _ONE_SENTENCE
    if one.sided.same == other.sided.same or _one_day_of_two_years(one.sided, other.sided):
        odds += _SAME_VALUE
    elif one.sided.day is not None:
        odds += _OVERLAP if _overlap(one.sided.same, other.sided.same) else 0.0
    elif kind.name != "how_many" and _unit(one.sided) == _unit(other.sided) != "":
        odds += _ONE_UNIT  # How many of something is told with and without its noun.
    return odds


def _one_day_of_two_years(one: Sided, other: Sided) -> bool:
    """Whether two times are one day without its year, read against two days of publication."""
    if one.day is None or other.day is None or one.exact != other.exact:
        return False
    return (one.day.month, one.day.day) == (other.day.month, other.day.day) and one.exact and one.day != other.day


def _overlap(one: object, other: object) -> bool:
    """Whether two times share a day, so that neither is before the other."""
    if not (isinstance(one, tuple) and isinstance(other, tuple)):
        return False
    return bool(one[0] <= other[1] and other[0] <= one[1])
