"""Vectors as the search reads them: a matrix, memory-mapped perhaps, or some of its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quern.indexes.vectors import Floats, Positions


@dataclass(frozen=True)
class VectorsInOrder:
    """Some vectors of a matrix, memory-mapped perhaps, in an order of their own; read as they are sliced or taken."""

    matrix: Vectors
    order: Positions

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, positions: slice | Positions) -> Floats:
        return np.asarray(self.matrix[self.order[positions]])


Vectors = Floats | VectorsInOrder
