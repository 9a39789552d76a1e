"""Lists of neighbours that are kept from night to night, and how they change.

A list is longer than what is asked for and says how far it can be trusted: all that are nearer than its cut are in it.

Those of the last night are carried to new arrays, once, and these are changed in place: a copy of all takes longer than
most changes. What is looked for in all of them is told by places counted through all lists, which NumPy finds several
times as fast as rows and ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.neighbours.ranking import Flags, by_score, ranks


@dataclass(frozen=True)
class Pairs:
    """Pairs that a search found, arrays of one length: the number of a list, who it is to have, their cosine."""

    owner: Positions
    target: Positions
    score: Floats


@dataclass(frozen=True)
class NeighbourLists:
    """Neighbours of some vectors."""

    positions: Positions  # Neighbours, nearest first, shape (lists, depth); -1 where there are fewer.
    scores: Floats  # Their canonical cosines, shape (lists, depth); -inf where there are fewer.
    cut: Floats  # All neighbours nearer than this are known, shape (lists,); -inf where all are.

    @classmethod
    def of_none(cls, count: int, depth: int) -> NeighbourLists:
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
        if len(self) == 0:
            return NeighbourLists.of_none(len(source), self.depth)
        # Those of none are taken from the last list, and emptied.
        none = source < 0
        positions = now.take(self.positions.take(source, axis=0, mode="wrap"), mode="wrap")
        scores, cut = self.scores.take(source, axis=0, mode="wrap"), self.cut.take(source, mode="wrap")
        positions[none], cut[none] = -1, -np.inf
        scores.reshape(-1)[np.flatnonzero(positions < 0)] = -np.inf
        return NeighbourLists(positions, scores, cut)

    def pairs(self, chosen: Flags) -> Pairs:
        """The pairs of the `chosen` lists."""
        return self._pairs_of(np.flatnonzero(chosen))

    def _pairs_of(self, rows: Positions) -> Pairs:
        positions, scores = self.positions.take(rows, axis=0), self.scores.take(rows, axis=0)
        at = np.flatnonzero(positions >= 0)
        return Pairs(rows[at // self.depth], positions.reshape(-1)[at], scores.reshape(-1)[at])

    def remove(self, gone: Positions) -> None:
        """Leave gaps for the neighbours at `gone`, places in `positions` counted through all lists."""
        self.positions.reshape(-1)[gone], self.scores.reshape(-1)[gone] = -1, -np.inf

    def empty(self, rows: Positions) -> None:
        """Let those of `rows` have no neighbours yet."""
        self.positions[rows], self.scores[rows], self.cut[rows] = -1, -np.inf, -np.inf

    def merge(self, found: Pairs, changed: Flags) -> None:
        """Take in what was found; those that `changed` are closed up as well."""
        near = found.score >= self.cut[found.owner]
        gaining = np.zeros(len(self), dtype=np.bool_)
        gaining[found.owner[near]] = True
        had = self.pairs(gaining)
        both = Pairs(
            np.concatenate([had.owner, found.owner[near]]),
            np.concatenate([had.target, found.target[near]]),
            np.concatenate([had.score, found.score[near]]),
        )
        # Close the gaps in the lists of `rows`.
        rows = np.flatnonzero(changed & ~gaining)
        pairs = self._pairs_of(rows)
        self._write(pairs, ranks(pairs.owner), rows)
        self._fill(both, np.flatnonzero(gaining))

    def replace(self, found: Pairs, rows: Positions) -> None:
        """Make those of `rows` of what was found alone."""
        self.cut[rows] = -np.inf
        self._fill(found, rows)

    def _fill(self, pairs: Pairs, rows: Positions) -> None:
        """Make the lists of `rows` of the best of `pairs`, all of them theirs."""
        by = by_score(pairs.owner, pairs.score, pairs.target)
        owner, target = pairs.owner[by], pairs.target[by]
        # Two may meet in another partition than last night: they are in the list, and are found.
        by = by[np.append(True, (owner[1:] != owner[:-1]) | (target[1:] != target[:-1]))[: len(by)]]
        rank = ranks(pairs.owner[by])
        best = by[rank < self.depth]
        self._write(Pairs(pairs.owner[best], pairs.target[best], pairs.score[best]), rank[rank < self.depth], rows)

    def _write(self, pairs: Pairs, rank: Positions, rows: Positions) -> None:
        """Let the lists of `rows` have these pairs alone, each in its place."""
        self.positions[rows], self.scores[rows] = -1, -np.inf
        place = pairs.owner * self.depth + rank
        self.positions.reshape(-1)[place], self.scores.reshape(-1)[place] = pairs.target, pairs.score
        full = rows[self.positions[rows, -1] >= 0]
        self.cut[full] = self.scores[full, -1]

    @property
    def gaps(self) -> Flags:
        """Which have fewer neighbours than they may."""
        missing = np.zeros(len(self), dtype=np.bool_)
        missing[np.flatnonzero(self.positions < 0) // self.depth] = True
        return missing

    def too_short(self, k: int) -> Positions:
        """Those that are not known to have the best `k`: vectors at the cut may be missing."""
        # Nearly all have them first of all, and are told by few looks.
        doubtful = np.zeros(len(self), dtype=np.bool_)
        for rank in range(min(k, self.depth)):
            doubtful |= self.scores[:, rank] <= self.cut
        rows = np.flatnonzero(doubtful & (self.cut > -np.inf))
        known: Flags = (self.scores[rows] > self.cut[rows, None]).sum(axis=1) >= k
        return rows[~known]

    def sort_ties(self) -> None:
        """Put equal scores in the order of tonight's keys, which may not be that of the last night."""
        same = np.flatnonzero((self.scores[:, 1:] == self.scores[:, :-1]) & (self.positions[:, 1:] >= 0))
        if len(same) == 0:
            return
        chosen = np.zeros(len(self), dtype=np.bool_)
        chosen[same // (self.depth - 1)] = True
        self._fill(self.pairs(chosen), np.flatnonzero(chosen))
