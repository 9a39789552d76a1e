"""Centroids of partitions: a function of the vectors alone, which few changed vectors move little.

Three rounds of spherical k-means, from random directions that no vector has a part in; the last two are over half of
the vectors, as their prints fall. So a night finds the centroids that a full build from the same pages finds. Which
direction is nearest to a vector stays what it was, so a night has two rounds to do. Where rounds start from vectors
(the first by a hash, say), one in a hundred is another one each night: its cell goes to ten others, and moves their
means more than changed vectors do. Everything is done with 8-bit codes and sums of integers, the same on every machine.

Chosen on 31,859 nodes of four corpora, and 60,000 and 297,030 vectors in clusters, by the share of all products that
finds .99 of neighbours, and the share of these that a night repeats when 1 of 100 vectors is replaced. One round from
vectors: .049, .011, .019 and 7 %, 12 %, 12 %. From directions: one round .10 on nodes; two .059, .006, .005 and 8 %,
5 %, 9 %; three .048, .006, .003 and 8 %, 5 %, 7 %; five rounds .046 on nodes, but 12 %. Directions that have the
vectors' second moments find less on nodes. Half of the vectors in the last two rounds, on nodes and on 297,030 in
clusters: 1 and 3 % more products, of which a night repeats 7 and 8 % in place of 6 and 7 %, for a third off the rounds;
a quarter in the second 3 and 6 % more, 8 and 9 %; a quarter in all three 50 % more of those in clusters, 16 %.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.codes import Codes
from quern.jobs.graph.neighbours.prints import Prints
from quern.jobs.graph.neighbours.room import Room
from quern.jobs.graph.neighbours.threads import run_all, spans

_ROWS = 1024  # With their products, what a core has close by.
_SUMMED = 1 << 14  # Codes whose sums float32 holds exactly: 2^24 / 127 = 132,104.
_SHARE = 0.65  # Partitions per root of the vectors.
_STEPS = 2  # Their number doubles in so many steps: it changes when the vectors have become twice as many.

Homes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """The direction that is nearest to each of n vectors, the first of those that are equally near.

    Attributes:
        nearest: Number of the direction, shape (n,) int32.
        scale: Of the codes.
        directions: Their number.
    """

    nearest: npt.NDArray[np.int32]
    scale: float
    directions: int


@dataclass(frozen=True)
class Centroids:
    """What partitions are made of.

    Attributes:
        numbers: Codes of the centroids, all of one length; shape (partitions, width) int8.
        unit: Product with a vector's code that is a cosine of 1.
        cells: Where the first round began.
    """

    numbers: torch.Tensor
    unit: float
    cells: Cells

    def __len__(self) -> int:
        return len(self.numbers)


def partition_count(vectors: int) -> int:
    """Partitions that suit so many vectors."""
    wanted = max(1.0, _SHARE * vectors**0.5)
    return int(2 ** (round(_STEPS * np.log2(wanted)) / _STEPS))


def train(
    codes: Codes,
    prints: Prints,
    count: int,
    before: Cells | None = None,
    was: Positions | None = None,
    threads: int = 1,
) -> Centroids:
    """Centroids of `count` partitions, or as many as there are vectors.

    Args:
        codes: Of the vectors.
        prints: What each is known by; some of them decide which vectors have a part in the last round.
        count: Partitions.
        before: The cells of the last night; they make this quicker and change nothing.
        was: Where each vector was then; -1 where it is new.
        threads: Blocks compared at once.
    """
    count = min(count, len(codes))
    numbers = directions(count, codes.numbers.shape[1])
    nearest = _cells(codes, numbers, before, was, threads)
    numbers, _ = _means(codes.numbers, None, numbers, nearest, threads)
    half = torch.from_numpy(np.flatnonzero(prints[:, 1] >> np.uint64(8) & np.uint64(1)))
    numbers, _ = _means(codes.numbers, half, numbers, None, threads)
    numbers, length = _means(codes.numbers, half, numbers, None, threads)
    return Centroids(numbers, codes.scale * length, Cells(nearest.astype(np.int32), codes.scale, count))


def directions(count: int, width: int) -> torch.Tensor:
    """Random directions, always the same, those of a smaller `count` first; shape (count, width) int8."""
    # The raw stream of a bit generator is the same in every version of NumPy.
    drawn = np.random.PCG64(width).random_raw(count * width // 8).astype("<u8").view(np.int8)
    return torch.from_numpy(np.maximum(drawn, -127).reshape(count, width))


def _cells(codes: Codes, chosen: torch.Tensor, before: Cells | None, was: Positions | None, threads: int) -> Homes:
    """The direction that is nearest to each vector; of those that were there last night it is known."""
    if before is None or was is None or (before.scale, before.directions) != (codes.scale, len(chosen)):
        return homes(codes.numbers, chosen, threads)
    nearest = before.nearest[was].astype(np.int64)
    new = np.flatnonzero(was < 0)
    nearest[new] = homes(codes.numbers[torch.from_numpy(new)], chosen, threads)
    return nearest


def homes(numbers: torch.Tensor, centroids: torch.Tensor, threads: int = 1) -> Homes:
    """The centroid that is nearest to each code, the first of those that are equally near; shape (n,)."""
    nearest = np.empty(len(numbers), dtype=np.int64)

    def seek(span: slice) -> None:
        room = Room()
        for start in range(span.start, span.stop, _ROWS):
            part = slice(start, min(start + _ROWS, span.stop))
            nearest[part] = room.homes(numbers[part].cpu(), centroids)

    run_all([partial(seek, span) for span in spans(len(numbers), _SUMMED, threads)], threads)
    return nearest


def _means(
    numbers: torch.Tensor, among: torch.Tensor | None, centroids: torch.Tensor, nearest: Homes | None, threads: int
) -> tuple[torch.Tensor, float]:
    """Codes of the means of the vectors that are nearest to each centroid, and their length.

    Args:
        numbers: Codes of the vectors.
        among: Positions of those that have a part in it; all if None.
        centroids: Codes of the centroids; one that none is nearest to stays as it is.
        nearest: Number of the centroid that is nearest to each of them, if it is known.
        threads: Blocks compared at once.
    """
    count = len(numbers) if among is None else len(among)
    total = np.zeros(centroids.shape, dtype=np.int64)
    lock = threading.Lock()

    def add(span: slice) -> None:
        # Float32 holds sums of so few codes exactly, so that they do not depend on their order.
        summed, room = torch.zeros(centroids.shape), Room()
        for start in range(span.start, span.stop, _ROWS):
            part = slice(start, min(start + _ROWS, span.stop))
            block = numbers[part].cpu() if among is None else room.rows("block", numbers, among[part])
            home = room.homes(block, centroids) if nearest is None else nearest[part]
            addends = room.of("addends", block.shape, torch.float32).copy_(block)
            summed.index_add_(0, torch.from_numpy(home), addends)
        with lock:
            np.add(total, summed.numpy(), out=total, casting="unsafe")

    run_all([partial(add, span) for span in spans(count, _SUMMED, threads)], threads)
    empty = ~total.any(axis=1)
    total[empty] = centroids.numpy()[empty]
    return _of_one_length(total.astype(np.float64))


def _of_one_length(means: npt.NDArray[np.float64]) -> tuple[torch.Tensor, float]:
    """Codes of the directions of `means`, and their length: the largest product is the largest cosine."""
    means = means * (127 / np.abs(means).max(axis=1, keepdims=True).clip(1))
    length = np.sqrt((means**2).sum(axis=1, keepdims=True)).clip(1)
    least = float(length.min())
    return torch.from_numpy((means * (least / length)).round().astype(np.int8)), least
