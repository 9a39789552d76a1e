"""What a trained reader makes of the likeliest sentences of the evidence, beside what the rules do."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from quern.jobs.models.line_reader import Passage, Reading
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.schemas.words.scripts import CJK

_LIKELY: Final = 6  # Lines that are read, each with the one before it, or the head of its table.
_LEAST_WORDS: Final = 2
_UNTOLD: Final = -5.0  # The least that the reader's word counts, as the logarithm of a probability.
# What it says of which page answers counts against what it says of the lines of one: it was trained beside pages of
# other things, and not beside those of a namesake. See `relevance._BESIDE_READER`.
_OF_PAGES: Final = 0.2
_UNREAD: Final = re.compile(f"[{CJK}]")


class LineModel(Protocol):
    """What reads lines beside a question; see `jobs.models.line_reader.LineReader`."""

    @property
    def fingerprint(self) -> str:
        """What tells it from others."""

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """What each line of the `passages` has to say to the question."""


@dataclass(frozen=True)
class LineToRead:
    """A sentence of the evidence: its number in the input, of which evidence, its text, and its table's head."""

    number: int
    evidence: int
    text: str
    header: str


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
    """

    model: LineModel
    weight: float

    @property
    def identity(self) -> object:
        """Everything that what it says depends on beside what it reads, JSON-like."""
        return [self.model.fingerprint, self.weight]

    def read(self, question: str, evidence: Sequence[Evidence], likely: Sequence[LineToRead]) -> LinesRead:
        """What it makes of the best of the lines; `likely` has all of the evidence, the likeliest first."""
        # A key or an address alone asks nothing that could be weighed.
        if _UNREAD.search(question) or len(question.split()) < _LEAST_WORDS or not likely:
            return LinesRead()
        by_number = {line.number: line for line in likely}
        heads = {(line.evidence, line.text): line.number for line in likely}
        chosen: set[int] = set()
        for line in likely[:_LIKELY]:
            before = heads.get((line.evidence, line.header), line.number - 1) if line.header else line.number - 1
            if before in by_number and by_number[before].evidence == line.evidence:
                chosen.add(before)
            chosen.add(line.number)
        pages: dict[int, list[LineToRead]] = {}
        for number in sorted(chosen):
            pages.setdefault(by_number[number].evidence, []).append(by_number[number])
        passages = [
            Passage(evidence[at].title or "", [" ".join(line.text.split()) for line in mine])
            for at, mine in pages.items()
        ]
        read = self.model.read(question, passages)
        told = {
            line.number: value
            for mine, values in zip(pages.values(), read.lines, strict=True)
            for line, value in zip(mine, values, strict=True)
            if value is not None
        }
        return LinesRead(told, read.none)


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
