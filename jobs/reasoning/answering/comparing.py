"""Two sides of a question compared by value: quantities of one unit, or dates, from the lines that speak of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import product
from typing import Final

from quern.jobs.reasoning.answering.candidates import Candidate, candidates
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.lines import MATCH, ranked
from quern.jobs.reasoning.questions.parts import Comparison
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words

_LINES: Final = 40  # Likely lines of each side whose values are looked at.
# Log odds of a line that was not read. With -2 the ferries of the sample corpus are compared by their lengths; of 14
# comparisons of two visible domains as many are right as where unread lines stand behind all others.
_UNREAD: Final = -2.0
_SHARE: Final = 0.5  # Of the words that tell a side from the other, what a line with its title must have.


@dataclass(frozen=True)
class Value:
    """A quantity or a date of a line."""

    text: str  # Its words.
    unit: str  # What it counts; `day` of dates.
    size: float  # Its number; of a date the number of its first day.
    line: Candidate  # The line that has it.


@dataclass(frozen=True)
class Compared:
    """The outcome of a comparison, and the numbers of the two lines that it rests on."""

    text: str
    rests_on: tuple[int, int]


def compared(given: AnswerInput, comparison: Comparison) -> Compared | None:
    """The side that a comparison is true of, with both values; None where no two lines have values of one unit."""
    words = [content_words(side) for side in comparison.sides]
    both = (words[0] & words[1], words[0] | words[1])
    values = [[*_values(given, own - both[0] or own, comparison)] for own in words]
    pairs = [(a, b) for a, b in product(*values) if a.unit == b.unit and a.size != b.size and a.text != b.text]
    if not pairs:
        return None
    one, other = max(pairs, key=lambda pair: _fit(pair[0]) + _fit(pair[1]))
    first = (one.size < other.size) == comparison.less
    if comparison.verdict:
        text = f"{'Yes' if first else 'No'}: {one.text} against {other.text}"
    else:
        won, lost = (one, other) if first else (other, one)
        text = f"{comparison.sides[0 if first else 1]} ({won.text} against {lost.text})"
    return Compared(f"{text[:1].upper()}{text[1:]}", (one.line.line.number, other.line.line.number))


def _fit(value: Value) -> float:
    """The log odds that a line has what is compared: by the reader, and by how well it matches the question."""
    reading, line = value.line.reading, value.line.line
    return (reading.odds if reading else _UNREAD) + MATCH * line.signals.match


def _values(given: AnswerInput, words: frozenset[str], comparison: Comparison) -> Iterator[Value]:
    """The values of the likeliest lines that speak of a side."""
    read = candidates(given)
    known = {c.line.number for c in read}
    pool = [*read, *(Candidate(o, _UNREAD, None) for o in ranked(given) if o.number not in known)]
    spoken = [c for c in pool if _speaks_of(c, words, given.evidence[c.line.evidence].title or "")]
    # A document may name in one line what it tells of in another.
    spoken += [c for c in pool if _speaks_of(c, words, given.evidence[c.line.evidence].text)]
    for candidate in spoken[:_LINES]:
        text, published = candidate.line.shown, candidate.line.published
        if comparison.in_time and candidate.line.speaker and published:
            # What is said in a conversation happens when it is said.
            yield Value(f"{published}", "day", published.toordinal(), candidate)
        elif comparison.in_time:
            days = ((when.text, when.from_day) for when in dates(text, published))
            yield from (Value(said, "day", day.toordinal(), candidate) for said, day in days if isinstance(day, date))
        else:
            # A bare number may count anything.
            yield from (Value(q.text, q.unit, q.value, candidate) for q in quantities(text) if q.unit)


def _speaks_of(candidate: Candidate, words: frozenset[str], beside: str) -> bool:
    """Whether a line, with what stands beside it, has enough of the words of a side."""
    return len(words & content_words(f"{beside} {candidate.line.shown}")) >= _SHARE * max(1, len(words))
