"""Two answers of one dimension, compared or subtracted: quantities of one unit, or dates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.reasoning.questions.parts import Comparison
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities


@dataclass(frozen=True)
class Value:
    """A quantity or a date of an answer.

    Attributes:
        text: Its words.
        unit: What it counts; `day` of dates.
        size: Its number; of a date the number of its first day.
    """

    text: str
    unit: str
    size: float


def compared(given: AnswerInput, comparison: Comparison) -> str:
    """The side that a comparison is true of, with both values; empty where the answers have no values of one unit."""
    if len(given.before) != len(comparison.sides):
        return ""
    pair = _of_one_unit(*(list(_values(answer, in_time=comparison.in_time)) for answer in given.before))
    if pair is None or pair[0].size == pair[1].size:
        return ""
    first = (pair[0].size < pair[1].size) == comparison.less
    won, lost = pair if first else pair[::-1]
    values = f"{won.text} against {lost.text}"
    if comparison.verdict:
        return f"{'Yes' if first else 'No'}: {pair[0].text} against {pair[1].text}"
    return f"{comparison.sides[0 if first else 1]} ({values})"


def _values(answer: AskedBefore, *, in_time: bool) -> Iterator[Value]:
    """The values of an answer, those of its short answer first."""
    for text in (answer.answer, answer.said):
        if in_time:
            days = ((when.text, when.from_day) for when in dates(text, None))
            yield from (Value(words, "day", day.toordinal()) for words, day in days if isinstance(day, date))
        else:
            # A bare number in a sentence may count anything: it is a value only where it is the whole answer.
            found = (q for q in quantities(text) if q.unit or q.text == text.strip(" ."))
            yield from (Value(q.text, q.unit, q.value) for q in found)


def _of_one_unit(one: Sequence[Value], other: Sequence[Value]) -> tuple[Value, Value] | None:
    """The first values of both that count the same."""
    return next(((a, b) for a in one for b in other if a.unit == b.unit), None)
