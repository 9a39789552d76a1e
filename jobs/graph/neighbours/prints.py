"""Prints of vectors: what tells different ones apart, and gives them an order that no change of others alters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Positions, Rows

Prints = npt.NDArray[np.uint64]


def vector_prints(vectors: Rows, threads: int = 1, block: int = 1024) -> Prints:
    """128 bits that tell different vectors apart, shape (n, 2): two sums of products with random odd numbers.

    Words are mixed first: a product's low bits know nothing of its factors' high ones, where signs stand.
    """
    prints = np.zeros((len(vectors), 2), dtype=np.uint64)
    width = -(-np.asarray(vectors[0:1]).shape[1] // 2)
    odd = np.random.default_rng(width).integers(0, 1 << 63, (3, width), np.uint64) * 2 + 1

    def make(start: int) -> None:
        rows = np.asarray(vectors[slice(start, start + block)], dtype=np.float32)
        rows = np.ascontiguousarray(np.pad(rows, ((0, 0), (0, 1))) if rows.shape[1] % 2 else rows)
        words = rows.view(np.uint64)
        mixed = words >> np.uint64(32)
        mixed ^= words
        mixed *= odd[2]
        mixed ^= mixed >> np.uint64(29)
        prints[start : start + block, 0] = np.einsum("ij,j->i", mixed, odd[0])
        prints[start : start + block, 1] = np.einsum("ij,j->i", mixed, odd[1])

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(make, range(0, len(vectors), block)):
            pass
    return prints


def last_by_print(prints: Prints, size: int) -> Positions:
    """Positions of the last `size` in the order of the prints, which no change of other vectors alters."""
    first: npt.NDArray[np.uint64] = prints[:, 0]
    least = np.partition(first, len(first) - size)[len(first) - size] if size < len(first) else np.uint64(0)
    near: Positions = np.flatnonzero(first >= least)
    return near[np.lexsort((prints[near, 1], first[near]))][-size:]
