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
    """Which members of a bucket are compared."""

    whole: int  # Members that are all compared with one another.
    near: int  # Members before a later one that it is compared with.
    representatives: int  # Of the first `whole` members those that every later one is compared with.

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
        rows = np.arange(len(keys))
        # For each row of `keys` the first of the run of equal rows that it stands in, shape (rows,).
        first = np.ones(len(keys), dtype=np.bool_)
        first[1:] = (keys[1:] != keys[:-1]).any(axis=tuple(range(1, keys.ndim)))
        heads = np.maximum.accumulate(np.where(first, np.arange(len(keys)), 0))
        ranks = rows - heads
        earlier: list[Positions] = []
        later: list[Positions] = []
        for distance in range(1, self.whole):
            reach = rows - distance >= heads
            at = np.flatnonzero(reach & (ranks < self.whole) if distance > self.near else reach)
            if not at.size and distance > self.near:
                break
            earlier.append(at - distance)
            later.append(at)
        for rank in self.ranks():
            at = np.flatnonzero((ranks >= self.whole) & (ranks - rank > self.near))
            earlier.append(heads[at] + rank)
            later.append(at)
        none = [np.empty(0, dtype=np.int64)]
        return np.concatenate(none + earlier), np.concatenate(none + later)
