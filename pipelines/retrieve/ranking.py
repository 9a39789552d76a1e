"""Rankings: chunks with scores, the nodes that led to them, scores of chunks from those of nodes, and fusions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Floats, Positions
from quern.schemas.answers import Search

Doubles = npt.NDArray[np.float64]
Part = tuple[Scored, float | Doubles]  # A ranking, and its weight for all questions or for each.


@dataclass(frozen=True)
class Reached:
    """The nodes that a recipe reached, sorted by question and node; arrays of one length."""

    question: Positions  # Position of the question.
    node: Positions  # Position of the node.
    hop: npt.NDArray[np.int32]  # 0 where the question matched the node, else hops along edges.
    similarity: Floats  # Cosine of question and node.


@dataclass(frozen=True)
class Ranking:
    """Chunks per question, best first, and how they were found."""

    chunks: Scored  # The chunks.
    reached: Reached | None = None  # The nodes that led there, where nodes were used.
    searches: Sequence[Search] | None = None  # Of each question the rounds, where there were rounds.


def grouped(question: Positions, column: Positions, values: Floats | Doubles, columns: int, score: str) -> Scored:
    """One score per (question, column) from all `values` of that pair: their `mean`, `max` or `sum`."""
    width = max(columns, 1)
    distinct, segment = np.unique(question * width + column, return_inverse=True)
    numbers = values.astype(np.float64)
    if score == "max":
        total = np.full(len(distinct), -np.inf)
        np.maximum.at(total, segment, numbers)
    else:
        total = np.bincount(segment, weights=numbers, minlength=len(distinct))
        if score == "mean":
            total = total / np.bincount(segment, minlength=len(distinct))
    return in_order(distinct // width, distinct % width, total.astype(np.float32))


def cut(scored: Scored, questions: int, depth: int) -> Scored:
    """The best `depth` chunks of each question."""
    rows = np.flatnonzero(ranks(scored, questions) < depth)
    return Scored(scored.question[rows], scored.chunk[rows], scored.score[rows])


def ranks(scored: Scored, questions: int) -> Positions:
    """Rank of each triple within its question, from 0, shape (triples,)."""
    first = np.searchsorted(scored.question, np.arange(questions))
    return np.asarray(np.arange(len(scored.question)) - first[scored.question], dtype=np.int64)


def weighted(
    parts: Sequence[Part], questions: int, chunks: int, documents: Positions | None = None, lift: float = 0.0
) -> Scored:
    """Weighted sum of the parts' scores as they are, chunk by chunk and over documents.

    A chunk that a part did not find gets the least score that the part gave for that question, 0 if it gave none. Of
    the result a share `lift` is the document's: the sum of the best score that each part gave to any of its chunks. So
    a document is found whose title stands in one chunk and whose evidence in another.

    Args:
        parts: Rankings with their weights, of all questions or each; their scores must compare over questions (cosines,
            shares of the best).
        questions: Number of questions.
        chunks: Number of chunks.
        documents: Position of each chunk's document, shape (chunks,); needed with a `lift`.
        lift: Share of the document in a chunk's score, in [0, 1].
    """
    width = max(chunks, 1)
    used = [(s, w) for s, w in parts if np.any(np.asarray(w) > 0)]
    pairs = np.unique(np.concatenate([s.question * width + s.chunk for s, _ in used] or [np.empty(0, np.int64)]))
    question, chunk = pairs // width, pairs % width
    document = chunk if documents is None else documents[chunk]
    _, group = np.unique(question * (int(document.max(initial=0)) + 1) + document, return_inverse=True)
    total = np.zeros(len(pairs))
    for scored, weight in used:
        scores = scored.score.astype(np.float64)
        least = np.full(questions, np.inf)
        np.minimum.at(least, scored.question, scores)
        least[np.isinf(least)] = 0.0
        values = least[question]
        values[np.searchsorted(pairs, scored.question * width + scored.chunk)] = scores
        best = np.full(int(group.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(best, group, values)
        own = weight if isinstance(weight, int | float) else weight[question]
        total += own * ((1.0 - lift) * values + lift * best[group])
    return in_order(question, chunk, total.astype(np.float32))


def shares(scored: Scored, questions: int) -> Scored:
    """`scored` with each score as a share of the best of its question: 1 for the best.

    BM25 has no upper bound of its own that would make questions comparable (Bruch, Gai and Ingber 2023, section 4,
    compare such normalisations).
    """
    best = np.full(questions, np.finfo(np.float32).tiny)
    np.maximum.at(best, scored.question, scored.score)
    return Scored(scored.question, scored.chunk, (scored.score / best[scored.question]).astype(np.float32))
