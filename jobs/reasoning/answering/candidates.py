"""Which lines of the evidence may answer, and with which words: the reader's odds beside those of shared words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from quern.jobs.models.reader import LineReading
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.lines import Line, asked_cell, named_row, ranked, without_mark
from quern.jobs.reasoning.answering.reading import BESIDE_READER, read
from quern.jobs.text.dates import dates
from quern.jobs.text.stems import content_words

# Log odds by which a line of a later document may be less likely than the best one and still stand in its place, and
# the share of words that both must have: they say the same of different times.
_NEARLY: Final = 2.0
_ALIKE: Final = 0.35
_HEADING: Final = "#"  # Of markdown: it names what the lines behind it say.


@dataclass(frozen=True)
class Candidate:
    """A line that may answer."""

    line: Line  # The line.
    score: float  # Log odds that it answers.
    reading: LineReading | None  # What the reader makes of it; None where it was not read.

    @property
    def words(self) -> str:
        """The words of the line that answer; empty where they are not known."""
        return self.line.shown[self.reading.start : self.reading.end] if self.reading else ""

    @property
    def sure(self) -> float:
        """Probability that these words are the answer, if the line has it."""
        return self.reading.sure if self.reading else 0.0


def candidates(given: AnswerInput) -> list[Candidate]:
    """The lines that may answer, likeliest first, by shared words where nothing was read.

    Questions, headings and lines that say no more than the question answer nothing, unless there is nothing else.
    The row that the question names stands before the others of its table, and before all lines where the
    question names one of its columns too.
    """
    lines, readings = ranked(given), read(given)
    question_words = content_words(given.question)
    telling = (
        line
        for line in lines
        if not (line.signals.asks or line.text.startswith(_HEADING) or content_words(line.shown) <= question_words)
    )
    lines = [*telling] or lines
    if readings.lines:
        both = [
            Candidate(line, reading.odds + BESIDE_READER * line.score, reading)
            for line in lines
            if (reading := readings.lines.get(line.number)) is not None
        ]
        likely = sorted(both, key=lambda c: (-c.score, c.line.number))
    else:
        likely = [Candidate(line, line.score, None) for line in lines]
    row = named_row(given)
    if row is None or row.row is None or not likely:
        return likely
    best = likely[0]
    of_table = best.line.row is not None and best.line.row.header == row.row.header
    if not of_table and asked_cell(given, row.row) is None:
        return likely
    first = Candidate(row, best.score, readings.lines.get(row.number))
    return [first, *(c for c in likely if c.line.row is None or c.line.row.cells != row.row.cells)]


def latest(given: AnswerInput, likely: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, that one first which says the same as the best of a later date.

    A question that names a time asks for what was then, and is left as it is.
    """
    if not likely or likely[0].line.published is None or dates(given.question, None):
        return [*likely]
    best, published = likely[0], likely[0].line.published
    words, later = content_words(best.line.shown), list[tuple[date, float, Candidate]]()
    for c in likely:
        if c.line.published is None or c.line.published <= published or c.score < best.score - _NEARLY:
            continue
        own = content_words(c.line.shown)
        if len(words & own) >= _ALIKE * min(len(words), len(own) or 1):
            later.append((c.line.published, c.score, c))
    if not later:
        return [*likely]
    newest = max(later, key=lambda row: row[:2])[2]
    return [newest, *(c for c in likely if c is not newest)]


def said(candidate: Candidate) -> str:
    """A candidate's line as an answer shows it."""
    return without_mark(candidate.line.shown)
