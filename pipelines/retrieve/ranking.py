"""Rankings: chunks with scores, the nodes that led to them, and scores of chunks from scores of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Floats, Positions
from quern.schemas.answers import Search

Doubles = npt.NDArray[np.float64]


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


def chunk_scores(reached: Reached, owner: Positions, chunks: int, score: str) -> Scored:
    """One score per (question, chunk) from the similarities of its reached nodes: `mean`, `max` or `sum`."""
    return grouped(reached.question, owner[reached.node], reached.similarity, chunks, score)


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
    kept = np.flatnonzero(ranks(scored, questions) < depth)
    return Scored(scored.question[kept], scored.chunk[kept], scored.score[kept])


def ranks(scored: Scored, questions: int) -> Positions:
    """Rank of each triple within its question, from 0, shape (triples,)."""
    first = np.searchsorted(scored.question, np.arange(questions))
    return np.asarray(np.arange(len(scored.question)) - first[scored.question], dtype=np.int64)
