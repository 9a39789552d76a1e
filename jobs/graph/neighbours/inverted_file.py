"""Search among vectors on disk: an inverted file of 8-bit codes, and exact cosines of what they nominate.

Codes lie partition by partition. A question looks into the partitions whose centroids are nearest to it; all questions
of a batch that look into one are multiplied with it together, so that a batch reads a partition once, in the order of
the file. What may be among the best by the margins of the codes is scored by the vectors themselves, so that cosines
and ties are those of `indexes.vectors.nearest`.

How many partitions a question looks into is measured when the file is written, for each of some numbers of neighbours:
as many as hold .99 of the true nearest vectors of half of a sample. Where they hold less than .98 of those of the other
half, or more neighbours are asked for than were measured, it looks into all. The sample is of the vectors themselves:
questions that are unlike all of them find less.
"""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from quern.indexes.disk import let_go, mapped
from quern.indexes.vectors import Floats, Neighbours, Positions, merged, nearest, pair_similarities
from quern.jobs.graph.neighbours.centroids import Centroids, folded, homes, partition_count, train
from quern.jobs.graph.neighbours.codes import FOLD, Codes, Numbers, encode, likely, products, scale_of
from quern.jobs.graph.neighbours.threads import run_all

log = logging.getLogger(__name__)

RECALL: Final = 0.99  # Asked of the half of the sample that decides.
LEAST_RECALL: Final = 0.98  # Of the other half.
# Neighbours that recall is measured of: QCG-RAG's n, `retrieve.depth`, and the nodes that `Batch.best_nodes` asks for.
MEASURED: Final = (15, 200, 1000)
_SAMPLE: Final = 512
_TRAINED_ON: Final = 1 << 20  # Vectors that make the centroids: some five hundred a partition where there are 10^7.
_ROWS: Final = 1 << 16  # Read at a time.
_PAIRS: Final = 1 << 11  # Vectors read at a time where they lie apart.
_QUERIES: Final = 1 << 14  # Searched at a time.
_PRODUCTS: Final = 1 << 24  # Made at a time, of 4 bytes.
_HELD: Final = 1 << 18  # Nominated pairs of a partition that are held without being scored.
_LOWEST: Final = -(1 << 30)

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class InvertedFile:
    """n vectors in partitions."""

    vectors: Floats  # The vectors, in an order of their own, shape (n, d).
    numbers: Numbers  # Their codes, partition by partition, shape (n, width) int8.
    rows: Positions  # Which vector each code is of, shape (n,).
    ends: Positions  # Where partitions end, the first entry 0; shape (partitions + 1,).
    centroids: Centroids  # Of the partitions.
    scale: float  # What components were multiplied with for their codes.
    longest: float  # Length of the longest code, as a vector.
    lost: float  # Most that a vector lost by rounding, as a length.
    # Of k neighbours, the partitions that a question looks into, and the share of the true ones that these hold, on
    # vectors that did not decide on their number: by ascending k.
    measured: Sequence[tuple[int, int, float]]

    threads: int = 1  # Partitions that are looked into at once.

    @classmethod
    def open(cls, folder: Path, vectors: Floats, threads: int = 1) -> InvertedFile:
        """The file of `vectors` in `folder`, as `write_inverted_file` made it."""
        about = json.loads((folder / "about.json").read_text())
        unit, measured = about.pop("unit"), [tuple(row) for row in about.pop("measured")]
        data = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in ("rows", "ends", "centroids")}
        numbers = np.memmap(folder / "codes", np.int8, "r", shape=(len(vectors), data["centroids"].shape[1]))
        centroids = Centroids(data.pop("centroids"), unit)
        return cls(vectors, numbers, data["rows"], data["ends"], centroids, measured=measured, threads=threads, **about)

    def nearest(self, queries: Floats, k: int) -> Neighbours:
        """The `k` nearest to each of `queries`, shape (q, d), among the vectors of the partitions that it looks into.

        Memory: some 100 bytes a nominated pair, at most 2^18 pairs of a partition at a time, and 8 bytes a query and
        partition, of at most 16,384 queries.
        """
        parts = [self._nearest(queries[at : at + _QUERIES], k) for at in range(0, len(queries), _QUERIES)]
        positions = [part.positions for part in parts] or [np.empty((0, k), np.int64)]
        similarities = [part.similarities for part in parts] or [np.empty((0, k), np.float32)]
        return Neighbours(np.concatenate(positions), np.concatenate(similarities))

    def probes(self, k: int) -> int:
        """Partitions that a question looks into for `k` neighbours."""
        return next(
            (probes for most, probes, recall in self.measured if k <= most and recall >= LEAST_RECALL),
            len(self.centroids),
        )

    def _nearest(self, queries: Floats, k: int) -> Neighbours:
        codes = encode(queries, self.scale)
        # Twice the margin of each query's products, in their unit. The longest code and the greatest loss stand for all
        # vectors.
        lost, length = np.append(codes.lost, self.lost), np.append(codes.length, self.longest)
        numbers = np.concatenate([codes.numbers, np.zeros_like(codes.numbers[:1])])
        margins = likely(Codes.of(numbers, self.scale, lost.astype(np.float32), length.astype(np.float32))).margin[:-1]
        slack: Integers = np.ceil(2 * margins * self.scale**2).astype(np.int32)
        looked_into = _by_nearness(codes.numbers, self.centroids)[:, : self.probes(k)]
        sizes = np.diff(self.ends)[looked_into]
        # The nearest partitions that have k vectors between them give a bound, which little of the others reaches.
        first = np.cumsum(sizes, axis=1) - sizes < k
        pairs = np.empty((3, 0), dtype=np.int64)
        for chosen in (first, ~first):
            more = self._nominated(queries, codes.numbers, looked_into, chosen, _kth(pairs, len(queries), k), slack, k)
            pairs = np.concatenate([pairs, more], axis=1)
        least = _kth(pairs, len(queries), k) - slack
        query, place = pairs[:2, pairs[2] >= least[pairs[0]]]
        row = self.rows[place].astype(np.int64)
        on_disk = np.argsort(row, kind="stable")
        query, row = query[on_disk], row[on_disk]
        none = Neighbours(np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf, np.float32))
        return merged(none, query, row, self._cosines(queries, query, row), k)

    def _best(self, queries: Floats, pairs: Positions, k: int) -> Positions:
        """The pairs of the `k` best of each query: where many vectors are equal, codes leave them all in."""
        query, place, _ = pairs
        row = self.rows[place].astype(np.int64)
        cosines = self._cosines(queries, query, row)
        order = np.lexsort((row, -cosines, query))
        first = np.searchsorted(query[order], query[order])
        return pairs[:, order[np.arange(len(order)) - first < k]]

    def _cosines(self, queries: Floats, query: Positions, row: Positions) -> Floats:
        """Cosines of the pairs; of what the system maps around each vector, little is held at a time."""
        cosines = np.empty(len(row), dtype=np.float32)
        for start in range(0, len(row), _PAIRS):
            part = slice(start, start + _PAIRS)
            cosines[part] = pair_similarities(queries, self.vectors, query[part], row[part])
            let_go(self.vectors, slice(0, len(self.vectors)))
        return cosines

    def _nominated(
        self,
        queries: Floats,
        numbers: Numbers,
        looked_into: Positions,
        chosen: npt.NDArray[np.bool_],
        kth: Integers,
        slack: Integers,
        k: int,
    ) -> Positions:
        """(query, place, product) of the chosen (query, rank) that may be among the query's `k` best.

        They reach, within the slack, the k-th product that is known, or else the k-th of their partition.
        """
        query, rank = np.nonzero(chosen)
        partitions = looked_into[query, rank]
        order = np.argsort(partitions, kind="stable")
        query, partitions = query[order], partitions[order]
        found = [np.empty((3, 0), dtype=np.int64)]

        def look(asking: Positions, partition: int) -> None:
            start, stop = int(self.ends[partition]), int(self.ends[partition + 1])
            if start == stop:
                return
            # Whole multiples are multiplied faster; what is beyond the partition is cut off again.
            block = self.numbers[start : stop + (start - stop) % FOLD]
            scores = products(numbers[asking], block)[:, : stop - start]
            least = kth[asking]
            if k < stop - start and least.min() == _LOWEST:
                least = np.maximum(least, np.partition(scores, -k, axis=1)[:, -k])
            least = least - slack[asking]
            at, column = np.nonzero(scores >= least[:, None])
            pairs = np.stack([asking[at], start + column, scores[at, column]])
            found.append(pairs if pairs.shape[1] <= _HELD else self._best(queries, pairs, k))
            let_go(self.numbers, slice(start, stop))

        sizes = np.diff(self.ends)
        starts = np.flatnonzero(np.diff(partitions, prepend=-1)).tolist()
        looks = (
            partial(look, asking[at : at + most], partition)
            for begin, end in itertools.pairwise([*starts, len(partitions)])
            for asking, partition in [(query[begin:end], int(partitions[begin]))]
            for most in [max(1, _PRODUCTS // max(1, int(sizes[partition])))]
            for at in range(0, len(asking), most)
        )
        run_all(looks, self.threads)
        return np.concatenate(found, axis=1)


@dataclass(frozen=True)
class InvertedFiles:
    """Inverted files as the kind of index that a search has of vectors on disk."""

    threads: int = 1

    def write(self, folder: Path, vectors: Floats) -> None:
        """Write that of `vectors` to a folder."""
        write_inverted_file(folder, vectors, self.threads)

    def open(self, folder: Path, vectors: Floats) -> InvertedFile:
        """That of `vectors` in a folder."""
        return InvertedFile.open(folder, vectors, self.threads)


def _by_nearness(numbers: Numbers, centroids: Centroids) -> Positions:
    """Partitions in the order of their nearness to each code, shape (codes, partitions)."""
    near = products(numbers, folded(centroids.numbers))[:, : len(centroids)]
    order: Positions = np.argsort(-near, axis=1, kind="stable")
    return order


def _kth(pairs: Positions, queries: int, k: int) -> Integers:
    """The k-th largest product of each query; the lowest number where it has fewer."""
    query, _, product = pairs
    order = np.lexsort((-product, query))
    first = np.searchsorted(query[order], np.arange(queries + 1))
    at = first[:-1] + k - 1
    there = at < first[1:]
    kth = np.full(queries, _LOWEST, dtype=np.int32)
    kth[there] = product[order[at[there]]]
    return kth


def write_inverted_file(folder: Path, vectors: Floats, threads: int = 1) -> None:
    """Write the inverted file of `vectors`, shape (n, d), which may be mapped, to an empty folder.

    Memory: 400 MB for the centroids' sample at 384 dimensions, 20 bytes a vector, and little of codes and vectors.

    Raises NoRoomError: the disk has no room for the codes, twice, while they are sorted.
    """
    scale = min(scale_of(np.asarray(vectors[part])) for part in _each(vectors))
    unsorted = mapped(folder / "unsorted", np.int8, (len(vectors), encode(vectors[:1], scale).numbers.shape[1]))
    longest = lost = 0.0
    for part in _each(vectors):
        codes = encode(np.asarray(vectors[part]), scale)
        unsorted[part] = codes.numbers
        longest, lost = max(longest, float(codes.length.max())), max(lost, float(codes.lost.max()))
        let_go(unsorted, part)
    count = partition_count(len(vectors))
    centroids = _centroids(unsorted, scale, count, threads)
    home = np.concatenate([homes(unsorted[part], centroids.numbers, threads) for part in _each(unsorted)])
    rows = np.argsort(home, kind="stable").astype(np.int32 if len(home) < 1 << 31 else np.int64)
    numbers = mapped(folder / "codes", np.int8, unsorted.shape)
    for part in _each(numbers, _PAIRS):
        numbers[part] = unsorted[rows[part]]
        let_go(unsorted, slice(0, len(unsorted)))
    (folder / "unsorted").unlink()
    measured = _measured(vectors, home, centroids, scale)
    np.save(folder / "rows.npy", rows)
    np.save(folder / "ends.npy", np.concatenate([[0], np.cumsum(np.bincount(home, minlength=count))]))
    np.save(folder / "centroids.npy", centroids.numbers)
    about = {"unit": centroids.unit, "scale": scale, "longest": longest, "lost": lost}
    (folder / "about.json").write_text(json.dumps({**about, "measured": measured}))
    log.info("index=%s partitions=%d neighbours, probes, recall=%s", folder.name, count, measured)


def _each(rows: npt.NDArray[np.generic], size: int = _ROWS) -> Iterator[slice]:
    """Parts of mapped rows, one after the other; the memory of each is given back once it was used."""
    for start in range(0, len(rows), size):
        part = slice(start, min(start + size, len(rows)))
        yield part
        let_go(rows, part)


def _centroids(numbers: Numbers, scale: float, count: int, threads: int) -> Centroids:
    """Centroids of a sample of the codes that is spread over all."""
    rows = _spread(len(numbers), _TRAINED_ON)
    none = np.zeros(len(rows), dtype=np.float32)
    sample = np.empty((len(rows), numbers.shape[1]), dtype=np.int8)
    for part in _each(sample):
        sample[part] = numbers[rows[part]]
        let_go(numbers, slice(0, len(numbers)))
    codes = Codes.of(sample, scale, none, none)
    # The later rounds of `train` are over every second one.
    marks = np.arange(len(rows), dtype=np.uint64)[:, None] << np.uint64(8)
    return train(codes, np.repeat(marks, 2, axis=1), count, threads)


def _spread(count: int, most: int) -> Positions:
    """At most so many positions, evenly spread over `count`."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _measured(vectors: Floats, home: Integers, centroids: Centroids, scale: float) -> list[tuple[int, int, float]]:
    """Of each k of `MEASURED` the partitions that a question is to look into, and the recall; see `InvertedFile`."""
    rows = _spread(len(vectors), _SAMPLE)
    sample = np.asarray(vectors[rows])
    most = [k for k in MEASURED if k < len(vectors)] or [len(vectors) - 1]
    truth = nearest(sample, vectors, most[-1], own=rows, scan=True).positions
    rank = np.argsort(_by_nearness(encode(sample, scale).numbers, centroids), axis=1, kind="stable")
    at = np.where(truth >= 0, np.take_along_axis(rank, home[truth], axis=1), 0)
    shares = []
    for k in most:
        decide, tell = np.sort(at[::2, :k], axis=None), at[1::2, :k]
        probes = 1 + int(decide[min(len(decide) - 1, int(np.ceil(RECALL * len(decide))))])
        shares.append((k, probes, float((tell < probes).mean()) if len(tell) else 0.0))
    return shares
