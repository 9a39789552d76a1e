"""Centroids of partitions: a function of the vectors alone, which few changed vectors move little.

Vectors have an order that knows nothing of their place in a table: that of their prints, as good as random. The first
of them are landmarks (min-wise sampling: Broder, On the resemblance and containment of documents, 1997); each becomes
the mean of all vectors that are nearest to it, one round of spherical k-means. So a night finds the centroids that a
full build from the same pages finds; what it knows of last night's cells makes that quicker, no more. Where one in a
hundred vectors changed, one in a hundred landmarks did, and means of hundreds hardly. Everything is done with 8-bit
codes and sums of integers, the same on every machine.

Chosen on 31,859 nodes of four corpora and 60,000 vectors in clusters, by the share of all products that finds .99 of
neighbours (first figure, nodes; second, clusters) and the share of vectors that change home when 1 of 100 is replaced:
landmarks alone .095, .116 and .3 %, 1.4 %; one round over all vectors .061, .013 and 2.0 %, 3.9 %; one over 96 a
partition .068, .014 and 2.3 %, 4.8 %; two .053, .008 and 4.0 %, 5.1 %, but 10 % of 100,000 vectors in clusters, for
what one round leaves undecided the second decides by a hair. Six rounds over every n-th vector, as it was before:
.063, .010 and nearly all. Means of each landmark's nearest 16 to 128 find less and are no steadier, and so are
landmarks that are no vectors (random directions, cells of random planes).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.codes import Codes, products
from quern.jobs.graph.neighbours.join import run_all
from quern.jobs.graph.neighbours.prints import Prints

_ROWS = 4096
_SHARE = 0.65  # Partitions per root of the vectors.
_STEPS = 2  # Their number doubles in so many steps: it changes when the vectors have become twice as many.

Homes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """The landmark that is nearest to each of n vectors, the first of those that are equally near.

    Attributes:
        names: Prints of the landmarks, in their order, shape (landmarks, 2).
        nearest: Number of the landmark, shape (n,) int32.
        product: Product of its code with the vector's, shape (n,) int32.
        scale: Of the codes.
    """

    names: Prints
    nearest: npt.NDArray[np.int32]
    product: npt.NDArray[np.int32]
    scale: float


@dataclass(frozen=True)
class Centroids:
    """What partitions are made of.

    Attributes:
        numbers: Codes of the centroids, all of one length; shape (partitions, width) int8.
        unit: Product with a vector's code that is a cosine of 1.
        cells: Of what vectors each is the mean.
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


def by_print(prints: Prints) -> Positions:
    """Positions in the order of the prints, which no change of other vectors alters."""
    order: Positions = np.argsort(prints[:, 0])
    if (prints[order[1:], 0] == prints[order[:-1], 0]).any():
        return np.lexsort((prints[:, 1], prints[:, 0]))
    return order


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
        prints: What each is known by.
        count: Partitions.
        before: The cells of the last night; they make this quicker and change nothing.
        was: Where each vector was then; -1 where it is new.
        threads: Blocks compared at once.
    """
    chosen = by_print(prints)[:count]
    landmarks = codes.numbers[torch.from_numpy(chosen)].cpu()
    if before is None or was is None or before.scale != codes.scale:
        cells = Cells(prints[chosen], *_nearest(codes.numbers, landmarks, threads), codes.scale)
    else:
        cells = _after_changes(codes, landmarks, prints[chosen], before, was, threads)
    numbers, length = _of_one_length(_sums(codes.numbers, landmarks, cells.nearest).astype(np.float64))
    return Centroids(numbers, codes.scale * length, cells)


def _nearest(
    numbers: torch.Tensor, landmarks: torch.Tensor, threads: int = 1
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Number of the landmark that is nearest to each code, and their product."""
    nearest, product = (np.empty(len(numbers), dtype=np.int32) for _ in range(2))

    def seek(start: int) -> None:
        part = slice(start, start + _ROWS)
        found = products(numbers[part].cpu(), landmarks).numpy()
        nearest[part] = found.argmax(1)
        product[part] = found[np.arange(len(found)), nearest[part]]

    run_all([partial(seek, start) for start in range(0, len(numbers), _ROWS)], threads)
    return nearest, product


def _after_changes(
    codes: Codes, landmarks: torch.Tensor, names: Prints, before: Cells, was: Positions, threads: int
) -> Cells:
    """The cells of `landmarks`: a vector is compared with new ones, and with all where its own went or it is new."""
    then = places_among(names, before.names)
    now = np.full(len(before.names), -1, dtype=np.int32)
    now[then[then >= 0]] = np.flatnonzero(then >= 0)
    nearest = np.where(was >= 0, now[before.nearest[was]], np.int32(-1))
    product = before.product[was]
    lost, new = np.flatnonzero(nearest < 0), np.flatnonzero(then < 0)
    if len(new):
        found, reached = _nearest(codes.numbers, landmarks[torch.from_numpy(new)], threads)
        found = new[found].astype(np.int32)
        nearer = (reached > product) | ((reached == product) & (found < nearest))
        nearest, product = np.where(nearer, found, nearest), np.where(nearer, reached, product)
    if len(lost):
        nearest[lost], product[lost] = _nearest(codes.numbers[torch.from_numpy(lost)], landmarks)
    return Cells(names, nearest, product, before.scale)


def places_among(names: Prints, known: Prints) -> Positions:
    """Where each of `names` is among `known`; -1 where it is not."""
    places = {tuple(name): place for place, name in enumerate(known.tolist())}
    return np.array([places.get(tuple(name), -1) for name in names.tolist()], dtype=np.int64)


def _sums(numbers: torch.Tensor, landmarks: torch.Tensor, nearest: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """The sum of the codes that are nearest to each landmark; of a landmark that none is nearest to its own code."""
    total = np.zeros(landmarks.shape, dtype=np.int64)
    for start in range(0, len(numbers), _ROWS):
        block = numbers[start : start + _ROWS].cpu().numpy().astype(np.int32)
        ones, begins = np.ones(len(block), dtype=np.int32), np.arange(len(block) + 1)
        chosen = csr_matrix((ones, nearest[start : start + _ROWS], begins), shape=(len(block), len(landmarks)))
        # Sums of integers do not depend on their order.
        total += chosen.T @ block
    empty = ~total.any(axis=1)
    total[empty] = landmarks.numpy()[empty]
    return total


def _of_one_length(means: npt.NDArray[np.float64]) -> tuple[torch.Tensor, float]:
    """Codes of the directions of `means`, and their length: the largest product is the largest cosine."""
    means = means * (127 / np.abs(means).max(axis=1, keepdims=True).clip(1))
    length = np.sqrt((means**2).sum(axis=1, keepdims=True)).clip(1)
    least = float(length.min())
    return torch.from_numpy((means * (least / length)).round().astype(np.int8)), least


def homes(numbers: torch.Tensor, centroids: torch.Tensor) -> Homes:
    """The centroid that is nearest to each code, the first of those that are equally near; shape (n,)."""
    return _nearest(numbers, centroids)[0].astype(np.int64)
