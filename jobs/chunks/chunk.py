"""Cutting documents into chunks that fit the embedding model.

A document is encoded once; ends and overlaps are then chosen on the offsets of its tokens, at the best boundary at
hand: paragraph, line, sentence, word, and only then token (Xinyu, section 3.4: 350 tokens, a quarter of them
shared with the chunk before). Positions called tokens here are indices into the document's tokens.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from typing import ClassVar, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tokenizers import Encoding, Tokenizer
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Job, Outcome, Reject, Source
from quern.jobs.documents.originals import originals
from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model, tokenizer_digest
from quern.jobs.text.search_form import SearchForm
from quern.schemas.settings import ChunkSettings, NormaliseSettings
from quern.schemas.tables import CHUNKS, Table
from quern.schemas.words import terms as words
from quern.schemas.words.scripts import BERT_HAN, CJK_ENDS
from quern.schemas.words.sentences import SENTENCE_END
from quern.schemas.words.terms import search_terms

Offsets = Sequence[tuple[int, int]]

# Encoded tokens take some hundred bytes each, so that much text is encoded at a time.
_ENCODE_CHARACTERS = 2_000_000
# A paragraph's end; a line's; a sentence's.
_BREAK = re.compile(
    r"(\n\s*\n)|(\n)"
    rf"|({SENTENCE_END})"
)
# Characters that BERT's normaliser and pre-tokeniser set apart from both neighbours: those of Python's white space that
# it removes without a trace (vertical tab, form feed, separators U+001C to U+001F, U+0085) are not among them.
_APART = rf"[ \t\n\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{CJK_ENDS}{BERT_HAN}]"
_IS_APART = re.compile(f"{_APART}|.{_APART}", re.DOTALL)


class Span(NamedTuple):
    """A chunk of a document: characters from `start` up to `end`, and the tokens of that text."""

    start: int
    end: int
    tokens: int


class Boundaries:
    """Where a document may be cut: before which of its tokens a paragraph, line, sentence or word begins."""

    def __init__(self, text: str, offsets: Offsets) -> None:
        self._text, self._offsets = text, offsets
        levels: tuple[list[int], list[int], list[int]] = ([], [], [])
        for found in _BREAK.finditer(text):
            levels[(found.lastindex or 1) - 1].append(bisect_left(offsets, (found.end(),)))
        self._levels = levels

    def last(self, low: int, high: int) -> int:
        """The last token in [low, high] of the best level that has one there."""
        for tokens in self._levels:
            at = bisect_right(tokens, high) - 1
            if at >= 0 and tokens[at] >= low:
                return tokens[at]
        return self.last_word(low, high)

    def last_word(self, low: int, high: int) -> int:
        """The last token in [low, high] that begins a word, else the last that begins a character."""
        word = next((token for token in range(high, low - 1, -1) if self.is_word(token)), None)
        return self._character(low, high) if word is None else word

    def first(self, low: int, high: int) -> int | None:
        """The first token in [low, high] of the best level above words that has one there."""
        for tokens in self._levels:
            at = bisect_left(tokens, low)
            if at < len(tokens) and tokens[at] <= high:
                return tokens[at]
        return None

    def first_word(self, low: int, high: int) -> int:
        """The first token in [low, high] that begins a word, else the first that begins a character, else `high`."""
        word = next((token for token in range(low, high) if self.is_word(token)), None)
        if word is not None:
            return word
        return next((token for token in range(low, high) if self._is_character(token)), high)

    def is_word(self, token: int) -> bool:
        """Whether the texts on both sides of this token's start are cut into tokens as if the other were not there."""
        if token in (0, len(self._offsets)):
            return True
        start = self._offsets[token][0]
        return start == 0 or _IS_APART.match(self._text, start - 1) is not None

    def _is_character(self, token: int) -> bool:
        return token == 0 or self._offsets[token][0] >= self._offsets[token - 1][1]

    def _character(self, low: int, high: int) -> int:
        # Byte-level tokenizers cut a character into several tokens; a chunk ends after all of them, if need be late.
        before = (token for token in range(high, low - 1, -1) if self._is_character(token))
        after = (token for token in range(high + 1, len(self._offsets)) if self._is_character(token))
        return next(before, next(after, len(self._offsets)))


class Splitter:
    """Cuts texts into spans of at most `limit` tokens that share at most a share `overlap` of them with the one before.

    The count of a span is that of its text encoded alone. With BERT's pre-tokeniser it is known from the document's
    tokens where both ends are ends of words; elsewhere the text is encoded again. Only a single token that makes more
    than `limit` tokens when it stands alone, or a character of more tokens, makes a longer span.
    """

    def __init__(self, tokenizer: Tokenizer, limit: int, overlap: float) -> None:
        self.limit = limit
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
        for group in _groups(texts, _ENCODE_CHARACTERS):
            encodings: list[Encoding] = self._tokenizer.encode_batch(group, add_special_tokens=False)
            for text, encoding in zip(group, encodings, strict=True):
                yield self._spans(text, encoding.offsets)

    def _spans(self, text: str, offsets: Offsets) -> list[Span]:
        spans: list[Span] = []
        boundaries = Boundaries(text, offsets) if len(offsets) > self.limit else Boundaries("", offsets)
        begin = end = 0
        while end < len(offsets):
            floor, end = end, self._end(boundaries, begin, end, len(offsets))
            span = self._span(text, offsets, boundaries, begin, end)
            while span.tokens > self.limit and (shorter := _shorter(boundaries, begin, floor, end)):
                # Encoded alone the text has more tokens than in its place; never many, so that this ends soon.
                begin, end = shorter
                span = self._span(text, offsets, boundaries, begin, end)
            _append(spans, span)
            begin = self._begin(boundaries, begin, end)
        return spans

    def _end(self, boundaries: Boundaries, begin: int, reached: int, total: int) -> int:
        """Token at which the chunk from `begin` ends: past `reached`, where the one before ended."""
        left = total - begin
        if left <= self.limit:
            return total
        high = begin + self.limit
        if left + self.overlap <= 2 * self.limit:
            # Two chunks are left: make them about equal rather than leave a scrap.
            high = min(high, begin + (left + self.overlap) // 2 + self.limit // 8)
        return boundaries.last(max(begin + self.limit // 2, reached + 1), high)

    def _begin(self, boundaries: Boundaries, begin: int, end: int) -> int:
        """Token at which the next chunk begins: the overlap is about what is asked for, and less at a sentence."""
        low = max(begin + 1, end - self.overlap)
        if low >= end:
            return end
        middle = end - self.overlap // 2
        best = boundaries.first(low, middle)
        if best is None:
            best = boundaries.first(middle, end - 1)
        return boundaries.first_word(low, end) if best is None else best

    def _span(self, text: str, offsets: Offsets, boundaries: Boundaries, begin: int, end: int) -> Span:
        # Up to the next token's start, so that characters which make no token are in a chunk too.
        start = offsets[begin][0] if begin else 0
        stop = offsets[end][0] if end < len(offsets) else len(text)
        piece = text[start:stop].rstrip()
        stop = start + len(piece)
        piece = piece.lstrip()
        known = self._words_apart and boundaries.is_word(begin) and boundaries.is_word(end)
        count = end - begin if known else len(self._tokenizer.encode(piece, add_special_tokens=False))
        return Span(stop - len(piece), stop, count)


def _shorter(boundaries: Boundaries, begin: int, floor: int, end: int) -> tuple[int, int] | None:
    """A shorter chunk that still goes past `floor`: one that ends earlier, else one that begins later, else none."""
    low = max(begin, floor) + 1
    if low < end and (earlier := boundaries.last_word(low, end - 1)) < end:
        return begin, earlier
    return (begin + 1, end) if begin < floor else None


def _append(spans: list[Span], span: Span) -> None:
    """Add `span`, save where tokens of white space alone made it or the one before it part of the other."""
    if spans and span.end <= spans[-1].end:
        return
    if spans and span.start <= spans[-1].start:
        spans.pop()
    spans.append(span)


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
    return Splitter(load_tokenizer(read_model(model)), settings.tokens, settings.overlap)


@dataclass(frozen=True)
class Chunk(Job):
    """Chunks of documents, without their vectors.

    Attributes:
        settings: Length and overlap.
        model: `embed.model`, whose tokenizer counts the tokens.
        normalise: The form in which the words for full-text search are cut.
    """

    name: ClassVar[str] = "chunk"
    version: ClassVar[int] = 2
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("doc_id", "title", "text", "published_at")
    key: ClassVar[str] = "doc_id"

    settings: ChunkSettings
    model: str = DEFAULT_MODEL
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
        return Outcome(_rows(batch, texts, found, parents, self._form, self.makes.schema), parents, rejects)


def _rows(
    batch: pa.RecordBatch,
    texts: Sequence[str],
    found: Sequence[Sequence[Span]],
    parents: npt.NDArray[np.int64],
    form: SearchForm,
    schema: pa.Schema,
) -> pa.RecordBatch:
    at = pa.array(parents, pa.int64())
    passed = {name: batch.column(name).take(at) for name in ("doc_id", "title", "published_at")}
    bodies = [text[span.start : span.end] for text, spans in zip(texts, found, strict=True) for span in spans]
    numbers = pa.array([n for spans in found for n in range(len(spans))], pa.int64()).cast(pa.string())
    headings = [search_terms(title and form(title)) for title in batch.column("title").to_pylist()]
    terms = [f"{headings[row]} {search_terms(form(body))}".strip() for row, body in zip(parents, bodies, strict=True)]
    columns = {
        **passed,
        "chunk_id": pc.binary_join_element_wise(passed["doc_id"], numbers, pa.scalar("-")),
        "text": pa.array(bodies, pa.string()),
        "start": pa.array([span.start for spans in found for span in spans], pa.int64()),
        "end": pa.array([span.end for spans in found for span in spans], pa.int64()),
        "token_count": pa.array([span.tokens for spans in found for span in spans], pa.int32()),
        "terms": pa.array(terms, pa.string()),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
