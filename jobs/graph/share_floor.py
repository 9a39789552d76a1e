"""The score that the best share of a corpus reaches, exactly, in bounded memory.

Scores are spooled to a file, 4 bytes each, and the one sought is found by its bits: a float32's bits, made to rise
with its value, are counted by their upper half, and in the half that holds it by their lower. The result is that of
sorting all scores, whatever their order and the blocks they came in. Memory: 2 x 65,536 counts and one block.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Floats

_BLOCK = 1 << 20
_HALF = 1 << 16


def best_share_floor(blocks: Iterable[Floats], share: float, spool: Path) -> float:
    """The least of the best `share` of all scores, at least one of them; -inf where there are none.

    Args:
        blocks: The scores, in any order; NaN counts as the least of all.
        share: Which part of them is wanted, in (0, 1].
        spool: File that is written and removed.
    """
    try:
        count = _spooled(blocks, spool)
        if count == 0:
            return -np.inf
        wanted = max(1, int(np.ceil(share * count - 1e-9)))
        return _select(spool, count - wanted)
    finally:
        spool.unlink(missing_ok=True)


def _spooled(blocks: Iterable[Floats], spool: Path) -> int:
    count = 0
    with spool.open("wb") as file:
        for block in blocks:
            np.where(np.isnan(block), -np.inf, block).astype("<f4").tofile(file)
            count += len(block)
    return count


def _select(spool: Path, rank: int) -> float:
    """The spooled score of `rank`, 0 for the least."""
    upper = np.zeros(_HALF, dtype=np.int64)
    for keys in _keys(spool):
        upper += np.bincount(keys >> 16, minlength=_HALF)
    half, rest = _bin_of(upper, rank)
    lower = np.zeros(_HALF, dtype=np.int64)
    for keys in _keys(spool):
        lower += np.bincount(keys[keys >> 16 == half] & 0xFFFF, minlength=_HALF)
    key = np.uint32(half << 16 | _bin_of(lower, rest)[0])
    bits = key ^ np.uint32(0x80000000) if key & np.uint32(0x80000000) else ~key
    return float(np.array([bits], dtype=np.uint32).view(np.float32)[0])


def _bin_of(counts: npt.NDArray[np.int64], rank: int) -> tuple[int, int]:
    """The bin that holds `rank`, and the rank within it."""
    ends = np.cumsum(counts)
    found = int(np.searchsorted(ends, rank, side="right"))
    return found, rank - int(ends[found] - counts[found])


def _keys(spool: Path) -> Iterable[npt.NDArray[np.uint32]]:
    """Blocks of the scores' bits as integers in the order of the scores."""
    with spool.open("rb") as file:
        while len(block := np.fromfile(file, dtype="<f4", count=_BLOCK)):
            # Adding zero makes -0.0 into 0.0: they are equal and so must be their bits.
            bits = (block + np.float32(0.0)).astype(np.float32).view(np.uint32)
            yield np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
