"""The index of a memo: where each input's result stands, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quern.indexes.memo_parts import BLOCK_ROWS
from quern.schemas.digests import Fingerprints


@dataclass(frozen=True)
class MemoIndex:
    """Where each input's result stands; arrays of one length, sorted by `high`, the best result first."""

    high: npt.NDArray[np.uint64]
    low: npt.NDArray[np.uint64]
    final: npt.NDArray[np.bool_]
    part: npt.NDArray[np.int32]
    row: npt.NDArray[np.int64]

    def beside(self, damaged: Sequence[tuple[int, int]]) -> npt.NDArray[np.bool_]:
        """Which results are not in these (part, block)."""
        stays = np.ones(len(self.high), dtype=np.bool_)
        for part, block in damaged:
            stays &= (self.part != part) | (self.row // BLOCK_ROWS != block)
        return stays

    def only(self, stays: npt.NDArray[np.bool_]) -> MemoIndex:
        """The index of these results alone."""
        return MemoIndex(self.high[stays], self.low[stays], self.final[stays], self.part[stays], self.row[stays])

    def find(self, prints: Fingerprints) -> npt.NDArray[np.int64]:
        """Position of each fingerprint in the index, -1 where it is absent; shape (len(prints),)."""
        high, low = halves(prints)
        at = np.searchsorted(self.high, high)
        found = np.full(len(prints), -1, dtype=np.int64)
        open_ = np.arange(len(prints))
        while open_.size:
            inside = at[open_] < len(self.high)
            open_ = open_[inside]
            open_ = open_[self.high[at[open_]] == high[open_]]
            same = self.low[at[open_]] == low[open_]
            found[open_[same]] = at[open_[same]]
            open_ = open_[~same]
            at[open_] += 1
        return found


def halves(prints: Fingerprints) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """The two halves of fingerprints as numbers, each of shape (len(prints),)."""
    pairs = np.ascontiguousarray(prints).view(np.uint64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@dataclass(frozen=True)
class Results:
    """Where each result of a memo stands; arrays of one length, sorted by fingerprint.

    Attributes:
        parts: The files.
        heads: First 8 bytes of the fingerprint.
        found: Whether it is the one that a lookup finds, and needs no other try.
        part: Position among `parts`.
        row: Row in the part.
    """

    parts: list[Path]
    heads: npt.NDArray[np.uint64]
    found: npt.NDArray[np.bool_]
    part: npt.NDArray[np.int32]
    row: npt.NDArray[np.int64]
