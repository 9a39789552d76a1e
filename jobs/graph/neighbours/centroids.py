"""Centroids of partitions: a function of the vectors alone, which few changed vectors move little.

Vectors have an order that knows nothing of their place in a table: that of their prints, as good as random. The first
of them are landmarks (min-wise sampling: Broder, On the resemblance and containment of documents, 1997); each becomes
the mean of all vectors that are nearest to it, one round of spherical k-means. So yesterday's centroids need not be
known: a night finds those that a full build from the same pages finds; and where one in a hundred vectors changed, one
in a hundred landmarks did, and means of hundreds hardly. Everything is done with 8-bit codes and sums of integers, the
same on every machine.

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

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix

from quern.indexes.vectors import Positions
from quern.jobs.graph.neighbours.codes import Codes, products
from quern.jobs.graph.neighbours.prints import Prints

_ROWS = 4096
_SHARE = 0.65  # Partitions per root of the vectors.
_STEPS = 2  # Their number doubles in so many steps: it changes when the vectors have become twice as many.

Homes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Centroids:
    """What partitions are made of.

    Attributes:
        numbers: Codes of the centroids, all of one length; shape (partitions, width) int8.
        names: Print of the landmark that each began as, shape (partitions, 2).
        unit: Product with a vector's code that is a cosine of 1.
    """

    numbers: torch.Tensor
    names: Prints
    unit: float

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


def train(codes: Codes, prints: Prints, count: int) -> Centroids:
    """Centroids of `count` partitions, or as many as there are vectors."""
    names = by_print(prints)[:count]
    landmarks, _ = _of_one_length(codes.numbers[torch.from_numpy(names)].cpu().double().numpy())
    numbers, length = _of_one_length(_sums(codes.numbers, landmarks).astype(np.float64))
    return Centroids(numbers, prints[names], codes.scale * length)


def _sums(numbers: torch.Tensor, landmarks: torch.Tensor) -> npt.NDArray[np.int64]:
    """The sum of the codes that are nearest to each landmark; of a landmark that none is nearest to its own code."""
    total = np.zeros(landmarks.shape, dtype=np.int64)
    for start in range(0, len(numbers), _ROWS):
        block = numbers[start : start + _ROWS].cpu()
        home = homes(block, landmarks)
        ones = np.ones(len(home), dtype=np.int32)
        begins = np.arange(len(home) + 1)
        chosen = csr_matrix((ones, home, begins), shape=(len(home), len(landmarks)))
        # Sums of integers do not depend on their order.
        total += chosen.T @ block.numpy().astype(np.int32)
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
    found = np.empty(len(numbers), dtype=np.int64)
    for start in range(0, len(numbers), _ROWS):
        part = slice(start, start + _ROWS)
        found[part] = products(numbers[part].cpu(), centroids).numpy().argmax(1)
    return found
