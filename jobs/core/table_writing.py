"""Writing the table of a job from the memo: in this process, or as files that workers write, which it only lists.

A worker reads the results of some inputs, and where they are joined with rows the rows, and writes a Parquet file. What
the driver must know of it, keys and rejects, it writes beside: 32 bytes a row, which the driver reads.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quern.indexes.memo import REJECT, Places, unnest
from quern.indexes.stage_writers import FolderWriter, StageWriter, WrittenFile, writer_among
from quern.indexes.stages import Stage
from quern.jobs.core.contract import Job, Source
from quern.schemas.row_digests import hash_pairs
from quern.schemas.tables import Table

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Results = Callable[[int, int], pa.RecordBatch]
"""Reads so many results from a number on."""
_KEYS = pa.schema([("high", pa.uint64()), ("low", pa.uint64()), ("mark", pa.int64()), ("input", pa.int64())])
_UNREAD = pa.RecordBatch.from_pylist([], schema=pa.schema([]))
_REJECTS = pa.schema([("input", pa.int64()), *REJECT])


class Rows(Protocol):
    """How rows of a table come of results; picklable."""

    @property
    def made(self) -> Table:
        """The table."""

    def rows(self, results: pa.RecordBatch, inputs: pa.RecordBatch) -> tuple[pa.RecordBatch, Numbers, Numbers]:
        """The rows of `results`, whose inputs are `inputs` where they are read; the input of each; a mark of each."""


@dataclass(frozen=True)
class JobRows:
    """The rows that a job made, marked with its preference among rows of one key."""

    job: Job

    @property
    def made(self) -> Table:
        """What the job makes."""
        return self.job.makes

    def rows(self, results: pa.RecordBatch, _: pa.RecordBatch) -> tuple[pa.RecordBatch, Numbers, Numbers]:
        """The rows as they stand in the memo."""
        rows, parents = unnest(results, "rows")
        return rows, parents, self.job.preference(rows)


@dataclass
class RowNotes:
    """What is known of a table's rows, in their order."""

    keys: pa.Table  # Two halves of the hash of each row's key, its mark, and the number of its input.
    rejects: pa.Table  # Number of the input, reason and detail of each reject.
    final: bool  # Whether no reject may have better luck another time.

    @classmethod
    def joined(cls, several: Sequence[RowNotes]) -> RowNotes:
        """What is known of the rows of `several`, one after the other."""
        keys = pa.concat_tables([_KEYS.empty_table(), *(one.keys for one in several)])
        rejects = pa.concat_tables([_REJECTS.empty_table(), *(one.rejects for one in several)])
        return cls(keys, rejects, all(one.final for one in several))

    def kept(self, source: Source, key: str) -> Bools:
        """Which rows stay, of each key the one with the highest mark, shape (rows,).

        Args:
            source: The inputs.
            key: The column that names them.
        """
        high, low, mark, inputs = (column.to_numpy() for column in self.keys.columns)
        order = np.lexsort((np.arange(len(high)), -mark, low, high))
        again = (high[order[1:]] == high[order[:-1]]) & (low[order[1:]] == low[order[:-1]])
        tied = again & (mark[order[1:]] == mark[order[:-1]])
        if tied.any():
            # Not by the order of the inputs: a page store has it by what was ingested when.
            among = np.union1d(order[1:][tied], order[:-1][tied])
            rank = np.zeros(len(high), dtype=np.int64)
            # The place of some inputs, which are numbered in the order of the source, among each other by their keys.
            numbers, back = np.unique(inputs[among], return_inverse=True)
            ranks: Numbers = pc.rank(input_keys(source, key, numbers), tiebreaker="dense").to_numpy().astype(np.int64)
            rank[among] = ranks[back]
            order = np.lexsort((np.arange(len(high)), rank, -mark, low, high))
        kept = np.ones(len(high), dtype=np.bool_)
        kept[order[1:]] = ~again
        return kept


def input_keys(source: Source, key: str, inputs: Numbers) -> pa.ChunkedArray:
    """The keys of the inputs with these numbers, in any order."""
    numbers, back = np.unique(inputs, return_inverse=True)
    keys = [column.cast(pa.string()) for _, column in keys_in_turn(source, key, numbers)]
    return pa.chunked_array(keys, pa.string()).take(pa.array(back))


def keys_in_turn(source: Source, key: str, inputs: Numbers) -> Iterator[tuple[slice, pa.Array]]:
    """The keys of the inputs with these numbers, which never descend: parts of the numbers, and the keys of each."""
    at = begin = 0
    for batch in source.batches([key]) if len(inputs) else ():
        end = int(np.searchsorted(inputs, at + batch.num_rows))
        yield slice(begin, end), batch.column(key).take(pa.array(inputs[begin:end] - at))
        at, begin = at + batch.num_rows, end


def write_rows(
    make: Rows, results: Results, inputs: Iterable[int | pa.RecordBatch], writer: StageWriter, start: int
) -> RowNotes:
    """Write the rows of results.

    Args:
        make: How they come of these.
        results: What reads results from number 0 on.
        inputs: The rows that they are results of, in batches; or how many of them are read at a time.
        writer: Where they go.
        start: Number of the first input.
    """
    key = list(make.made.key)
    notes: list[RowNotes] = []
    at = 0
    for item in inputs:
        batch, count = (_UNREAD, item) if isinstance(item, int) else (item, item.num_rows)
        result = results(at, count)
        rows, parents, mark = make.rows(result, batch)
        writer.write(rows)
        columns = [*hash_pairs(rows.select(key)).T, mark, parents + (start + at)]
        keys = pa.table([pa.array(column) for column in columns], schema=_KEYS)
        final = pc.all(result.column("final")).as_py() is not False
        notes.append(RowNotes(keys, rejects_of(result, start + at), final))
        at += count
    return RowNotes.joined(notes)


def rejects_of(results: pa.RecordBatch, start: int) -> pa.Table:
    """Number of the input, counted from `start`, reason and detail of each reject."""
    rejects, inputs = unnest(results, "rejects")
    return pa.table([pa.array(inputs + start), *rejects.columns], schema=_REJECTS)


@dataclass(frozen=True)
class Partition:
    """Some inputs in a row, whose results become one file."""

    make: Rows  # How rows come of results.
    places: Places  # Where the results stand.
    start: int  # Number of the first input.
    stage: Stage | None  # The table that the inputs are rows of, where they are read.
    batch_rows: int  # Inputs at a time.
    folder: Path  # Where the file goes.
    aside: Path  # Where what the driver is to know goes.


@dataclass(frozen=True)
class _PartitionFile:
    start: int
    file: WrittenFile
    aside: Path
    final: bool


def write_partition(partition: Partition) -> _PartitionFile:
    """Write the file of `partition`."""
    count, rows = len(partition.places.row), partition.batch_rows
    inputs: Iterator[int | pa.RecordBatch] = (min(rows, count - at) for at in range(0, count, rows))
    if partition.stage is not None:
        inputs = partition.stage.slice(partition.start, count)
    with writer_among(partition.folder, partition.make.made) as writer:
        row_notes = write_rows(partition.make, partition.places.reader(), inputs, writer, partition.start)
    aside = partition.aside / writer.file.path.stem
    for kind, notes in (("keys", row_notes.keys), ("rejects", row_notes.rejects)):
        pq.write_table(notes, f"{aside}.{kind}", compression="lz4")
    return _PartitionFile(partition.start, writer.file, aside, row_notes.final)


def write_partitions(
    partitions: Iterable[Partition],
    each: Callable[[Callable[[Partition], _PartitionFile], Sequence[Partition]], Iterator[_PartitionFile]],
    writer: FolderWriter,
    aside: Path,
) -> RowNotes:
    """Have `each`, of an engine, write `partitions`, and list their files in `writer`; `aside` is deleted."""
    aside.mkdir(parents=True, exist_ok=True)
    files = sorted(each(write_partition, [*partitions]), key=lambda one: one.start)
    notes = []
    for one in files:
        writer.adopt(one.file)
        keys, rejects = (pq.read_table(f"{one.aside}.{kind}") for kind in ("keys", "rejects"))
        notes.append(RowNotes(keys, rejects, one.final))
    shutil.rmtree(aside, ignore_errors=True)
    return RowNotes.joined(notes)
