"""Candidate pairs of LSH buckets: the texts that share a band.

A bucket is sorted by its members' next band, so that texts that share two bands stand side by side. All pairs are
taken among its first `whole` members; each later one is paired with the `near` members before it and with
`representatives` of the first ones. A bucket of m members so gives at most whole²/2 + m · (near + representatives)
pairs, not m²/2. A later member that is similar to none of those is found only through another of its bands, where the
order differs. What is a pair depends on the bucket's members alone, not on how the buckets are parted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quern.schemas.settings import DeduplicateSettings

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairRule:
    """Which members of a bucket are compared.

    Attributes:
        whole: Members that are all compared with one another.
        near: Members before a later one that it is compared with.
        representatives: Of the first `whole` members those that every later one is compared with.
    """

    whole: int
    near: int
    representatives: int

    @classmethod
    def of(cls, settings: DeduplicateSettings) -> PairRule:
        """The rule that the settings give."""
        whole = settings.bucket
        return cls(whole, min(settings.neighbours, whole - 1), min(settings.representatives, whole))

    def ranks(self) -> list[int]:
        """Ranks of the representatives, spread evenly over the first members."""
        return [n * self.whole // self.representatives for n in range(self.representatives)]

    def pairs(self, keys: Positions) -> tuple[Positions, Positions]:
        """(earlier, later) positions of the pairs of all buckets, whose members stand side by side in `keys`."""
        starts = _starts(keys)
        return self.between(starts, np.arange(len(keys)) - starts, starts, 0)

    def between(self, starts: Positions, ranks: Positions, heads: Positions, skip: int) -> tuple[Positions, Positions]:
        """Pairs whose later member is at `skip` or after.

        Args:
            starts: For each row the first row of its run of consecutive members, shape (rows,).
            ranks: Its rank in its bucket.
            heads: The row at which the bucket's first member stands.
            skip: Rows that were given before, and serve as earlier members only.
        """
        rows = np.arange(len(ranks))
        fresh = rows >= skip
        earlier: list[Positions] = []
        later: list[Positions] = []
        for distance in range(1, self.whole):
            reach = fresh & (rows - distance >= starts)
            at = np.flatnonzero(reach & (ranks < self.whole) if distance > self.near else reach)
            if not at.size and distance > self.near:
                break
            earlier.append(at - distance)
            later.append(at)
        for rank in self.ranks():
            at = np.flatnonzero(fresh & (ranks >= self.whole) & (ranks - rank > self.near))
            earlier.append(heads[at] + rank)
            later.append(at)
        none = [np.empty(0, dtype=np.int64)]
        return np.concatenate(none + earlier), np.concatenate(none + later)


def _starts(keys: Positions) -> Positions:
    """For each row of `keys` the first of the run of equal rows that it stands in, shape (rows,)."""
    first = np.ones(len(keys), dtype=np.bool_)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=tuple(range(1, keys.ndim)))
    return np.maximum.accumulate(np.where(first, np.arange(len(keys)), 0))


@dataclass(frozen=True)
class Members:
    """Some members of buckets, side by side and in order.

    Attributes:
        keys: Their buckets, shape (members,).
        contents: Their contents, an array of any kind.
        shingles: How many shingles they have.
    """

    keys: Positions
    contents: npt.NDArray[np.generic]
    shingles: Positions

    def take(self, rows: Positions) -> Members:
        """The members at `rows`."""
        return Members(self.keys[rows], self.contents[rows], self.shingles[rows])

    def before(self, other: Members) -> Members:
        """These members, followed by `other`."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Members(*(np.concatenate(pair) for pair in pairs))


class BucketStream:
    """Pairs of buckets that come block by block, as `PairRule.pairs` finds them in all at once.

    Holds `2 * whole` members of the bucket that the last block ended in, however large that is.
    """

    def __init__(self, rule: PairRule) -> None:
        self._rule = rule
        self._kept: Members | None = None
        self._ranks = np.empty(0, dtype=np.int64)

    def push(self, block: Members) -> tuple[Members, Members]:
        """(earlier, later) members of the pairs whose later member is in `block`."""
        whole = self._rule.whole
        joined = self._kept.before(block) if self._kept is not None else block
        ranks = _continued_ranks(joined.keys, self._ranks)
        # Rows of one bucket may lack a middle: members between its first ones and the last of the block before.
        gapless = np.stack([joined.keys, ranks - np.arange(len(ranks))], axis=1)
        earlier, later = self._rule.between(_starts(gapless), ranks, _starts(joined.keys), len(self._ranks))
        if len(ranks):
            last = np.flatnonzero(joined.keys == joined.keys[-1])
            needed = last[(ranks[last] < whole) | (ranks[last] > ranks[-1] - whole)]
            self._kept, self._ranks = joined.take(needed), ranks[needed]
        return joined.take(earlier), joined.take(later)


def _continued_ranks(keys: Positions, known: Positions) -> Positions:
    """Ranks in their buckets of rows of which the first have the ranks `known`, all of one bucket."""
    ranks = np.arange(len(keys)) - _starts(keys)
    if len(known):
        same = np.flatnonzero(keys[len(known) :] == keys[0]) + len(known)
        ranks[: len(known)] = known
        ranks[same] = known[-1] + 1 + np.arange(len(same))
    return ranks
