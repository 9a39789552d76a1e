"""The exact self-join: each vector's best neighbours among all, from half of all products.

The join is symmetric, so a block of pairs serves its rows and its columns. Blocks near the diagonal come first: where
vectors that lie near each other are near in order too (`.partitions` sorts them so), floors are high soon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.nearest_lists import NearestLists
from quern.jobs.graph.neighbours.ranking import Flags
from quern.jobs.graph.neighbours.threads import parts, run_all

ROWS, COLUMNS = 1024, 2048  # Of a block that the processor compares.
_SOUGHT = 4096


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
    for columns in parts(np.arange(count), _SOUGHT * min(8, max(1, ROWS // max(1, len(rows))))):
        for part in parts(rows, ROWS):
            yield partial(nearest.compare, part, columns, both=gaining is not None, gaining=gaining)
