"""Exact search among vectors: blocked matrix products that keep a running top k.

A score must not depend on the block it was computed in, or the last digit of a float32 product flips a rank.
So the fast product only nominates pairs, those that could still be among the best k within its rounding
error, and each nominated pair is scored by one canonical dot product: float64, in a fixed order, rounded to
float32. Ties go to the lower position, which is the lower key where vectors are sorted by key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.indexes.disk import let_go

Floats = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int64]

# Pairs scored at a time: their vectors stay in the cache.
_PAIRS = 1 << 9
# Queries, and vectors, multiplied at a time; they change no result.
_QUERIES, _VECTORS = 1024, 8192


class Rows(Protocol):
    """Vectors that are read block by block: a matrix, in memory or mapped, or a part of one."""

    def __len__(self) -> int:
        """Number of vectors."""

    def __getitem__(self, part: slice) -> Floats:
        """The vectors of `part`, shape (rows, d)."""


@dataclass(frozen=True)
class Part:
    """Some of the vectors of a matrix, read block by block."""

    vectors: Floats  # The matrix, shape (n, d).
    rows: Positions  # Positions of those that are taken, shape (rows,).

    def __len__(self) -> int:
        """Number of vectors taken."""
        return len(self.rows)

    def __getitem__(self, part: slice) -> Floats:
        """The vectors of `part`, shape (rows, d)."""
        return self.vectors[self.rows[part]]


@dataclass(frozen=True)
class Neighbours:
    """The best k of each query, best first."""

    positions: Positions  # Positions found, shape (queries, k); -1 where there are fewer than k.
    similarities: Floats  # Their canonical cosines, shape (queries, k); -inf where there are fewer than k.


def vector_matrix(column: pa.Array) -> Floats:
    """A column of n vectors as a matrix, shape (n, d)."""
    flat: Floats = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(column), column.type.list_size)


def vector_array(matrix: Floats) -> pa.Array:
    """`matrix`, shape (n, d), as a column of vectors."""
    flat = pa.array(np.ascontiguousarray(matrix, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1])


def similarities(left: Floats, right: Floats, room: npt.NDArray[np.float64] | None = None) -> Floats:
    """Canonical cosine of each row of `left` with the same row of `right`: both (pairs, d), gives (pairs,).

    Args:
        left: Vectors.
        right: Vectors.
        room: Of shape (2, pairs, d) or more pairs, for who has many to score: fresh room takes as long as the sums.
    """
    wide = np.empty((2, *left.shape)) if room is None else room[:, : len(left)]
    wide[0], wide[1] = left, right
    rounded: Floats = np.einsum("ij,ij->i", wide[0], wide[1]).astype(np.float32)
    return rounded


def pair_similarities(queries: Floats, vectors: Floats, query: Positions, vector: Positions) -> Floats:
    """Canonical cosines of the pairs (queries[query[i]], vectors[vector[i]]), shape (pairs,)."""
    scores = np.empty(len(query), dtype=np.float32)
    for start in range(0, len(query), _PAIRS):
        part = slice(start, start + _PAIRS)
        scores[part] = similarities(queries[query[part]], vectors[vector[part]])
    return scores


def nearest(
    queries: Rows,
    vectors: Rows,
    k: int,
    own: Positions | None = None,
    *,
    scan: bool = False,
) -> Neighbours:
    """The `k` nearest of `vectors` to each of `queries` by cosine, exactly.

    Args:
        queries: L2-normalised, shape (queries, d).
        vectors: L2-normalised, shape (n, d); may be memory-mapped.
        k: Most neighbours of a query.
        own: In a self-join, the position of each query among `vectors`, which it is not to find.
        scan: Whether a whole mapped file is read once, and need not stay in memory.

    Memory: about 42 MB for the products of a block, and k positions and cosines per query.
    """
    neighbours = Neighbours(
        np.full((len(queries), k), -1, dtype=np.int64), np.full((len(queries), k), -np.inf, dtype=np.float32)
    )
    for start in range(0, len(queries), _QUERIES):
        stop = min(start + _QUERIES, len(queries))
        self_of = own[start:stop] if own is not None else None
        best = _nearest_of_block(np.asarray(queries[start:stop]), vectors, k, self_of, scan=scan)
        neighbours.positions[start:stop] = best.positions
        neighbours.similarities[start:stop] = best.similarities
    return neighbours


def _nearest_of_block(queries: Floats, vectors: Rows, k: int, own: Positions | None, *, scan: bool) -> Neighbours:
    rounding = np.float32(queries.shape[1] * 2.0**-23)
    best = Neighbours(
        np.full((len(queries), k), -1, dtype=np.int64), np.full((len(queries), k), -np.inf, dtype=np.float32)
    )
    for start in range(0, len(vectors), _VECTORS):
        block = np.asarray(vectors[start : start + _VECTORS])
        products = queries @ block.T
        if own is not None:
            inside = (own >= start) & (own < start + len(block))
            products[np.flatnonzero(inside), own[inside] - start] = -np.inf
        query, column = _nominated(products, best.similarities[:, -1], k, rounding)
        scores = pair_similarities(queries, block, query, column)
        best = merged(best, query, column + start, scores, k)
        if scan and isinstance(vectors, np.memmap):
            let_go(vectors, slice(start, start + len(block)))
    return best


def _nominated(products: Floats, floor: Floats, k: int, rounding: np.float32) -> tuple[Positions, Positions]:
    """(query, column) of the products that may be among the best `k`: those not below `floor` and k others.

    Columns are looked at in groups, every `width`-th together, by their maximum: the k-th best of these is at most the
    k-th best of all, and few groups hold more than one of the best.
    """
    columns = products.shape[1]
    # Columns of a product that are looked at together.
    size = max(1, min(32, columns // (4 * k)))
    width = columns // size
    tops = products[:, :width].copy()
    for start in range(width, columns, width):
        part = products[:, start : start + width]
        np.fmax(tops[:, : part.shape[1]], part, out=tops[:, : part.shape[1]])
    if width > k:
        floor = np.maximum(floor, np.partition(tops, -k, axis=1)[:, -k])
    least = (floor - rounding)[:, None]
    query, group = np.nonzero((tops >= least) & (tops > -np.inf))
    column = group[:, None] + np.arange(0, columns, width)
    inside = column < columns
    candidates = products[query[:, None], np.where(inside, column, 0)]
    row, nth = np.nonzero(inside & (candidates >= least[query]) & (candidates > -np.inf))
    return query[row], column[row, nth]


def merged(best: Neighbours, query: Positions, position: Positions, score: Floats, k: int) -> Neighbours:
    """The best `k` per query of what was known and the new (query, position, score) triples."""
    rows = len(best.positions)
    known = best.positions >= 0
    all_query = np.concatenate([np.nonzero(known)[0], query])
    all_position = np.concatenate([best.positions[known], position])
    all_score = np.concatenate([best.similarities[known], score])
    order = np.lexsort((all_position, -all_score, all_query))
    all_query, all_position, all_score = all_query[order], all_position[order], all_score[order]
    first = np.searchsorted(all_query, np.arange(rows))
    rank = np.arange(len(all_query)) - first[all_query]
    kept = rank < k
    merged = Neighbours(np.full((rows, k), -1, dtype=np.int64), np.full((rows, k), -np.inf, dtype=np.float32))
    merged.positions[all_query[kept], rank[kept]] = all_position[kept]
    merged.similarities[all_query[kept], rank[kept]] = all_score[kept]
    return merged
