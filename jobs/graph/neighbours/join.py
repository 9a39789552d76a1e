"""The exact self-join: each vector's best neighbours among all, from half of all products.

The join is symmetric, so a block of pairs serves its rows and its columns. Blocks near the diagonal come first: where
vectors that lie near each other are near in order too (`.partitions` sorts them so), floors are high soon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch

from quern.jobs.graph.neighbours.nearest_lists import NearestLists
from quern.jobs.graph.neighbours.threads import run_all

_ROWS, _COLUMNS = 1024, 2048
_SOUGHT = 4096
_GPU_ROWS, _GPU_COLUMNS = 8192, 65536


def join_all(nearest: NearestLists, count: int, threads: int, columns: int = 0) -> None:
    """Compare all `count` vectors with each other.

    Args:
        nearest: Takes the pairs.
        count: Vectors.
        threads: Blocks compared at once.
        columns: Columns of a block; 0 for what fits the device. Changes no result.
    """
    gpu = nearest.floor.is_cuda
    width = columns or (_GPU_COLUMNS if gpu else _COLUMNS)
    height = max(1, width // (_GPU_COLUMNS // _GPU_ROWS if gpu else _COLUMNS // _ROWS))
    positions = torch.arange(count, device=nearest.floor.device)
    steps: list[Callable[[], None]] = []
    strips = -(-count // width)
    for apart in range(strips):
        for strip in range(strips - apart):
            rows = positions[strip * width : (strip + 1) * width]
            other = positions[(strip + apart) * width : (strip + apart + 1) * width]
            steps += [partial(nearest.compare, part, other, both=apart > 0) for part in rows.split(height)]
    run_all(steps, 1 if gpu else threads)


def seek_in_all(
    nearest: NearestLists, rows: torch.Tensor, count: int, gaining: torch.Tensor | None
) -> Iterator[Callable[[], None]]:
    """Comparisons of the vectors at `rows` with all `count`; `gaining`: those that gain neighbours as columns."""
    positions = torch.arange(count, device=nearest.floor.device)
    # Few rows with many columns: fewer blocks.
    for columns in positions.split(_SOUGHT * min(8, max(1, _ROWS // max(1, len(rows))))):
        for part in rows.split(_ROWS):
            yield partial(nearest.compare, part, columns, both=gaining is not None, gaining=gaining)
