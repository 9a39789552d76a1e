"""How neighbours are to be found, and what was found: the border between the search and the job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quern.indexes.vectors import Floats, Positions


@dataclass(frozen=True)
class Plan:
    """How neighbours are to be found."""

    k: int  # Neighbours asked for.
    spare: int = 4  # Further ones kept; changes no result.
    exact_below: int = 200_000  # Fewer vectors than this are compared all with all.
    recall: float = 0.99  # Share of true neighbours that partitions are to find.
    partitions: int = 0  # Their number; 0 for one that suits.
    sample: int = 1000  # Vectors on which recall is measured, and as many that decide how far vectors visit partitions.
    threads: int = 1  # Blocks compared at once; changes no result.

    @property
    def depth(self) -> int:
        """Neighbours kept of each vector: one more than are wanted, or the last one's ties would be unknown."""
        return self.k + max(1, self.spare)


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
