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
import torch

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.blocks import FOLD
from quern.jobs.graph.neighbours.codes import products


class Room:
    """What one thread makes of a block; the next block takes its place."""

    def __init__(self) -> None:
        """Room for nothing yet."""
        self._held: dict[str, npt.NDArray[Any]] = {}

    def of(self, name: str, shape: Sequence[int], kind: torch.dtype) -> torch.Tensor:
        """Room of this name and shape; what was in it, of whatever kind and shape, is lost."""
        key, size = f"{name} {kind}", math.prod(shape)
        held = self._held.get(key)
        if held is None or len(held) < size:
            held = self._held[key] = torch.empty(size, dtype=kind).numpy()
        # A view of torch lets other threads go first, one of NumPy does not: where steps are short they would wait.
        return torch.from_numpy(held[:size].reshape(shape))

    def rows(self, name: str, numbers: torch.Tensor, positions: torch.Tensor, multiple: int = 1) -> torch.Tensor:
        """The rows of `numbers` at `positions`, and any others up to a multiple of so many."""
        count, width = len(positions), numbers.shape[1]
        room = self.of(name, (count + -count % multiple, width), numbers.dtype)
        torch.index_select(numbers, 0, positions, out=self.of(name, (count, width), numbers.dtype))
        return room

    def products(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Products of 8-bit codes, as `codes.products` makes them, and behind them those with the first of `right`
        again, up to a multiple of `FOLD` columns.

        362 columns take a third longer to make than 368, and what looks for the highest of rows with gaps between them
        three times as long.
        """
        count = len(right)
        if count % FOLD:
            padded = self.of("padded", (count + -count % FOLD, right.shape[1]), right.dtype)
            padded[:count], padded[count:] = right, right[0]
            right = padded
        return products(left, right, self.of("products", (len(left), len(right)), torch.int32))

    def homes(self, block: torch.Tensor, centroids: torch.Tensor) -> Positions:
        """The centroid that is nearest to each code, the first of those that are equally near; shape (block,)."""
        nearest: Positions = np.asarray(self.products(block, centroids).numpy().argmax(1))
        return nearest
