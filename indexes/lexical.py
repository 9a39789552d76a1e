"""Full-text search over chunks: LanceDB's native BM25 (k1 = 1.2, b = 0.75) on the column `terms`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from indexes.graph import positions_in
from indexes.tables import FULL_TEXT, ServedTable
from indexes.vectors import Floats, Positions

_THREADS = 4


@dataclass(frozen=True)
class Scored:
    """(question, chunk, score) triples; arrays of one length, sorted by question, best first, ties by chunk."""

    question: Positions
    chunk: Positions
    score: Floats


def bm25(table: ServedTable, terms: Sequence[str], keys: pa.Array, depth: int) -> Scored:
    """The `depth` best chunks of each question by BM25.

    Args:
        table: The chunks of a snapshot.
        terms: One string of search terms per question (`schemas.words.search_terms`); blank finds nothing.
        keys: Sorted chunk ids; positions refer to them.
        depth: Most chunks of a question.
    """
    column = FULL_TEXT[table.table.name]

    def search(words: str) -> pa.Table | None:
        from lancedb.query import MatchQuery

        if not words.strip() or not len(keys):
            return None
        query = table.lance.search(MatchQuery(words, column)).select(["chunk_id", "_score"]).limit(depth)
        return query.to_arrow()

    # LanceDB takes one full-text query at a time; it waits outside the interpreter's lock, so threads help.
    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(search, terms))
    question = [np.full(len(t), n, dtype=np.int64) for n, t in enumerate(found) if t is not None]
    chunk = [positions_in(keys, t["chunk_id"]) for t in found if t is not None]
    score = [t["_score"].to_numpy().astype(np.float32) for t in found if t is not None]
    if not question:
        return Scored(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    return in_order(np.concatenate(question), np.concatenate(chunk), np.concatenate(score))


def in_order(question: Positions, chunk: Positions, score: Floats) -> Scored:
    """The triples sorted by question, then best first, ties by chunk."""
    order = np.lexsort((chunk, -score, question))
    return Scored(question[order], chunk[order], score[order])
