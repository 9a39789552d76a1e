"""What a second document holds of a question beside the first: the words that are left over."""

from __future__ import annotations

import numpy as np

from quern.indexes.lexical import ranges
from quern.indexes.vectors import Positions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Doubles


def left_over(batch: Batch, question: Positions, source: Positions, target: Positions) -> Doubles:
    """Share of the question's words, weighted by idf, that `target` has of those that `source` lacks; in [0, 1].

    A question of two hops has words for both. Those that the first document lacks are for the second: where nothing is
    left over nothing is to be looked for, and the share is 0.

    Args:
        batch: The questions.
        question: Position of the question, shape (pairs,).
        source: Chunk that was found first, shape (pairs,).
        target: Chunk that it leads to, shape (pairs,).
    """
    lexical, asked = batch.graph.lexical, batch.asked
    chunks = len(batch.graph.chunks.keys)
    distinct, of_pair = np.unique((question * chunks + source) * chunks + target, return_inverse=True)
    asker, first, second = distinct // chunks // chunks, distinct // chunks % chunks, distinct % chunks
    row, place = ranges(asked.indptr[asker], asked.indptr[asker + 1])
    term = asked.indices[place].astype(np.int64)
    lacking = ~lexical.contains(term, first[row])
    row, term = row[lacking], term[lacking]
    weight = lexical.idf[term].astype(np.float64)
    left = np.bincount(row, weight, minlength=len(distinct))
    held = np.bincount(row, weight * lexical.contains(term, second[row]), minlength=len(distinct))
    return np.asarray((held / np.where(left > 0, left, 1.0))[of_pair], dtype=np.float64)
