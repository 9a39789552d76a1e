"""Exact neighbours on a GPU: PyTorch nominates, the processor scores canonically.

Products in float32 are off by a few 1e-7. A vector's list is right where its last canonical cosine is above those of
all that were not nominated by more than that; else more are nominated for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from quern.indexes.vectors import Floats, Positions
from quern.jobs.core.work import EngineError
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists
from quern.jobs.graph.neighbours.nearest_lists import best_of_owners, pair_scores
from quern.jobs.graph.neighbours.plan import Vectors
from quern.jobs.graph.neighbours.threads import parts

# Of a block of products, in float32: 2 GB beside the vectors, of which there are 1.5 GB for a million of 384 numbers.
_ROWS, _COLUMNS = 4096, 1 << 17
_NOMINATED: Final = 1 << 20  # Pairs scored together: where many are wanted, fewer rows are taken at a time.
_SPARE: Final = 8  # Vectors nominated beside those wanted, at first.
# Largest error of a product of unit vectors in float32, with room: of 384 random numbers it is below a tenth of it.
_ERROR: Final = 1e-5


def exact_neighbours(vectors: Vectors, depth: int, device: str, threads: int = 1) -> NeighbourLists:
    """The `depth` nearest neighbours of each of the L2-normalised `vectors`, equal cosines in the order of positions.

    Args:
        vectors: All different, shape (n, d); read in blocks.
        depth: Neighbours wanted of each.
        device: As PyTorch names it.
        threads: Pairs scored at once.
    """
    import torch

    count, width = len(vectors), np.asarray(vectors[np.arange(min(1, len(vectors)))]).shape[1]
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        held = torch.empty((count, width), device=device)
        for at in parts(np.arange(count), _COLUMNS):
            held[at[0] : at[-1] + 1] = torch.from_numpy(np.ascontiguousarray(vectors[at], dtype=np.float32))
    except torch.OutOfMemoryError as error:
        raise EngineError(
            f"neighbours.device={device}: {count:,} vectors do not fit its memory; cpu compares them by partitions"
        ) from error
    positions = np.full((count, depth), -1, dtype=np.int64)
    scores = np.full((count, depth), -np.inf, dtype=np.float32)
    rows = order = np.arange(count)
    most = min(count - 1, depth + _SPARE)
    while len(rows) and most > 0:
        again: list[Positions] = []
        for part, nominated, limit in _nominations(held, rows, most):
            owner, target = np.repeat(part, nominated.shape[1]), nominated.reshape(-1)
            found = best_of_owners(owner, target, pair_scores(vectors, owner, target, threads), order, depth)
            positions[found[0], found[3]], scores[found[0], found[3]] = found[1], found[2]
            wanted = min(depth, count - 1) - 1
            again.append(part[scores[part, wanted] <= limit + _ERROR] if most < count - 1 else part[:0])
        rows, most = np.concatenate(again), min(count - 1, 4 * most)
    return NeighbourLists.of(positions, scores)


def _nominations(held: Any, rows: Positions, most: int) -> Iterator[tuple[Positions, Positions, Floats]]:
    """Of some rows at a time: the `most` likeliest neighbours, and a bound of the cosines of all others."""
    import torch

    for part in parts(rows, min(_ROWS, max(1, _NOMINATED // most))):
        at = torch.from_numpy(part).to(held.device)
        mine = held[at]
        best = torch.full((len(part), 0), 0.0, device=held.device)
        who = torch.full((len(part), 0), 0, dtype=torch.int64, device=held.device)
        for first in range(0, len(held), _COLUMNS):
            made = mine @ held[first : first + _COLUMNS].T
            own = torch.nonzero((at >= first) & (at < first + made.shape[1]))[:, 0]
            made[own, at[own] - first] = -torch.inf
            score, column = made.topk(min(most, made.shape[1]), dim=1)
            best, kept = torch.cat([best, score], dim=1).topk(min(most, best.shape[1] + score.shape[1]), dim=1)
            who = torch.cat([who, column + first], dim=1).gather(1, kept)
        yield part, who.cpu().numpy(), best[:, -1].cpu().numpy()
