"""Room for what is made block by block and looked at once: it is asked for once, and used again for each block.

Allocators hand memory of this size back to the system as soon as it is free, in a young process at least: a block of
codes that is gathered into fresh memory then takes three times as long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.blocks import FOLD
from quern.jobs.graph.neighbours.products import Numbers, products


class Room:
    """What one thread makes of a block; the next block takes its place."""

    def __init__(self) -> None:
        """Room for nothing yet."""
        self._held: dict[tuple[str, np.dtype[Any]], npt.NDArray[Any]] = {}

    def of(self, name: str, shape: Sequence[int], kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Room of this name and shape; what was in it, of whatever shape, is lost."""
        key, size = (name, np.dtype(kind)), math.prod(shape)
        held = self._held.get(key)
        if held is None or len(held) < size:
            held = self._held[key] = np.empty(size, dtype=kind)
        return held[:size].reshape(shape)

    def rows(self, name: str, numbers: Numbers, positions: Positions, multiple: int = 1) -> Numbers:
        """The rows of `numbers` at `positions`, and any others up to a multiple of so many."""
        count, width = len(positions), numbers.shape[1]
        room = self.of(name, (count + -count % multiple, width), numbers.dtype)
        # Positions are in range; with its default mode NumPy would buffer the rows once more.
        numbers.take(positions, axis=0, out=room[:count], mode="clip")
        return room

    def products(self, left: Numbers, right: Numbers) -> npt.NDArray[np.int32]:
        """Products of 8-bit codes, and behind them those with the first of `right` again, up to a multiple of `FOLD`.

        362 columns take a third longer to make than 368, and what looks for the highest of rows with gaps between them
        three times as long.
        """
        count = len(right)
        if count % FOLD:
            padded = self.of("padded", (count + -count % FOLD, right.shape[1]), right.dtype)
            padded[:count], padded[count:] = right, right[0]
            right = padded
        return products(left, right, self.of("products", (len(left), len(right)), np.int32))

    def homes(self, block: Numbers, centroids: Numbers) -> Positions:
        """The centroid that is nearest to each code, the first of those that are equally near; shape (block,)."""
        nearest: Positions = self.products(block, centroids).argmax(axis=1)
        return nearest
