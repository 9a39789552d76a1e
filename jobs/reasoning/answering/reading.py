"""What a trained reader makes of the likeliest sentences of the evidence, beside what the rules do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from quern.jobs.models.line_reader import Passage, Reading
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.schemas.words.scripts import CJK

LIKELY: Final = 12  # Lines that are read...
IN_CONTEXT: Final = 6  # ...of which the first with the one before them, or the head of their table...
_CHARACTERS: Final = 1500  # ...as far as all have so many characters, about what there is room for...
_OF_LINE: Final = 350  # ...of which the model reads so many of one line, and of a title...
_OF_TITLE: Final = 100
_LEAST_WORDS: Final = 2
_UNTOLD: Final = -5.0  # The least that the reader's word counts, as the logarithm of a probability.
# What it says of which page answers counts against what it says of the lines of one. Fitted .74 on questions over the
# sample corpus and .88 on pages kept apart; less, for of namesakes it is the less sure.
_OF_PAGES: Final = 0.5
_UNREAD: Final = re.compile(f"[{CJK}]")


class LineModel(Protocol):
    """What reads lines beside a question; see `jobs.models.line_reader.LineReader`."""

    @property
    def fingerprint(self) -> str:
        """What tells it from others."""

    def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Reading]:
        """Begin to read what each line of the `passages` has to say to the question; it is waited for by a call."""


class VerdictModel(Protocol):
    """What tells yes from no by a single line; see `jobs.models.line_reader.LineReader`."""

    @property
    def fingerprint(self) -> str:
        """What tells it from others."""

    def says_yes(self, question: str, passage: Passage) -> float:
        """The log odds that the last line of a `passage` answers by yes."""


@dataclass(frozen=True)
class LineToRead:
    """A sentence of the evidence: its number in the input, of which evidence, its text, and its table's head."""

    number: int
    evidence: int
    text: str
    header: str

    @property
    def plain(self) -> str:
        """Its text, its words and bars parted by single spaces."""
        return _plain(self.text)

    def behind(self, lines: Iterable[LineToRead]) -> int:
        """The number of what it is read behind: the head of its table if that is among `lines`, else the one before."""
        head = _plain(self.header)
        heads = (o.number for o in lines if o.evidence == self.evidence and o.number < self.number and o.plain == head)
        return max(heads, default=self.number - 1) if head else self.number - 1


def _plain(text: str) -> str:
    return " ".join(text.replace("|", " | ").split())


@dataclass(frozen=True)
class LinesRead:
    """What a reader made of lines.

    Attributes:
        lines: Of each line that was read, by its number, the logarithm of the probability that it answers, if one of
            them does.
        none: The logarithm of the odds that none does; None where nothing was read.
    """

    lines: Mapping[int, float] = field(default_factory=dict)
    none: float | None = None


@dataclass(frozen=True)
class Reader:
    """A model that reads, and what its word counts.

    Attributes:
        model: The model.
        weight: What log odds of it count beside those of the rules.
        of_verdicts: What tells yes from no by the line that decides; None to leave it to the rules.
    """

    model: LineModel
    weight: float
    of_verdicts: VerdictModel | None = None

    @property
    def identity(self) -> object:
        """Everything that what it says depends on beside what it reads, JSON-like."""
        return [self.model.fingerprint, self.weight, *([self.of_verdicts.fingerprint] if self.of_verdicts else [])]

    def begin(
        self, question: str, evidence: Sequence[Evidence], likely: Sequence[LineToRead]
    ) -> Callable[[], LinesRead]:
        """Begin to read the best of the lines; `likely` has all of the evidence, the likeliest first."""
        # A key or an address alone asks nothing that could be weighed.
        if _UNREAD.search(question) or len(question.split()) < _LEAST_WORDS or not likely:
            return LinesRead
        by_number = {line.number: line for line in likely}
        pages: dict[int, set[int]] = {}  # Those first that have the likeliest lines: what comes first has room first.
        length = 0
        for rank, line in enumerate(likely[:LIKELY]):
            before = line.behind(likely)
            beside = before in by_number and by_number[before].evidence == line.evidence and rank < IN_CONTEXT
            added = {line.number, *([before] if beside else [])} - pages.get(line.evidence, set())
            longer = sum(min(_OF_LINE, len(by_number[number].text)) for number in added)
            longer += 0 if line.evidence in pages else min(_OF_TITLE, len(evidence[line.evidence].title or ""))
            if not pages or length + longer <= _CHARACTERS:
                pages.setdefault(line.evidence, set()).update(added)
                length += longer
        numbers = [sorted(mine) for mine in pages.values()]
        passages = [
            Passage(evidence[at].title or "", [" ".join(by_number[number].text.split()) for number in mine])
            for at, mine in zip(pages, numbers, strict=True)
        ]
        reading = self.model.begin(question, passages)
        return lambda: _by_number(reading(), numbers)


def _by_number(read: Reading, numbers: Sequence[Sequence[int]]) -> LinesRead:
    told = {
        number: value
        for mine, values in zip(numbers, read.lines, strict=True)
        for number, value in zip(mine, values, strict=True)
        if value is not None
    }
    return LinesRead(told, read.none) if told else LinesRead()


def told_of(read: LinesRead, lines: Sequence[tuple[int, int]]) -> list[float]:
    """What was read as one number for each of `lines`, given by number and evidence: log odds to add to theirs.

    The probability of a line among those of its page, and to a part that of its page. What was not read is as unlikely
    as what was read and does not answer.
    """
    page: dict[int, float] = {}
    for number, evidence in lines:
        if number in read.lines:
            page[evidence] = float(np.logaddexp(page.get(evidence, -math.inf), read.lines[number]))
    found = []
    for number, evidence in lines:
        of_page = page.get(evidence, _UNTOLD)
        within = read.lines[number] - of_page if number in read.lines else _UNTOLD
        found.append(max(_UNTOLD, within) + _OF_PAGES * max(_UNTOLD, of_page))
    return found
