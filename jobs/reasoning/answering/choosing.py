"""Choosing among the values of the evidence: the date, the amount, the person or the place that is asked for."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.set_against import as_told
from quern.jobs.reasoning.answering.siblings import siblings
from quern.jobs.reasoning.answering.typed.value import Period, Value, amounts, times
from quern.jobs.reasoning.questions.asked_times import Asked, asked_times, meet
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_LINES: Final = 12  # Of the best, those whose values are weighed.
_NEW: Final = lazy_pattern(
    r"\b(?:correct(?:ed)?|revised|amended|actual|this\s+edition|should\s+be|now|new)\b", re.IGNORECASE
)
_OLD: Final = lazy_pattern(
    r"\b(?:(?:as\s+)?(?:first\s+)?(?:published|printed|reported|stated)|original(?:ly)?|first\s+edition|previous(?:ly)?|"
    r"earlier|old|wrong|before)\b",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"\b(?:1\d|20)\d\d\b")
_FIT: Final = 4.0  # Log odds between a value that fits fully and one that does not.
_NEAR: Final = 1.5  # Log odds of a value beside the words of the question against one far from them.
_PART: Final = 0.2  # Share of the belief in a month or year that a day of it must have to be told for it.
_FULLER: Final = 0.3  # Share of the belief in a name that a fuller form of it must have to be told for it.
# What will be is not told by a day before that of its text. By reason alone: no set at hand asks so.
_WILL: Final = lazy_pattern(
    r"(?:when|(?:on|by|from|in|until)\s+(?:what|which|when)\b.*?|what\s+(?:date|day))\s+"
    r"(?:will\b|(?:is|are)\b.*?\s(?:due|expected|planned|scheduled|supposed|likely|going|set)\b)",
    re.IGNORECASE,
)
_PAST: Final = 0.1
_REACH: Final = 60.0  # Characters at which nearness has fallen to a half.


@dataclass(frozen=True)
class Choice:
    """A value of the evidence and the line that says it best.

    Attributes:
        value: The value where it is said best.
        line: The line that says it.
        share: The belief in it as a share of that in the best line, several lines that say the same adding up.
        others: Numbers of further lines that say it.
    """

    value: Value
    line: Line
    share: float
    others: tuple[int, ...]


def choices(question: str, kind: Kind, lines: Sequence[Line]) -> list[Choice]:
    """The values of the best lines, the likeliest first; equal values count together."""
    asked = content_words(question)
    said: dict[object, list[tuple[float, Value, Line]]] = {}
    belief = shares(lines[:_LINES])
    ahead = kind.name == "when" and _WILL.match(question) is not None
    for line, odds in zip(lines[:_LINES], belief, strict=True):
        if not line.values:
            continue
        if ahead:
            fits = (v.fit if _ahead(v, line) else v.fit * _PAST for v in line.values)
            line = replace(line, values=tuple(replace(v, fit=f) for v, f in zip(line.values, fits, strict=True)))
        if line.row is None:
            line = replace(line, values=as_told(question, kind, line.text, line.values))
        if line.row is not None and line.row.header:
            weights = _of_best_column(line.values)
        else:
            near = _Nearness.of(line.text, asked, kind)
            weights = [math.exp(_FIT * v.fit + _NEAR * near(v)) for v in line.values]
        whole = sum(weights)
        beside = siblings(question, kind, line.text, line.values) if line.row is None else None
        if beside is not None:
            weights = beside.weighed(weights)
        for value, weight in zip(line.values, weights, strict=True):
            said.setdefault(value.same, []).append((odds * weight / whole * value.fit, value, line))
    found = []
    for rows in said.values():
        rows.sort(key=lambda row: (-row[0], row[2].number))
        _, value, line = _fullest(rows)
        others = tuple(dict.fromkeys(other.number for _, _, other in rows[1:] if other.number != line.number))
        found.append(Choice(value, line, sum(p for p, _, _ in rows) / belief[0], others))
    found.sort(key=lambda c: (-c.share, c.line.number))
    return _of_time(question, asked, _as_corrected(question, _of_written_year(_exact(found)), lines[:_LINES]))


def _of_best_column(cells: Sequence[Value]) -> list[float]:
    """What the cells of a row under a header count: those whose column fits best alike, the others nothing.

    A column is told by its head. A cell is no nearer to what is asked for standing nearer to the label of its row.
    """
    best = max(v.fit for v in cells)
    return [float(v.fit == best) for v in cells]


def _fullest(rows: list[tuple[float, Value, Line]]) -> tuple[float, Value, Line]:
    """Of a name that is said in several ways the fullest that is believed in enough: `Dr Lin Hartwell`."""
    first = rows[0]
    if not isinstance(first[1].same, str):
        return first
    longer = [r for r in rows if first[1].text in r[1].text or set(first[1].text.split()) < set(r[1].text.split())]
    return max((r for r in longer if r[0] >= _FULLER * first[0]), key=lambda r: len(r[1].text.split()), default=first)


def _exact(found: list[Choice]) -> list[Choice]:
    """The choices with a more exact date first, where one is a part of the likeliest: the day of a known month."""
    if not found or not isinstance(found[0].value.same, Period):
        return found
    whole = found[0].value.same
    parts = [c for c in found[1:] if isinstance(c.value.same, Period) and c.value.same.within(whole)]
    best = max((c for c in parts if c.share >= _PART * found[0].share), key=lambda c: c.share, default=None)
    return found if best is None else [best, *(c for c in found if c is not best)]


def _of_written_year(found: list[Choice]) -> list[Choice]:
    """The choices, for a day without its year that day with it first, where another of them has it written."""
    if not found or not isinstance(found[0].value.same, Period) or _YEAR.search(found[0].value.text):
        return found
    day = found[0].value.same.first
    if day is None or found[0].value.same.last != day:
        return found
    for choice in found[1:]:
        same = choice.value.same
        if not isinstance(same, Period) or same.first is None or same.first != same.last:
            continue
        if _YEAR.search(choice.value.text) and (same.first.month, same.first.day) == (day.month, day.day):
            first = replace(choice, share=max(choice.share, found[0].share))
            return [first, *(c for c in found if c is not choice)]
    return found


def _as_corrected(question: str, found: list[Choice], lines: Sequence[Line]) -> list[Choice]:
    """The choices with the corrected value first, where a table sets it beside the likeliest: `Published | Corrected`.

    Not where the question asks for the old one.
    """
    if not found or _OLD.search(question):
        return found
    for line in lines:
        old, new = _columns(line)
        if old is None or new is None or not _same(old, found[0].value):
            continue
        others = tuple({found[0].line.number} - {line.number})
        first = Choice(new, line, found[0].share, others)
        return [first, *(c for c in found if not _same(c.value, old) and not _same(c.value, new))]
    return found


def _columns(line: Line) -> tuple[Value | None, Value | None]:
    """The values of a row in the column of what was said before and in that of what is said instead."""
    if line.row is None or not line.row.header:
        return None, None
    by_start = {v.start: v for v in line.values}
    heads = list(zip(line.row.header[1:], line.row.starts[1:], strict=True))
    old = [by_start.get(at) for head, at in heads if _OLD.search(head) and not _NEW.search(head)]
    new = [by_start.get(at) for head, at in heads if _NEW.search(head)]
    return (old[0], new[0]) if len(old) == len(new) == 1 else (None, None)


def _same(one: Value, other: Value) -> bool:
    """Whether two values tell the same number or text."""
    mine, theirs = amounts(one.text)[:1], amounts(other.text)[:1]
    return one.same == other.same or (bool(mine) and bool(theirs) and mine[0].value == theirs[0].value)


def _of_time(question: str, asked: frozenset[str], found: list[Choice]) -> list[Choice]:
    """The choices with a cell of the very time asked about first, where the likeliest value is of another time.

    `In 1983 the squares held 4,412 limpets` is no answer of 2003 beside the row `Limpet | 4,412 | 3,870 | 2,961`.
    """
    if not found or found[0].line.row is not None:
        return found
    spans = list(asked_times(question))
    said = [w for w in times(found[0].line.text, found[0].line.published) if w.from_day and w.to_day]
    if len(spans) != 1 or not said or meet(spans, said):
        return found
    cell = next((c for c in found[1:] if _is_cell_of(c, spans[0], asked)), None)
    if cell is None:
        return found
    # It takes the belief in what it stands before: that is of the right thing, and only the time was another.
    return [replace(cell, share=max(cell.share, found[0].share)), *(c for c in found if c is not cell)]


def _is_cell_of(choice: Choice, span: Asked, asked: frozenset[str]) -> bool:
    """Whether a value is the cell where a row and a column meet: one of the time asked about, one of its words."""
    row, value = choice.line.row, choice.value
    if row is None or not row.header or not value.label:
        return False
    column = next((n for n, start in enumerate(row.starts) if start == value.start), 0)
    for time, thing in ((row.header[column], value.label), (value.label, row.header[column])):
        told = [(a.first, a.last) for a in asked_times(time)]
        if told == [(span.first, span.last)] and content_words(thing) and content_words(thing) <= asked:
            return True
    return False


def shares(lines: Sequence[Line]) -> list[float]:
    """The belief in each line, by the logit that the scores were fitted by."""
    if not lines:
        return []
    top = max(line.score for line in lines)
    odds = [math.exp(line.score - top) for line in lines]
    return [o / sum(odds) for o in odds]


def _ahead(value: Value, line: Line) -> bool:
    """Whether a time does not lie before the day on which its line was published."""
    last = value.same.last if isinstance(value.same, Period) else None
    return last is None or line.published is None or last > line.published


@dataclass(frozen=True)
class _Nearness:
    """How near values of a line stand to the words of the question, in [0, 1].

    Attributes:
        words: Start and end of the words of the line that the question has, in order, by what they count; those of
            the noun that is asked for count most.
    """

    words: dict[float, tuple[list[int], list[int]]]

    @classmethod
    def of(cls, text: str, asked: frozenset[str], kind: Kind) -> _Nearness:
        words: dict[float, tuple[list[int], list[int]]] = {1.0: ([], []), 0.7: ([], [])}
        at = 0
        for word in text.split():
            at = text.index(word, at)
            stems = content_words(word)
            if stems & asked:
                starts, ends = words[1.0 if stems & kind.noun else 0.7]
                starts.append(at)
                ends.append(at + len(word))
            at += len(word)
        return cls(words)

    def __call__(self, value: Value) -> float:
        """That of a value: by the nearest word before it and the nearest after it, not by those within."""
        best = 0.0
        for weight, (starts, ends) in self.words.items():
            before, after = bisect_left(starts, value.start) - 1, bisect_left(starts, value.end)
            gaps = [value.start - ends[before]] if before >= 0 else []
            gaps += [starts[after] - value.end] if after < len(starts) else []
            best = max([best, *(weight / (1.0 + max(0, gap) / _REACH) for gap in gaps)])
        return best
