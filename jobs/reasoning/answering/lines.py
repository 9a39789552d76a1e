"""The lines of the evidence beside a question: what each shares with it, and which are likely to answer.

A line is a sentence, an item of a list or a row of a table. The likeliest are read by the trained reader
(`.reading`); where a question is in a script that the reader does not know, this order decides alone.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import takewhile
from typing import Final, NamedTuple

from quern.jobs.models.late_interaction import LateInteraction, Lines
from quern.jobs.reasoning.answering.inputs import AnswerInput, spans
from quern.jobs.text.dates import dates
from quern.jobs.text.stems import QUESTION_WEIGHT, WordShares, content_words, weighted, word_shares
from quern.jobs.text.tables import Row, rows
from quern.schemas.words.scripts import CJK_CHARACTER

_SPEAKER: Final = re.compile(r"(?P<name>[^\W\d_][\w .'’-]{0,40}?)\s*[:：]\s+(?=\S)")
_ASKS: Final = ("?", "？")
_MARK: Final = re.compile(r"^\s*(?:[-–•*·]|\d{1,2}[.)])\s+(?=\S)")
_SPEAKER_REACH: Final = 80  # Characters in which the name of a speaker ends.
_CHUNKS: Final = 4096  # That are held: a batch of 256 questions has 1,300.
_VECTORS: Final = 1500  # Chunks whose vectors are held, 90 kB each.


class Signals(NamedTuple):
    """What says that a line may answer beside the words that it shares with the question."""

    match: float  # How well its tokens match the question's, in [-1, 1] (`jobs.models.late_interaction`); 0 unread.
    quoted: float  # Cosine of the node that quotes the line, less the mean of its chunk.
    asks: float  # Whether it is a question.
    rank: float  # One over the rank of its evidence.


# `quoted`, `asks` and `rank` are of the fit of `WORD_WEIGHTS`. A match counts 14 in training, where nothing but words
# stands beside it; of 3, 6, 8, 10 and 14 this one was best over two visible domains and 267 questions of lihua_world.
MATCH: Final = 8.0
_WEIGHTS: Final = Signals(match=MATCH, quoted=2.25, asks=QUESTION_WEIGHT, rank=2.4)


@dataclass(frozen=True)
class Line:
    """A line of the evidence."""

    number: int  # Its number in the input, from 1.
    evidence: int  # The number of its evidence, from 0.
    text: str  # Its characters.
    shown: str  # The line as it is read and shown: on one line, cells of a table behind the headers of their columns.
    before: int  # The number of the line that it is read behind: the one before it in its evidence; 0 if there is none.
    row: Row | None  # Its cells, where it is a row of a table.
    speaker: str  # Who says it, in a conversation.
    published: date | None  # The day on which its document was published.
    shares: WordShares  # What words it shares with the question.
    signals: Signals  # What else says that it may answer.
    score: float  # How likely it answers by both, as log odds.


@dataclass(frozen=True)
class _ChunkLine:
    text: str
    shown: str
    words: frozenset[str]
    row: Row | None
    speaker: str
    asks: bool
    has_before: bool


def ranked(given: AnswerInput) -> list[Line]:
    """The lines of all evidence, likeliest first; an input holds them."""
    memo: list[Line] | None = vars(given).get("ranked")
    if memo is not None:
        return memo
    chunks = [_chunk_lines(e.text, e.header) for e in given.evidence]
    words = [
        (content_words(e.title or ""), [line.words for line in chunk])
        for e, chunk in zip(given.evidence, chunks, strict=True)
    ]
    shares_of = word_shares(content_words(given.question), words)
    lines: list[Line] = []
    for at, (evidence, chunk, shares) in enumerate(zip(given.evidence, chunks, shares_of, strict=True)):
        matches = [0.0] * len(chunk)
        if chunk and given.reader is not None and not is_unread(given.question):
            matches = LateInteraction.load().scores(given.question, _vectors_of(evidence.text, evidence.header))
        similarities = evidence.similarities
        usual = math.fsum(similarities) / len(similarities) if similarities else 0.0
        quoting = _quoting(evidence.text, evidence.header, tuple(evidence.quotes) if similarities else ())
        day = evidence.published_at.date() if evidence.published_at else None
        first = len(lines)
        for n, (line, own) in enumerate(zip(chunk, shares, strict=True)):
            similarity = max((similarities[node] for node in quoting[n]), default=usual) - usual
            signals = Signals(matches[n], similarity, float(line.asks), 1.0 / (1 + at))
            score = weighted(own) + math.fsum(w * x for w, x in zip(_WEIGHTS, signals, strict=True))
            number, behind = first + n + 1, first + n if line.has_before else 0
            lines.append(
                Line(number, at, line.text, line.shown, behind, line.row, line.speaker, day, own, signals, score)
            )
    vars(given)["ranked"] = lines = sorted(lines, key=lambda line: (-line.score, line.number))
    return lines


def is_unread(question: str) -> bool:
    """Whether a question is in a script that the packaged models do not know."""
    return CJK_CHARACTER.search(question) is not None


def is_conversation(given: AnswerInput) -> bool:
    """Whether most lines of the evidence that has the likeliest one have a speaker."""
    likely = ranked(given)
    beside = [line for line in likely if line.evidence == likely[0].evidence]
    return sum(bool(line.speaker) for line in beside) * 2 > len(beside)


def without_mark(text: str) -> str:
    """A line without the mark of an item."""
    return _MARK.sub("", text)


def named_row(given: AnswerInput) -> Line | None:
    """The row of a table that the question names by the words of its cells, as no other row is; None without one.

    Rows differ in a few characters, by which no reader tells them apart.
    """
    question_words = content_words(given.question)
    matches: dict[tuple[str, ...], tuple[int, Line]] = {}
    for line in ranked(given):
        if line.row and line.row.header:
            words = frozenset().union(*(w for cell in line.row.cells if (w := content_words(cell)) <= question_words))
            matches.setdefault(line.row.cells, (len(words), line))
    most = max((size for size, _ in matches.values()), default=0)
    best = [line for size, line in matches.values() if size == most]
    return best[0] if most and len(best) == 1 else None


def asked_cell(given: AnswerInput, row: Row) -> str | None:
    """The cell under the one header that shares most words with the question; cells that it names answer nothing."""
    question_words = content_words(given.question)
    overlaps = [
        (len(question_words & content_words(name)), cell)
        for name, cell in zip(row.header, row.cells, strict=False)
        if cell and not content_words(cell) <= question_words
    ]
    most = max((size for size, _ in overlaps), default=0)
    cells = [cell for size, cell in overlaps if size == most]
    return cells[0] if most and len(cells) == 1 else None


def newest_cell(given: AnswerInput, row: Row) -> str | None:
    """The cell of the latest column, where headers name times and the question names none; None elsewhere."""
    if dates(given.question, None):
        return None
    days = [
        (day, cell)
        for name, cell in zip(row.header, row.cells, strict=False)
        for when in dates(name, None)[:1]
        if cell and (day := when.from_day or when.to_day)
    ]
    return max(days)[1] if len({day for day, _ in days}) > 1 else None


def items_beside(given: AnswerInput, line: Line) -> list[Line]:
    """The items of the list that a line is part of, or that it introduces; empty where there is no such list."""
    own = [other for other in sorted(ranked(given), key=lambda o: o.number) if other.evidence == line.evidence]
    at = own.index(line)
    start = at if _MARK.match(line.text) else at + 1
    while start > 0 and start <= at and _MARK.match(own[start - 1].text):
        start -= 1
    return list(takewhile(lambda other: _MARK.match(other.text) is not None, own[start:]))


@lru_cache(maxsize=_VECTORS)
def _vectors_of(text: str, header: str | None) -> Lines:
    chunk = _chunk_lines(text, header)
    before = [n - 1 if line.has_before else -1 for n, line in enumerate(chunk)]
    utterances = [f"{c.speaker}: {c.shown}" if c.speaker and c.speaker not in c.shown else c.shown for c in chunk]
    return LateInteraction.load().lines(utterances, before)


@lru_cache(maxsize=_CHUNKS)
def _chunk_lines(text: str, header: str | None) -> list[_ChunkLine]:
    """The lines of a chunk, whatever is asked: questions of a batch share chunks."""
    sentences = [text[start:end] for start, end in spans(text)]
    plain = [" ".join(line.split()) for line in sentences]
    above = header.split("\n") if header else []
    tables = rows([*above, *plain])
    lines = []
    for n, (start, _) in enumerate(spans(text)):
        row = tables.get(len(above) + n)
        begin = text.rfind("\n", 0, start) + 1
        match = _SPEAKER.match(text[begin : begin + _SPEAKER_REACH])
        speaker = match["name"] if match and row is None else ""
        shown = row.labelled if row else plain[n]
        words = content_words(shown) | (content_words(speaker) if speaker else frozenset())
        # The header of a table is part of each row, and the row before tells nothing of this one.
        has_before = n > 0 and not (row and row.header)
        lines.append(_ChunkLine(sentences[n], shown, words, row, speaker, plain[n].endswith(_ASKS), has_before))
    return lines


@lru_cache(maxsize=_CHUNKS)
def _quoting(text: str, header: str | None, quotes: tuple[str, ...]) -> list[list[int]]:
    """Of each line of a chunk which of the `quotes` of its nodes hold it."""
    plain = [" ".join(quote.split()) for quote in quotes]
    return [[n for n, quote in enumerate(plain) if line.text in quote] for line in _chunk_lines(text, header)]
