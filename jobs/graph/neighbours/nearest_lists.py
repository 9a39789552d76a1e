"""The running best neighbours of many vectors at once: blocks of pairs are compared, few of them are kept.

A block is compared by codes (`.codes`). Of each vector the `depth` highest lower bounds seen so far are
kept; the least of them is its floor, and only a pair whose upper bound reaches the floor of one of its ends can be
among that end's best. Those pairs, a few per vector, are scored canonically (`indexes.vectors`) in the end.

A block where many pass, a crowd of vectors within the margin of each other, is compared again in float32. Where even
that leaves too many, they are scored canonically at once, and all but the best forgotten: memory stays bounded.

Threads may compare blocks at once: a floor read too early is only too low.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Floats, Neighbours, Positions, similarities
from quern.jobs.graph.neighbours.codes import Block, Codes, Pairs
from quern.jobs.graph.neighbours.ranking import Flags, begins, by_score, order_of, ranks
from quern.jobs.graph.neighbours.threads import parts, run_all, spans

Keep = Callable[[Positions, Positions], Flags]

_FINE = 1 << 29  # Parts of a cosine of 1 that are told apart in order; float32 has 2^24.
_SCORED = 512
_SPAN = 1 << 14  # Pairs of one thread that are scored in the same room.
_OWNERS = 1 << 17  # Whose pairs are scored and sorted at once.
_WAITING = 24  # Pairs per vector that may wait for their canonical score...
_LEAST_WAITING = 1 << 21  # ...or as many in all.


class ReadableVectors(Protocol):
    """Vectors that are read at given positions."""

    def __getitem__(self, positions: Positions) -> Floats:
        """The vectors at `positions`, shape (positions, d)."""


class Waiting(NamedTuple):
    """Pairs that wait for their canonical score, 12 bytes each: int32 positions, and the upper bound of the cosine."""

    owner: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    upper: Floats

    def where(self, kept: Flags) -> Waiting:
        """Those that are `kept`."""
        index = np.flatnonzero(kept)
        return Waiting(self.owner[index], self.target[index], self.upper[index])


class NearestLists:
    """The best `depth` neighbours of n vectors among the pairs that are compared.

    Attributes:
        floor: A lower bound of each vector's `depth`-th best cosine, shape (n,); raise it where more is known.
    """

    def __init__(
        self,
        codes: Codes,
        vectors: ReadableVectors,
        depth: int,
        order: Positions | None = None,
        threads: int = 1,
        *,
        repeated: bool = False,
    ) -> None:
        """The best of none.

        Args:
            codes: Codes of the vectors.
            vectors: The vectors themselves.
            depth: Neighbours wanted of each, at least 1.
            order: Rank of each vector among equal scores; its position if None.
            threads: Parts of the pairs that are scored at once.
            repeated: Whether two vectors may be compared more than once; pairs then raise no floor until they are
                scored, for one that is counted twice would raise it too far. Quicker where floors are high.
        """
        count = len(codes)
        self._codes, self._vectors, self._depth = codes, vectors, depth
        self._order = np.arange(count) if order is None else order
        self._threads, self._repeated = threads, repeated
        self._lower = np.full((count, depth), -np.inf, dtype=np.float32)
        self.floor = np.full(count, -np.inf, dtype=np.float32)
        self._waiting: list[Waiting] = []
        self._count = 0
        self._limit = max(_LEAST_WAITING, _WAITING * count)
        self._prune_at = self._limit // 2
        self._lock = threading.Lock()

    def compare(
        self,
        rows: Positions,
        columns: Positions,
        *,
        both: bool,
        keep: Keep | None = None,
        gaining: Flags | None = None,
    ) -> None:
        """Compare each of `rows` with each of `columns`; no vector with itself.

        Args:
            rows: Positions, ascending.
            columns: Positions, ascending.
            both: Whether columns gain neighbours too. No two vectors may be compared twice, unless `repeated`.
            keep: Which pairs (owner, target) count; all if None.
            gaining: Which columns gain neighbours, a flag for each vector; all if None.
        """
        if len(rows) and len(columns):
            block = Block.of_codes(self._codes, rows, columns)
            self._take(block, rows, columns, keep, None, turned=False)
            if both:
                self._take(block, rows, columns, keep, gaining, turned=True)

    def _take(
        self,
        block: Block,
        rows: Positions,
        columns: Positions,
        keep: Keep | None,
        gaining: Flags | None,
        *,
        turned: bool,
    ) -> None:
        owners, others = (columns, rows) if turned else (rows, columns)
        # So many peaks may pass before a block is compared in float32.
        most = max(1024, block.products.size // 64)
        found: Pairs | None = None
        for close in (False, True):
            if close:
                left, right = (np.asarray(self._vectors[positions]) for positions in (rows, columns))
                block = Block.of_vectors(left, right, rows, columns)
            peaks = block.peaks(turned=turned)
            if close or np.isneginf(self.floor[owners]).any():
                floor = block.floor(peaks, self._depth, turned=turned)
                with self._lock:
                    self.floor[owners] = np.maximum(self.floor[owners], floor)
            found = block.reaching(peaks, self.floor[owners], peaks.size if close else most, turned=turned)
            if found is not None:
                break
        if found is None or len(found.owner) == 0:
            return
        pairs = found._replace(owner=owners[found.owner], target=others[found.target])
        if gaining is not None:
            pairs = pairs.where(gaining[pairs.owner])
        if keep is not None:
            pairs = pairs.where(keep(pairs.owner, pairs.target))
        if not self._repeated:
            self._raise(pairs)
        pairs = pairs.where(pairs.upper >= self.floor[pairs.owner])
        with self._lock:
            self._waiting.append(Waiting(pairs.owner.astype(np.int32), pairs.target.astype(np.int32), pairs.upper))
            self._count += len(pairs.owner)
            if self._count > self._prune_at:
                # Forget pairs below floors that have risen since; settle the rest where they are too many.
                waiting = self._joined()
                if len(waiting.owner) > self._limit:
                    # The best `depth` pairs of each owner, by canonical score.
                    best = self._best_of(waiting)
                    self._lower = best.similarities
                    self.floor = np.maximum(self.floor, self._lower[:, -1])
                    row, rank = np.nonzero(best.positions >= 0)
                    ends = (row.astype(np.int32), best.positions[row, rank].astype(np.int32))
                    waiting = Waiting(*ends, best.similarities[row, rank])
                self._waiting, self._count = [waiting], len(waiting.owner)
                self._prune_at = max(self._limit // 2, 2 * self._count)

    def _raise(self, pairs: Pairs) -> None:
        pairs = pairs.where(pairs.lower > self._lower[pairs.owner, -1])
        if len(pairs.owner) == 0:
            return
        order = np.argsort((pairs.owner << 32) - (pairs.lower * np.float32(_FINE)).astype(np.int64))
        owner, lower = pairs.owner[order], pairs.lower[order]
        rank = ranks(owner)
        first, group = rank < self._depth, np.cumsum(begins(owner)) - 1
        owners = owner[begins(owner)]
        gained = np.full((len(owners), self._depth), -np.inf, dtype=np.float32)
        gained[group[first], rank[first]] = lower[first]
        with self._lock:
            merged = np.sort(np.concatenate([self._lower[owners], gained], axis=1), axis=1)[:, : self._depth - 1 : -1]
            self._lower[owners] = merged
            self.floor[owners] = np.maximum(self.floor[owners], merged[:, -1])

    def _joined(self) -> Waiting:
        none = np.empty(0, dtype=np.int32)
        parts = [Waiting(none, none, np.empty(0, dtype=np.float32))]
        parts += [part.where(part.upper >= self.floor[part.owner]) for part in self._waiting]
        joined = Waiting(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        if not self._repeated:
            return joined
        # Each pair once; of its upper bounds, all of which hold, one.
        pair = joined.owner.astype(np.int64) << 32 | joined.target
        order = order_of(pair)
        index = order[begins(pair[order])]
        joined = Waiting(joined.owner[index], joined.target[index], joined.upper[index])
        # Floors of all vectors, raised by pairs that wait, none of them twice.
        owner = joined.owner.astype(np.int64)
        by = by_score(owner, joined.upper, owner)
        last = by[ranks(owner[by]) == self._depth - 1]
        floor, owners = self.floor.copy(), owner[last]
        # Within an owner all bounds are as wide, so that lower ones are in the order of upper ones.
        floor[owners] = np.maximum(floor[owners], joined.upper[last] - 2 * self._codes.margin[owners])
        return joined.where(joined.upper >= floor[joined.owner])

    def pairs(self) -> tuple[Positions, Positions, Floats]:
        """(owner, target, canonical cosine) of all pairs that may be among the best, the best `depth` surely."""
        return self._scored(self._joined())

    def neighbours(self) -> Neighbours:
        """The best `depth` of each vector, best first."""
        return self._best_of(self._joined())

    def _best_of(self, waiting: Waiting) -> Neighbours:
        """The best `depth` pairs of each owner; some owners at a time, so that few pairs are sorted at once."""
        shape = self._lower.shape
        neighbours = Neighbours(np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf, np.float32))
        for start in range(0, shape[0], _OWNERS):
            mine = waiting.where((waiting.owner >= start) & (waiting.owner < start + _OWNERS))
            owner, target, score = self._scored(mine)
            by = by_score(owner, score, self._order[target])
            rank = ranks(owner[by])
            by, rank = by[rank < self._depth], rank[rank < self._depth]
            neighbours.positions[owner[by], rank] = target[by]
            neighbours.similarities[owner[by], rank] = score[by]
        return neighbours

    def _scored(self, waiting: Waiting) -> tuple[Positions, Positions, Floats]:
        owner, target = waiting.owner.astype(np.int64), waiting.target.astype(np.int64)
        if not self._repeated:
            return owner, target, pair_scores(self._vectors, owner, target, self._threads)
        # After a night a third of them wait in both directions: a pair has one score.
        pair = np.minimum(owner, target) << 32 | np.maximum(owner, target)
        order = order_of(pair)
        first = begins(pair[order])
        once = pair[order[first]]
        scores = np.empty(len(pair), dtype=np.float32)
        scores[order] = pair_scores(self._vectors, once >> 32, once & 0xFFFFFFFF, self._threads)[np.cumsum(first) - 1]
        return owner, target, scores


def pair_scores(vectors: ReadableVectors, owner: Positions, target: Positions, threads: int = 1) -> Floats:
    """Canonical cosines of the pairs, shape (pairs,)."""
    scores = np.empty(len(owner), dtype=np.float32)

    def score(span: slice) -> None:
        room = np.empty((2, _SCORED, np.asarray(vectors[owner[:1]]).shape[1]))
        for start in range(span.start, span.stop, _SCORED):
            part = slice(start, min(start + _SCORED, span.stop))
            scores[part] = similarities(np.asarray(vectors[owner[part]]), np.asarray(vectors[target[part]]), room)

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(score, spans(len(owner), _SPAN, threads)):
            pass
    return scores


ROWS, COLUMNS = 1024, 2048  # Of a block that the processor compares.


def tiles(count: int, width: int) -> Iterator[tuple[Positions, Positions]]:
    """Strips of `count` positions to be compared with each other, each two once, those near the diagonal first."""
    strips = list(parts(np.arange(count), width))
    for apart in range(len(strips)):
        yield from zip(strips, strips[apart:], strict=False)


def join_all(nearest: NearestLists, count: int, threads: int, columns: int = COLUMNS) -> None:
    """Compare all `count` vectors with each other.

    Args:
        nearest: Takes the pairs.
        count: Vectors.
        threads: Blocks compared at once.
        columns: Columns of a block, which has half as many rows. Changes no result.
    """
    run_all(
        (
            partial(nearest.compare, rows, other, both=strip is not other)
            for strip, other in tiles(count, columns)
            for rows in parts(strip, max(1, columns // 2))
        ),
        threads,
    )


def seek_in_all(
    nearest: NearestLists, rows: Positions, count: int, gaining: Flags | None
) -> Iterator[Callable[[], None]]:
    """Comparisons of the vectors at `rows` with all `count`; `gaining`: those that gain neighbours as columns."""
    # Few rows with many columns: fewer blocks.
    for columns in parts(np.arange(count), 4096 * min(8, max(1, ROWS // max(1, len(rows))))):
        for part in parts(rows, ROWS):
            yield partial(nearest.compare, part, columns, both=gaining is not None, gaining=gaining)
