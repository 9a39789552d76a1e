"""Cutting documents into chunks that fit the embedding model.

A document is encoded once; ends and overlaps are then chosen on the offsets of its tokens, at the best boundary at
hand: paragraph, line, sentence, word, and only then token (Xinyu, section 3.4: 350 tokens, a quarter of them
shared with the chunk before). Where tokens are so long that a chunk would have more than `chunk.max_characters`, as of
text without spaces, it is cut by characters, at the end of a clause or word if there is one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from itertools import accumulate, pairwise
from typing import ClassVar, Final, Literal, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tokenizers import Encoding, Tokenizer
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from quern.indexes.stages import Stage
from quern.jobs.chunks.boundaries import Boundaries, Offsets, last_grapheme
from quern.jobs.core.contract import Job, Outcome, Reject, Source
from quern.jobs.documents.originals import originals
from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model, tokenizer_digest
from quern.jobs.text.search_form import SearchForm
from quern.jobs.text.tables import header_lines
from quern.schemas.settings import ChunkSettings, NormaliseSettings
from quern.schemas.tables import CHUNKS, Table
from quern.schemas.words import terms as words
from quern.schemas.words.terms import search_terms


@dataclass(frozen=True)
class Units:
    """The units of a document, in order."""

    offsets: Offsets  # Start and end of each in the text.
    boundaries: Boundaries  # Where a chunk may end.
    # What those before each unit, and at the end all, take in a chunk, where a token of no great length is 1.
    room: Sequence[float]
    tokens: bool  # Whether each unit is a token.

    @classmethod
    def of_tokens(cls, text: str, offsets: Offsets, limit: int) -> Units:
        """The tokens of `text`; boundaries are sought where there are more than `limit`."""
        boundaries = Boundaries(text if len(offsets) > limit else "", offsets)
        return cls(offsets, boundaries, range(len(offsets) + 1), tokens=True)

    @classmethod
    def of_characters(cls, text: str, offsets: Offsets, limit: int, most: int) -> Units:
        """Units of which those that take no more room than `limit` hold at most `limit` tokens and `most` characters.

        No unit has more characters than a chunk may have tokens: standing alone it is at most so many.
        """
        # Shares of a chunk that no unit is longer than, so that its end and its overlap can be chosen.
        size = max(1, min(most // 8, limit))
        found = list(_pieces(text, offsets, size))
        starts = [start for start, _ in found] + [len(text)]
        share = limit / most
        room = [0.0, *accumulate(max(1.0, (end - start) * share) for start, end in pairwise(starts))]
        return cls(found, Boundaries(text, found, clauses=True), room, tokens=False)


def _pieces(text: str, offsets: Offsets, size: int) -> Iterator[tuple[int, int]]:
    """The tokens, each with what is up to the next one; one of more than `size` characters in about equal pieces."""
    starts = [0, *(start for start, _ in offsets[1:]), len(text)]
    for (start, stop), (_, end) in zip(pairwise(starts), offsets, strict=True):
        if stop - start <= size:
            yield start, max(end, start)
            continue
        pieces = -(-(stop - start) // size)
        at = start
        for nth in range(1, pieces + 1):
            cut = stop if nth == pieces else last_grapheme(text, at, start + (stop - start) * nth // pieces)
            if cut > at:
                yield at, cut
                at = cut


_CHARACTERS: Final = ChunkSettings().max_characters


class Span(NamedTuple):
    """A chunk of a document: characters from `start` up to `end`, and the tokens of that text."""

    start: int
    end: int
    tokens: int


class Splitter:
    """Cuts texts into spans of at most `limit` tokens that share at most a share `overlap` of them with the one before.

    A text of which such a span has more than `characters` is cut into units that are short enough (`.units`). The count
    of a span is that of its text encoded alone. With BERT's pre-tokeniser it is known from the document's tokens where
    both ends are ends of words; elsewhere the text is encoded again. Only a single token that makes more than `limit`
    tokens when it stands alone, or a character of more tokens, makes a longer span.
    """

    def __init__(self, tokenizer: Tokenizer, limit: int, overlap: float, characters: int = _CHARACTERS) -> None:
        self.limit = limit
        self.characters = characters
        self.overlap = int(limit * overlap)
        self._tokenizer = tokenizer
        normalizer = tokenizer.normalizer
        self._words_apart = (
            isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
            and isinstance(normalizer, BertNormalizer)
            and normalizer.handle_chinese_chars
        )

    def split(self, texts: Sequence[str]) -> Iterator[list[Span]]:
        """The spans of each text in reading order; none for a text without tokens."""
        # Encoded tokens take some hundred bytes each, so that much text is encoded at a time.
        for group in _groups(texts, 2_000_000):
            encodings: list[Encoding] = self._tokenizer.encode_batch(group, add_special_tokens=False)
            for text, encoding in zip(group, encodings, strict=True):
                yield self._spans(text, encoding.offsets)

    def _spans(self, text: str, offsets: Offsets) -> list[Span]:
        spans: list[Span] = []
        for span in self._cut(text, Units.of_tokens(text, offsets, self.limit)):
            if span.end - span.start > self.characters:
                # Of nearly all texts tokens alone decide, and characters are not counted.
                return list(self._cut(text, Units.of_characters(text, offsets, self.limit, self.characters)))
            spans.append(span)
        return spans

    def _cut(self, text: str, units: Units) -> Iterator[Span]:
        """The spans in reading order."""
        last: Span | None = None
        for span in self._candidates(text, units):
            # One of white space alone, or of characters that make no token, is none.
            if not span.tokens or (last is not None and span.end <= last.end):
                continue
            if last is not None and span.start > last.start:
                yield last
            last = span
        if last is not None:
            yield last

    def _candidates(self, text: str, units: Units) -> Iterator[Span]:
        begin = end = 0
        while end < len(units.offsets):
            floor, end = end, self._end(units, begin, end)
            span = self._span(text, units, begin, end)
            while span.tokens > self.limit:
                # Encoded alone the text has more tokens than in its place; never many, so that this ends soon. A
                # shorter chunk still goes past `floor`: it ends earlier, or else begins later.
                low = max(begin, floor) + 1
                if low < end and (earlier := units.boundaries.last_word(low, end - 1)) < end:
                    end = earlier
                elif begin < floor:
                    begin += 1
                else:
                    break
                span = self._span(text, units, begin, end)
            yield span
            begin = self._begin(units, begin, end)

    def _end(self, units: Units, begin: int, reached: int) -> int:
        """Unit at which the chunk from `begin` ends: past `reached`, where the one before ended."""
        room, total = units.room, len(units.offsets)
        left = room[total] - room[begin]
        if left <= self.limit:
            return total
        most: float = self.limit
        if left + self.overlap <= 2 * self.limit:
            # Two chunks are left: make them about equal rather than leave a scrap.
            most = min(most, (left + self.overlap) // 2 + self.limit // 8)
        high = max(bisect_right(room, room[begin] + most) - 1, reached + 1)
        low = max(bisect_left(room, room[begin] + self.limit // 2), reached + 1)
        return units.boundaries.last(min(low, high), high)

    def _begin(self, units: Units, begin: int, end: int) -> int:
        """Unit at which the next chunk begins: the overlap is about what is asked for, and less at a sentence."""
        room = units.room
        if end == len(units.offsets):
            return end
        # With the unit after `end` there must be room for what is shared.
        low = max(begin + 1, bisect_left(room, max(room[end] - self.overlap, room[end + 1] - self.limit)))
        if low >= end:
            return end
        middle = bisect_left(room, room[end] - self.overlap // 2)
        best = units.boundaries.first(low, middle)
        if best is None:
            best = units.boundaries.first(middle, end - 1)
        return units.boundaries.first_word(low, end) if best is None else best

    def _span(self, text: str, units: Units, begin: int, end: int) -> Span:
        # Up to the next unit's start, so that characters which make no token are in a chunk too.
        start = units.offsets[begin][0] if begin else 0
        stop = units.offsets[end][0] if end < len(units.offsets) else len(text)
        piece = text[start:stop].rstrip()
        stop = start + len(piece)
        start = at = stop - len(piece.lstrip())
        # With the indentation of its line, of which no more than a hundred characters are read.
        while start - 100 < at > 0 and text[at - 1] in " \t":
            at -= 1
        if at and text[at - 1] == "\n":
            start = at
        piece = text[start:stop]
        words = self._words_apart and units.tokens
        known = words and units.boundaries.is_word(begin) and units.boundaries.is_word(end)
        count = end - begin if known else len(self._tokenizer.encode(piece, add_special_tokens=False))
        return Span(start, stop, count)


def _groups(texts: Sequence[str], characters: int) -> Iterator[list[str]]:
    """`texts` in order, in lists of at most `characters` characters or of one text."""
    group: list[str] = []
    size = 0
    for text in texts:
        if group and size + len(text) > characters:
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group


@lru_cache(maxsize=2)
def _splitter(model: str, settings: ChunkSettings) -> Splitter:
    return Splitter(load_tokenizer(read_model(model)), settings.tokens, settings.overlap, settings.max_characters)


@dataclass(frozen=True)
class Chunk(Job):
    """Chunks of documents, without their vectors."""

    name: ClassVar[str] = "chunk"
    version: ClassVar[int] = 5
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("doc_id", "title", "text", "published_at", "utc_offset")
    key: ClassVar[str] = "doc_id"

    settings: ChunkSettings  # Length and overlap.
    model: str = DEFAULT_MODEL  # `embed.model`, whose tokenizer counts the tokens.
    # The form in which the words for full-text search are cut.
    normalise: NormaliseSettings = field(default_factory=NormaliseSettings)

    @property
    def makes(self) -> Table:
        """Chunks before they are embedded."""
        return CHUNKS.without("vector")

    def configuration(self) -> Mapping[str, object]:
        """Length, overlap and tokenizer."""
        tokenizer = tokenizer_digest(read_model(self.model))
        return {
            **self.settings.model_dump(),
            "tokenizer": tokenizer,
            "library": version("tokenizers"),
            "words": words.VERSION,
            "form": self._form.configuration(),
        }

    @property
    def _form(self) -> SearchForm:
        return SearchForm(self.normalise)

    def source(self, inputs: Mapping[str, Stage]) -> Source:
        """The documents that repeat no other."""
        (documents,) = inputs.values()
        return originals(documents)

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """The chunks of the documents; a document without any token is rejected."""
        texts = cast(list[str], batch.column("text").to_pylist())
        found = list(_splitter(self.model, self.settings).split(texts))
        parents = np.repeat(np.arange(len(texts), dtype=np.int64), [len(spans) for spans in found])
        rejects = tuple(
            Reject(row, "no_tokens", f"the text of {len(texts[row])} characters has no token that the model knows")
            for row, spans in enumerate(found)
            if not spans
        )
        form = self._form
        at = pa.array(parents, pa.int64())
        passed = {name: batch.column(name).take(at) for name in ("doc_id", "title", "published_at", "utc_offset")}
        bodies = [text[span.start : span.end] for text, spans in zip(texts, found, strict=True) for span in spans]
        numbers = pa.array([n for spans in found for n in range(len(spans))], pa.int64()).cast(pa.string())
        starts = [[span.start for span in spans] for spans in found]
        headers = [header for text, each in zip(texts, starts, strict=True) for header in header_lines(text, each)]
        headings = [search_terms(title and form(title)) for title in batch.column("title").to_pylist()]
        terms = [
            " ".join(filter(None, (headings[row], search_terms(header and form(header)), search_terms(form(body)))))
            for row, header, body in zip(parents, headers, bodies, strict=True)
        ]
        columns = {
            **passed,
            "chunk_id": pc.binary_join_element_wise(passed["doc_id"], numbers, pa.scalar("-")),
            "text": pa.array(bodies, pa.string()),
            "header": pa.array(headers, pa.string()),
            "start": pa.array([start for each in starts for start in each], pa.int64()),
            "end": pa.array([span.end for spans in found for span in spans], pa.int64()),
            "token_count": pa.array([span.tokens for spans in found for span in spans], pa.int32()),
            "terms": pa.array(terms, pa.string()),
        }
        schema = self.makes.schema
        made = pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
        return Outcome(made, parents, rejects)
