"""Partitions spread over machines: a task is some of them, with the places of vectors that are at home there or visit.

A task is compared where it is sent to, and what comes back are the best neighbours that each of its vectors has in
it. Those of all tasks are merged as they come. Vectors of a mapped file are read where they are compared, so that some
50 bytes a vector and task are sent; others travel with each task that they are in, at most `probes`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from quern.indexes.vectors import Floats, Neighbours, Positions
from quern.jobs.graph.neighbours.codes import Codes, codes_at, encode
from quern.jobs.graph.neighbours.members import Members, join_partitions
from quern.jobs.graph.neighbours.nearest_lists import NearestLists, best_of_owners
from quern.jobs.graph.neighbours.plan import Spread, Vectors, VectorsInOrder
from quern.jobs.graph.neighbours.threads import on_one_core

_ROWS = 16_384  # Vectors of a task, if one partition has not more: 31 MB at 384 dimensions.


@dataclass(frozen=True)
class _InFile:
    """Vectors of a file, which all machines see."""

    path: str  # The file.
    width: int  # Numbers of a vector.
    at: Positions  # Places of the vectors in it.

    def read(self) -> Floats:
        """The vectors. Raises OSError: this machine does not see what was written."""
        vectors = np.memmap(self.path, dtype=np.float32, mode="r").reshape(-1, self.width)[self.at]
        if not vectors.any(axis=1).all():  # None of them is zero; what was not written yet is.
            raise OSError(errno.EIO, "this machine does not see what another wrote there", self.path)
        return vectors


@dataclass(frozen=True)
class PartitionTask:
    """Some partitions and the vectors in them."""

    among: range  # The partitions.
    rows: Positions  # Where the vectors are among all, ascending.
    codes: Codes  # Their codes, without the numbers; margins hold among all.
    vectors: _InFile | Floats  # Where the vectors are, or they themselves.
    members: Members  # Which partitions each is in.
    order: Positions  # Rank of each among equal scores.
    depth: int  # Neighbours wanted of each.

    @property
    def bytes(self) -> int:
        """Size of what is sent for the vectors."""
        own = self.vectors.at if isinstance(self.vectors, _InFile) else self.vectors
        return int(own.nbytes + 3 * self.codes.margin.nbytes + self.rows.nbytes)


Pairs = tuple[Positions, Positions, Floats]


@on_one_core()
def compare(task: PartitionTask) -> Pairs:
    """(owner, target, canonical cosine) of the best that each vector of `task` has in it, places among all."""
    vectors = task.vectors.read() if isinstance(task.vectors, _InFile) else task.vectors
    codes = replace(task.codes, numbers=encode(vectors, task.codes.scale).numbers)
    nearest = NearestLists(codes, vectors, task.depth, task.order)
    for step in join_partitions(nearest, task.members, task.among):
        step()
    owner, target, score, _ = best_of_owners(*nearest.pairs(), task.order, task.depth)
    return task.rows[owner], task.rows[target], score


def join_in_tasks(
    codes: Codes, vectors: VectorsInOrder, members: Members, depth: int, spread: Spread
) -> tuple[Neighbours, int]:
    """The best neighbours of all vectors, in the order of their homes, by `join_partitions`; number of tasks."""
    count, number = len(codes), 0
    positions, scores = np.full((count, depth), -1, np.int64), np.full((count, depth), -np.inf, np.float32)
    tasks = _tasks(codes, vectors, members, depth)
    for owner, target, score in spread(compare, tasks, lambda task: task.bytes):
        number += 1
        touched = np.unique(owner)
        row, rank = np.nonzero(positions[touched] >= 0)
        row = touched[row]
        owner, target = np.concatenate([owner, row]), np.concatenate([target, positions[row, rank]])
        score = np.concatenate([score, scores[row, rank]])
        owner, target, score, rank = best_of_owners(owner, target, score, vectors.order, depth)
        positions[owner, rank], scores[owner, rank] = target, score
    return Neighbours(positions, scores), number


def _tasks(codes: Codes, vectors: VectorsInOrder, members: Members, depth: int) -> Iterator[PartitionTask]:
    base: Vectors = vectors
    orders = []
    while isinstance(base, VectorsInOrder):
        orders.append(base.order)
        base = base.matrix
    matrix, path = base, ""
    if isinstance(matrix, np.memmap):
        matrix.flush()  # Other machines see what has reached the file.
        if matrix.filename is not None and matrix.flags.c_contiguous and matrix.dtype == np.float32:
            held = np.frombuffer(getattr(matrix, "_mmap"), np.uint8, 1)  # noqa: B009 - not declared
            path = str(matrix.filename) if held.ctypes.data == matrix.ctypes.data else ""
    row, partition = members.pairs()
    in_turn = np.argsort(partition, kind="stable")
    row, partition = row[in_turn], partition[in_turn]
    for among in _ranges(np.bincount(partition, minlength=members.partitions).tolist()):
        begin, end = np.searchsorted(partition, [among.start, among.stop])
        at = np.unique(row[begin:end])
        if len(at) == 0:
            continue
        bare = replace(codes, numbers=codes.numbers[:, :0])  # They are made of the vectors anew.
        places = reduce(lambda rows, order: order[rows], orders, at)
        chosen: _InFile | Floats
        chosen = _InFile(path, matrix.shape[1], places) if path else matrix[places]
        yield PartitionTask(among, at, codes_at(bare, at), chosen, members.at(at), vectors.order[at], depth)


def _ranges(sizes: Sequence[int]) -> Iterator[range]:
    """Ranges of partitions that have about `_ROWS` vectors each, visitors among them."""
    start = rows = 0
    for partition, size in enumerate(sizes):
        if rows and rows + size > _ROWS:
            yield range(start, partition)
            start, rows = partition, 0
        rows += size
    yield range(start, len(sizes))
