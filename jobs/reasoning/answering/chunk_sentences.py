"""The sentences of a chunk as they are whatever is asked: questions of a batch share chunks, and each is read once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from quern.jobs.reasoning.answering.inputs import spans
from quern.jobs.reasoning.answering.names import speaker
from quern.jobs.reasoning.answering.tables import Row, rows
from quern.jobs.reasoning.answering.typed.value import Days
from quern.jobs.reasoning.answering.typed.when import written_year
from quern.jobs.text.stems import content_words

ENDS: Final = tuple('.!?。！？…"”’)')
_PRONOUN: Final = re.compile(
    r"[\"“'‘]?(?:it|he|she|they|this|that|these|those|his|her|its|their|both|such)\b", re.IGNORECASE
)
_STAMP: Final = re.compile(r"(?:Time|Date|Sent|Posted)\s*[:：]\s*(\S.{0,30})", re.IGNORECASE)
_QUESTION: Final = ("?", "？")
# Chunks that are held: some 40 kB each of 1,300 characters. A batch of 256 questions has 1,300, its parts some more.
_CHUNKS: Final = 4096


@dataclass(frozen=True)
class ChunkSentence:
    """A sentence of a chunk.

    Attributes:
        text: Its characters.
        plain: The same on one line.
        words: Stems of its words of content, of its speaker's and of the header and label of its row.
        speaker: Who says it, in a conversation.
        row: Its cells, where it is a row of a table.
        days: What its dates are read against.
        stamp: The time that a line above it tells of a conversation.
        stamped: The number of that line in the chunk, from 1.
        pronoun: Whether it begins with a pronoun.
        asks: Whether it is a question.
        heading: Whether it is no whole sentence.
    """

    text: str
    plain: str
    words: frozenset[str]
    speaker: str
    row: Row | None
    days: Days
    stamp: str
    stamped: int
    pronoun: bool
    asks: bool
    heading: bool


@dataclass(frozen=True)
class ChunkSentences:
    """The sentences of a chunk, in order.

    Attributes:
        sentences: They.
        having: Of each stem the places of the sentences that have it, from 0.
    """

    sentences: tuple[ChunkSentence, ...]
    having: Mapping[str, tuple[int, ...]]


@lru_cache(maxsize=_CHUNKS)
def sentences_of(text: str, published: date | None) -> ChunkSentences:
    """The sentences of a chunk whose document was published on a day."""
    found: list[ChunkSentence] = []
    having: dict[str, list[int]] = {}
    table = rows(text)
    year: date | None = None
    stamp, stamped = "", 0
    for n, (start, end) in enumerate(spans(text)):
        sentence = text[start:end]
        line_start = text.rfind("\n", 0, start) + 1
        row = table.get(line_start)
        said_by = speaker(text[line_start : line_start + 80])
        words = content_words(sentence) | (content_words(said_by) if said_by else frozenset())
        words |= content_words(" ".join((row.cells[0], *row.header))) if row else frozenset()
        plain = " ".join(sentence.split())
        whole = plain.endswith(ENDS) or row is not None or plain.startswith(("- ", "• "))
        found.append(
            ChunkSentence(
                *(sentence, plain, words, said_by, row, Days(published, year), stamp, stamped),
                pronoun=_PRONOUN.match(sentence) is not None,
                asks=plain.endswith(_QUESTION),
                heading=not whole,
            )
        )
        for word in words:
            having.setdefault(word, []).append(n)
        if (told := _STAMP.fullmatch(sentence)) is not None:
            stamp, stamped = told[1], n + 1
        year = written_year(sentence, published) or year
    return ChunkSentences(tuple(found), {word: tuple(places) for word, places in having.items()})


@lru_cache(maxsize=_CHUNKS)
def quoting(text: str, published: date | None, quotes: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Of each sentence of a chunk which of the `quotes` of its nodes hold it, by their places."""
    plain = [" ".join(quote.split()) for quote in quotes]
    return tuple(
        tuple(n for n, quote in enumerate(plain) if s.plain in quote) for s in sentences_of(text, published).sentences
    )
