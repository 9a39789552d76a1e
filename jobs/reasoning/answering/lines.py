"""The lines of the evidence beside a question: what each shares with it, and which are likely to answer.

A line is a sentence, an item of a list or a row of a table. The likeliest are read by the trained reader
(`.reading`); of conversations and of scripts that the reader does not know, this order decides alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain, takewhile
from typing import Final, NamedTuple

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence, spans
from quern.jobs.text.stems import content_words
from quern.jobs.text.tables import Row, rows

_SPEAKER: Final = re.compile(r"(?P<name>[^\W\d_][\w .'’-]{0,40}?)\s*[:：]\s+(?=\S)")
_ASKS: Final = ("?", "？")
_MARK: Final = re.compile(r"^\s*(?:[-–•*·]|\d{1,2}[.)])\s+(?=\S)")
_SPEAKER_REACH: Final = 80  # Characters in which the name of a speaker ends.
_CHUNKS: Final = 4096  # That are held: a batch of 256 questions has 1,300.


class Shares(NamedTuple):
    """What a line shares with a question; shares of words count them by rarity among the lines of the evidence.

    Attributes:
        own: Share of the question's words that the line has, with its speaker and the header of its table.
        before: Share that the line before has beside that.
        after: Share that the next one has beside both.
        title: Share that the title has beside those.
        chunk: Share that only the rest of the chunk has.
        quoted: Cosine of the node that quotes the line, less the mean of its chunk.
        asks: Whether it is a question.
        rank: One over the rank of its evidence.
    """

    own: float
    before: float
    after: float
    title: float
    chunk: float
    quoted: float
    asks: float
    rank: float


# A conditional logit over the lines of the evidence, fitted to lihua_world, musique_train100, cmrc2018 and the sample
# corpus at equal weight with an l2 penalty of .02, when there were eight more signals of English grammar; rounded.
_WEIGHTS: Final = Shares(own=4.8, before=0.9, after=0.75, title=1.1, chunk=-2.2, quoted=2.25, asks=-0.95, rank=2.4)


@dataclass(frozen=True)
class Line:
    """A line of the evidence.

    Attributes:
        number: Its number in the input, from 1.
        evidence: The number of its evidence, from 0.
        text: Its characters.
        shown: The line as it is read and shown: on one line, cells of a table behind the headers of their columns.
        before: The number of the line that it is read behind: the one before it in its evidence; 0 if there is none.
        row: Its cells, where it is a row of a table.
        speaker: Who says it, in a conversation.
        published: The day on which its document was published.
        shares: What it shares with the question.
        score: How likely it answers by that, as log odds.
    """

    number: int
    evidence: int
    text: str
    shown: str
    before: int
    row: Row | None
    speaker: str
    published: date | None
    shares: Shares
    score: float


@dataclass(frozen=True)
class _ChunkLine:
    text: str
    shown: str
    words: frozenset[str]
    row: Row | None
    speaker: str
    asks: bool


def ranked(given: AnswerInput) -> list[Line]:
    """The lines of all evidence, likeliest first; an input holds them."""
    held = vars(given)
    if "ranked" not in held:
        held["ranked"] = sorted(_lines(given), key=lambda line: (-line.score, line.number))
    lines: list[Line] = held["ranked"]
    return lines


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
    asked = content_words(given.question)
    named: dict[tuple[str, ...], tuple[int, Line]] = {}
    for line in ranked(given):
        if line.row and line.row.header:
            words = frozenset().union(*(w for cell in line.row.cells if (w := content_words(cell)) <= asked))
            named.setdefault(line.row.cells, (len(words), line))
    most = max((size for size, _ in named.values()), default=0)
    rows_named = [line for size, line in named.values() if size == most]
    return rows_named[0] if most and len(rows_named) == 1 else None


def asked_cell(given: AnswerInput, row: Row) -> str | None:
    """The cell under the one header that shares most words with the question; cells that it names answer nothing."""
    asked = content_words(given.question)
    shared = [
        (len(asked & content_words(name)), cell)
        for name, cell in zip(row.header, row.cells, strict=False)
        if cell and not content_words(cell) <= asked
    ]
    most = max((size for size, _ in shared), default=0)
    cells = [cell for size, cell in shared if size == most]
    return cells[0] if most and len(cells) == 1 else None


def items_beside(given: AnswerInput, line: Line) -> list[Line]:
    """The items of the list that a line is part of, or that it introduces; empty where there is no such list."""
    own = [other for other in sorted(ranked(given), key=lambda o: o.number) if other.evidence == line.evidence]
    at = own.index(line)
    start = at if _MARK.match(line.text) else at + 1
    while start > 0 and start <= at and _MARK.match(own[start - 1].text):
        start -= 1
    return list(takewhile(lambda other: _MARK.match(other.text) is not None, own[start:]))


def _lines(given: AnswerInput) -> list[Line]:
    chunks = [_chunk_lines(e.text, e.header) for e in given.evidence]
    asked = content_words(given.question)
    shared = [[asked & line.words for line in chunk] for chunk in chunks]
    worth = _Worth(asked, [words for own in shared for words in own])
    found: list[Line] = []
    for at, (evidence, chunk, own) in enumerate(zip(given.evidence, chunks, shared, strict=True)):
        everywhere = frozenset().union(*own)
        title = asked & content_words(evidence.title or "")
        cosines = _cosines(evidence, chunk)
        published = evidence.published_at.date() if evidence.published_at else None
        first = len(found)
        for n, line in enumerate(chunk):
            places = (own[n], own[n - 1] if n else frozenset(), own[n + 1] if n + 1 < len(own) else frozenset())
            alone, before, after, of_title, chunk_only = worth.new_in_each((*places, title, everywhere))
            shares = Shares(alone, before, after, of_title, chunk_only, cosines[n], float(line.asks), 1.0 / (1 + at))
            score = math.fsum(w * x for w, x in zip(_WEIGHTS, shares, strict=True))
            number = first + n + 1
            # The header of a table is part of each row, and the row before tells nothing of this one.
            behind = first + n if n and not (line.row and line.row.header) else 0
            found.append(
                Line(number, at, line.text, line.shown, behind, line.row, line.speaker, published, shares, score)
            )
    return found


@lru_cache(maxsize=_CHUNKS)
def _chunk_lines(text: str, header: str | None) -> list[_ChunkLine]:
    """The lines of a chunk, whatever is asked: questions of a batch share chunks."""
    written = [text[start:end] for start, end in spans(text)]
    plain = [" ".join(line.split()) for line in written]
    above = header.split("\n") if header else []
    tables = rows([*above, *plain])
    found = []
    for n, (start, _) in enumerate(spans(text)):
        row = tables.get(len(above) + n)
        begin = text.rfind("\n", 0, start) + 1
        match = _SPEAKER.match(text[begin : begin + _SPEAKER_REACH])
        speaker = match["name"] if match and row is None else ""
        shown = row.labelled if row else plain[n]
        words = content_words(shown) | (content_words(speaker) if speaker else frozenset())
        found.append(_ChunkLine(written[n], shown, words, row, speaker, plain[n].endswith(_ASKS)))
    return found


class _Worth:
    """What words of a question count: more, the fewer lines have them; all together 1."""

    def __init__(self, words: frozenset[str], lines: list[frozenset[str]]) -> None:
        """`lines` are the words of the question that each line has."""
        seen = Counter(chain.from_iterable(lines))
        weight = {word: math.log(1.0 + len(lines) / (0.5 + seen[word])) for word in words}
        total = math.fsum(weight.values()) or 1.0
        self._weight = {word: value / total for word, value in weight.items()}
        self._known = {frozenset[str](): 0.0}

    def new_in_each(self, places: tuple[frozenset[str], ...]) -> list[float]:
        """What the words of each place count that none before it has."""
        seen: frozenset[str] = frozenset()
        shares = []
        for words in places:
            shares.append(self._of(words - seen))
            seen |= words
        return shares

    def _of(self, words: frozenset[str]) -> float:
        if words not in self._known:
            self._known[words] = math.fsum(self._weight[word] for word in words)
        return self._known[words]


@lru_cache(maxsize=_CHUNKS)
def _quoting(text: str, header: str | None, quotes: tuple[str, ...]) -> list[list[int]]:
    """Of each line of a chunk which of the `quotes` of its nodes hold it."""
    plain = [" ".join(quote.split()) for quote in quotes]
    return [[n for n, quote in enumerate(plain) if line.text in quote] for line in _chunk_lines(text, header)]


def _cosines(evidence: Evidence, chunk: list[_ChunkLine]) -> list[float]:
    """Of each line the cosine of the question with the nearest node that quotes it, less the mean of the chunk."""
    cosines = evidence.similarities
    if not cosines:
        return [0.0] * len(chunk)
    usual = math.fsum(cosines) / len(cosines)
    quoting = _quoting(evidence.text, evidence.header, tuple(evidence.quotes))
    return [max((cosines[n] for n in numbers), default=usual) - usual for numbers in quoting]
