"""Lists of neighbours that are kept from night to night, and how they change.

A list is longer than what is asked for and says how far it can be trusted: all that are nearer than its cut are in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.neighbours.ranking import by_score, ranks

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pairs:
    """Pairs that a search found, arrays of one length: the number of a list, who it is to have, their cosine."""

    owner: Positions
    target: Positions
    score: Floats


@dataclass(frozen=True)
class NeighbourLists:
    """Neighbours of some vectors.

    Attributes:
        positions: Neighbours, nearest first, shape (lists, depth); -1 where there are fewer.
        scores: Their canonical cosines, shape (lists, depth); -inf where there are fewer.
        cut: All neighbours nearer than this are known, shape (lists,); -inf where all are.
    """

    positions: Positions
    scores: Floats
    cut: Floats

    @classmethod
    def empty(cls, count: int, depth: int) -> NeighbourLists:
        """Of vectors that have no neighbours at all."""
        shape = (count, depth)
        scores = np.full(shape, -np.inf, np.float32)
        return cls(np.full(shape, -1, np.int64), scores, np.full(count, -np.inf, np.float32))

    @classmethod
    def of(cls, positions: Positions, scores: Floats) -> NeighbourLists:
        """Of all neighbours the best; further ones there may be where a list is full."""
        return cls(positions, scores, np.where(positions[:, -1] >= 0, scores[:, -1], np.float32(-np.inf)))

    def __len__(self) -> int:
        return len(self.cut)

    @property
    def depth(self) -> int:
        """Most neighbours of a list."""
        return int(self.positions.shape[1])

    def carried(self, source: Positions, now: Positions) -> NeighbourLists:
        """Tonight's lists: of those at `source` (-1: none) what is left of them.

        Args:
            source: Which list each is to be.
            now: Where each vector is tonight, -1 where it went; one entry more than there were vectors, -1.
        """
        made, old = NeighbourLists.empty(len(source), self.depth), source >= 0
        kept = now[self.positions[source[old]]]
        made.positions[old] = kept
        made.scores[old] = np.where(kept >= 0, self.scores[source[old]], -np.inf)
        made.cut[old] = self.cut[source[old]]
        return made

    def pairs(self, chosen: Flags) -> Pairs:
        """The pairs of the `chosen` lists."""
        rows = np.flatnonzero(chosen)
        row, rank = np.nonzero(self.positions[rows] >= 0)
        row = rows[row]
        return Pairs(row, self.positions[row, rank], self.scores[row, rank])

    def without(self, gone: Flags) -> NeighbourLists:
        """The same without the neighbours that are `gone`, flags of the shape of `positions`; with gaps."""
        positions = np.where(gone, -1, self.positions)
        return NeighbourLists(positions, np.where(gone, np.float32(-np.inf), self.scores), self.cut)

    def emptied(self, rows: Flags) -> NeighbourLists:
        """The same where those of `rows` have no neighbours yet."""
        positions, scores, cut = self.positions.copy(), self.scores.copy(), self.cut.copy()
        positions[rows], scores[rows], cut[rows] = -1, -np.inf, -np.inf
        return NeighbourLists(positions, scores, cut)

    def merged(self, found: Pairs, changed: Flags) -> NeighbourLists:
        """The same with what was found; those that `changed` are closed up as well."""
        near = found.score >= self.cut[found.owner]
        changed = changed.copy()
        changed[found.owner[near]] = True
        had = self.pairs(changed)
        both = Pairs(
            np.concatenate([had.owner, found.owner[near]]),
            np.concatenate([had.target, found.target[near]]),
            np.concatenate([had.score, found.score[near]]),
        )
        return self._filled(both, np.flatnonzero(changed), self.cut)

    def replaced(self, found: Pairs, rows: Positions) -> NeighbourLists:
        """The same with those of `rows` made of what was found alone."""
        cut = self.cut.copy()
        cut[rows] = -np.inf
        return self._filled(found, rows, cut)

    def _filled(self, pairs: Pairs, rows: Positions, cut: Floats) -> NeighbourLists:
        positions, scores, cut = self.positions.copy(), self.scores.copy(), cut.copy()
        positions[rows], scores[rows] = -1, -np.inf
        by = by_score(pairs.owner, pairs.score, pairs.target)
        owner, target = pairs.owner[by], pairs.target[by]
        # Two may meet in another partition than last night: they are in the list, and are found.
        by = by[np.append(True, (owner[1:] != owner[:-1]) | (target[1:] != target[:-1]))[: len(by)]]
        rank = ranks(pairs.owner[by])
        best = by[rank < self.depth]
        at = pairs.owner[best], rank[rank < self.depth]
        positions[at], scores[at] = pairs.target[best], pairs.score[best]
        full = rows[positions[rows, -1] >= 0]
        cut[full] = scores[full, -1]
        return NeighbourLists(positions, scores, cut)

    @property
    def gaps(self) -> Flags:
        """Which have fewer neighbours than they may."""
        missing: Flags = np.asarray((self.positions < 0).any(axis=1))
        return missing

    def too_short(self, k: int) -> Positions:
        """Those that are not known to have the best `k`: vectors at the cut may be missing."""
        known: Flags = (self.scores > self.cut[:, None]).sum(axis=1) >= k
        uncertain: Flags = ~known & (self.cut > -np.inf)
        return np.flatnonzero(uncertain)

    def ties_by_key(self) -> NeighbourLists:
        """The same with equal scores in the order of tonight's keys, which may not be that of the last night."""
        same = (self.scores[:, 1:] == self.scores[:, :-1]) & (self.positions[:, 1:] >= 0)
        chosen: Flags = np.asarray(same.any(axis=1))
        if not chosen.any():
            return self
        return self._filled(self.pairs(chosen), np.flatnonzero(chosen), self.cut)
