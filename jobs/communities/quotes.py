"""Sentences that nodes quote from their chunks, and which of many to take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from quern.indexes.vectors import Floats, Positions
from quern.jobs.text.stems import content_words
from quern.schemas.words.sentences import sentence_spans

# A table's `lookup`: the name of a column, its values, and the columns of the rows with one of them.
Lookup = Callable[[str, Sequence[str], Sequence[str]], pa.Table]

NEW: Final = 0.3  # Weight of what a sentence repeats, against its worth (`marginal`).
_EARLY: Final = 0.15  # What the first sentence of a document is worth beside its cosine,
_FADES: Final = 400.0  # and the characters after which that is a third.
# Words of content, numbers not counted, below which a text is a heading, a cell or an aside, and is taken last.
_SHORT: Final = 5


def weights(quotes: Sequence[Mapping[str, Any]]) -> Floats:
    """What sentences are worth beside their cosine (MEAD, Radev et al. 2004: position and length), shape (quotes,)."""
    early = [_EARLY * math.exp(-row["start"] / _FADES) for row in quotes]
    short = [sum(map(str.isalpha, content_words(row["text"]))) < _SHORT for row in quotes]
    return np.array(early, dtype=np.float32) - np.array(short, dtype=np.float32)


def quote(chunk: Mapping[str, Any], answer: str) -> dict[str, Any]:
    """The sentence of a chunk that the answer of a node quotes; of a loose quotation the one most like it.

    Args:
        chunk: Its columns `chunk_id`, `doc_id`, `text`, `start`, `title` and `published_at`.
        answer: The answer.

    Returns:
        These columns with `text` of the sentence, and `start` and `end` of that in the document.
    """
    text, at = chunk["text"], chunk["text"].find(answer) if answer else -1
    start, end = at, at + len(answer)
    if at < 0:
        words = content_words(answer)
        spans = {span: content_words(text[slice(*span)]) for span in sentence_spans(text)}
        alike = {span: len(words & own) / max(1, len(words | own)) for span, own in spans.items()}
        start, end = max(alike, key=lambda span: alike[span], default=(0, len(text)))
    return {**chunk, "text": text[start:end], "start": chunk["start"] + start, "end": chunk["start"] + end}


QUOTED: Final = ("chunk_id", "doc_id", "text", "start", "title", "published_at")  # Columns of chunks that are read.


def quotes(keys: Sequence[str], owners: Sequence[str], pairs: Lookup, chunks: Lookup) -> list[dict[str, Any]]:
    """What nodes quote, in their order: rows as of `quote`, each with its `query_id`.

    Args:
        keys: Keys of the nodes.
        owners: Of each the key of its chunk.
        pairs: The table `queries`.
        chunks: The table `chunks`.
    """
    answers = {pair["query_id"]: pair["answer"] for pair in pairs("query_id", keys, ["query_id", "answer"]).to_pylist()}
    rows = {row["chunk_id"]: row for row in chunks("chunk_id", sorted({*owners}), [*QUOTED]).to_pylist()}
    return [{"query_id": k, **quote(rows[of], answers.get(k, ""))} for k, of in zip(keys, owners, strict=True)]


def marginal(worth: Floats, vectors: Floats, weight: float, near: Floats | None = None) -> Positions:
    """The order in which to take sentences: worth much, and little like those before (maximal marginal relevance).

    Args:
        worth: How much each is worth, shape (n,).
        vectors: Their vectors, shape (n, d).
        weight: Of the greatest cosine with one that was taken, against the worth, in [0, 1].
        near: What counts of the cosine of each two, in [0, 1], shape (n, n); None for all of it.

    Returns:
        Positions, shape (n,); of equal ones the first.
    """
    alike = np.round(vectors @ vectors.T, 5) if near is None else np.round(vectors @ vectors.T, 5) * near
    left, most = np.ones(len(worth), dtype=np.bool_), np.zeros(len(worth))
    order = np.empty(len(worth), dtype=np.int64)
    for n in range(len(worth)):
        gain = np.where(left, (1 - weight) * np.round(worth, 5) - weight * most, -np.inf)
        order[n] = best = int(np.argmax(gain))
        left[best] = False
        most = np.maximum(most, alike[best])
    return order
