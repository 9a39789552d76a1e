"""Centroids of partitions: a function of the vectors alone, which few changed vectors move little.

Three rounds of spherical k-means, from random directions that no vector has a part in; the last two are over half of
the vectors, as their prints fall. Where rounds start from vectors (the first by a hash, say), one in a hundred is
another one each night: its cell goes to ten others, and moves their means more than changed vectors do. On nodes of
four corpora three rounds from directions find .99 of neighbours with .048 of all products, of which a night with 1 %
of the vectors replaced repeats 8 %; one round finds as many with .10. Everything is done with 8-bit codes and sums of
integers, the same on every machine.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.codes import BLOCK, FOLD, Codes, Codes8, products
from quern.jobs.graph.neighbours.ranking import Prints
from quern.jobs.graph.neighbours.threads import run_all, spans

_SUMMED = 1 << 14  # Codes whose sums float32 holds exactly: 2^24 / 127 = 132,104.


Homes = npt.NDArray[np.int32]
Sums = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Centroids:
    """What partitions are made of."""

    numbers: Codes8  # Codes of the centroids, all of one length; shape (partitions, width) int8.
    unit: float  # Product with a vector's code that is a cosine of 1.

    def __len__(self) -> int:
        return len(self.numbers)


def partition_count(vectors: int) -> int:
    """Partitions that suit so many vectors."""
    ideal = max(1.0, 0.65 * vectors**0.5)
    # In steps of a root of two: it changes when the vectors have become twice as many.
    return int(2 ** (round(2 * np.log2(ideal)) / 2))


def train(codes: Codes, prints: Prints, count: int, threads: int = 1) -> Centroids:
    """Centroids of `count` partitions, or as many as there are vectors.

    Args:
        codes: Of the vectors.
        prints: What each is known by; some of them decide which vectors have a part in the later rounds.
        count: Partitions.
        threads: Blocks compared at once.
    """
    count = min(count, len(codes))
    numbers, length = directions(count, codes.numbers.shape[1]), 1.0
    half = np.flatnonzero(prints[:, 1] >> np.uint64(8) & np.uint64(1))
    for among in (np.arange(len(codes)), half, half):
        total = _sums(codes.numbers, among, homes(codes.numbers, numbers, threads, among), count, threads)
        # One that is nearest to none stays what it was.
        some = total.any(axis=1, keepdims=True)
        means = np.where(some, total, numbers).astype(np.float64)
        means *= 127 / np.abs(means).max(axis=1, keepdims=True).clip(1)
        # Codes of one length: the largest product is the largest cosine.
        lengths = np.sqrt((means**2).sum(axis=1, keepdims=True)).clip(1)
        length = float(lengths.min())
        numbers = (means * (length / lengths)).round().astype(np.int8)
    return Centroids(numbers, codes.scale * length)


def directions(count: int, width: int) -> Codes8:
    """Random directions, always the same, those of a smaller `count` first; shape (count, width) int8."""
    # The raw stream of a bit generator is the same in every version of NumPy.
    values = np.random.PCG64(width).random_raw(count * width // 8).astype("<u8").view(np.int8)
    return np.maximum(values, -127).reshape(count, width)


def folded(centroids: Codes8) -> Codes8:
    """`centroids`, and behind them the first of them again, up to a multiple of `FOLD`."""
    return np.concatenate([centroids, np.repeat(centroids[:1], -len(centroids) % FOLD, axis=0)])


def homes(numbers: Codes8, centroids: Codes8, threads: int = 1, among: Positions | None = None) -> Homes:
    """The centroid that is nearest to each code, the first of those that are equally near; shape (n,).

    Args:
        numbers: The codes, shape (n, width).
        centroids: Codes of the centroids.
        threads: Blocks compared at once.
        among: Positions of the codes that are asked about, shape (m,), and then the answer's; all if None.
    """
    count = len(numbers) if among is None else len(among)
    nearest, whole = np.empty(count, dtype=np.int32), folded(centroids)

    def seek(span: slice) -> None:
        for start in range(span.start, span.stop, BLOCK):
            part = slice(start, min(start + BLOCK, span.stop))
            block = numbers[part] if among is None else numbers.take(among[part], axis=0)
            nearest[part] = products(block, whole).argmax(axis=1)

    run_all([partial(seek, span) for span in spans(count, _SUMMED, threads)], threads)
    return nearest


def _sums(numbers: Codes8, rows: Positions, nearest: Homes, count: int, threads: int) -> Sums:
    """Sums of the codes of `rows`, by the centroid that is nearest to each; shape (count, width)."""
    total = np.zeros((count, numbers.shape[1]), dtype=np.int64)
    lock = threading.Lock()

    def add(span: slice) -> None:
        # Float32 holds sums of so few codes exactly, so that they do not depend on their order.
        summed = np.zeros(total.shape, dtype=np.float32)
        for start in range(span.start, span.stop, BLOCK):
            part = slice(start, min(start + BLOCK, span.stop))
            block = numbers.take(rows[part], axis=0)
            size = len(block)
            whose = (np.ones(size, np.float32), nearest[part], np.arange(size + 1))
            summed += csr_matrix(whose, shape=(size, count)).T @ block.astype(np.float32)
        with lock:
            np.add(total, summed, out=total, casting="unsafe")

    run_all([partial(add, span) for span in spans(len(rows), _SUMMED, threads)], threads)
    return total
