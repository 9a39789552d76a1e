"""Fusions: one ranking of several, by weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Positions
from quern.pipelines.retrieve.ranking import grouped, ranks

Doubles = npt.NDArray[np.float64]
Part = tuple[Scored, float | Doubles]


def added(parts: Sequence[Part], questions: int, chunks: int) -> Scored:
    """Weighted sum of the parts' scores as they are.

    A chunk that a part did not find gets the least score that the part gave for that question, 0 if it gave none.
    """
    width = max(chunks, 1)
    pairs, columns = _columns(parts, questions, width)
    total = sum((_of(weight, pairs // width) * values for values, weight in columns), np.zeros(len(pairs)))
    return in_order(pairs // width, pairs % width, np.asarray(total).astype(np.float32))


def weighted(parts: Sequence[Part], questions: int, chunks: int, documents: Positions, lift: float) -> Scored:
    """Weighted sum of the parts' scores as they are, chunk by chunk and over documents.

    A chunk that a part did not find gets the least score that the part gave for that question. Of the result a share
    `lift` is the document's: the sum of the best score that each part gave to any of its chunks. So a document is found
    whose title stands in one chunk and whose evidence in another.

    Args:
        parts: Rankings with their weights, of all questions or each; their scores must compare over questions (cosines,
            shares of the best).
        questions: Number of questions.
        chunks: Number of chunks.
        documents: Position of each chunk's document, shape (chunks,).
        lift: Share of the document in a chunk's score, in [0, 1].
    """
    width = max(chunks, 1)
    pairs, columns = _columns(parts, questions, width)
    question, chunk = pairs // width, pairs % width
    document = question * (int(documents.max(initial=0)) + 1) + documents[chunk]
    _, group = np.unique(document, return_inverse=True)
    total = np.zeros(len(pairs))
    for values, weight in columns:
        best = np.full(int(group.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(best, group, values)
        total += _of(weight, question) * ((1.0 - lift) * values + lift * best[group])
    return in_order(question, chunk, total.astype(np.float32))


def shares(scored: Scored, questions: int) -> Scored:
    """`scored` with each score as a share of the best of its question: 1 for the best.

    BM25 has no upper bound of its own that would make questions comparable (Bruch, Gai and Ingber 2023, section 4,
    compare such normalisations).
    """
    best = np.full(questions, np.finfo(np.float32).tiny)
    np.maximum.at(best, scored.question, scored.score)
    return Scored(scored.question, scored.chunk, (scored.score / best[scored.question]).astype(np.float32))


def reciprocal_ranks(parts: Sequence[Scored], questions: int, chunks: int, constant: int = 60) -> Scored:
    """Sum of 1 / (constant + rank) over the parts, ranks from 1 (Cormack, Clarke and Büttcher 2009)."""
    shared = [(s.question, s.chunk, 1 / (constant + 1 + ranks(s, questions))) for s in parts]
    question, chunk, score = (np.concatenate(column) for column in zip(*shared, strict=True))
    return grouped(question, chunk, score, chunks, "sum")


def _columns(
    parts: Sequence[Part], questions: int, width: int
) -> tuple[Positions, list[tuple[Doubles, float | Doubles]]]:
    """All (question, chunk) pairs of parts with a weight, and each part's scores of them.

    A pair that a part lacks gets the least score of its question in that part.
    """
    used = [(s, w) for s, w in parts if np.any(np.asarray(w) > 0)]
    pairs = np.unique(np.concatenate([s.question * width + s.chunk for s, _ in used] or [np.empty(0, np.int64)]))
    columns = []
    for scored, weight in used:
        scores = scored.score.astype(np.float64)
        floor = np.full(questions, np.inf)
        np.minimum.at(floor, scored.question, scores)
        floor[np.isinf(floor)] = 0.0
        values = floor[pairs // width]
        values[np.searchsorted(pairs, scored.question * width + scored.chunk)] = scores
        columns.append((values, weight))
    return pairs, columns


def _of(weight: float | Doubles, question: Positions) -> float | Doubles:
    return weight if isinstance(weight, int | float) else weight[question]
