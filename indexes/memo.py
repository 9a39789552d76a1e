"""The memo: results of jobs, kept under (job fingerprint, input fingerprint).

One directory per job fingerprint holds small files ("parts", `indexes.memo_parts`), each written whole by one task. A
part has a row per input: its fingerprint, the rows made from it, the rejects, and whether that is final. So
a build that was killed keeps every part it committed, and a row that did not change is never computed again.

The index of a memo takes 30 bytes of memory per input; results stay on disk and are read block by block. A block that
is not as it was written is as if it were absent: what it held is computed again.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.checksums import DamagedError
from quern.indexes.memo_parts import BLOCK_ROWS, MemoIndex, PartFile, Results, write_part
from quern.schemas.digests import FINGERPRINT_BYTES, Fingerprints

log = logging.getLogger(__name__)

REJECT = pa.struct([("reason", pa.string()), ("detail", pa.string())])
_INPUT = pa.binary(FINGERPRINT_BYTES)
_PARTS = "[0-9]*.arrow"  # Not what a writer that was killed left of a part.


def memo_schema(makes: pa.Schema) -> pa.Schema:
    """Schema of a part: the rows of the table made are nested under the input they come from."""
    return pa.schema(
        [
            ("input", _INPUT),
            ("final", pa.bool_()),
            ("rows", pa.list_(pa.struct(list(makes)))),
            ("rejects", pa.list_(REJECT)),
        ]
    )


def part_paths(directory: Path) -> list[Path]:
    """The parts of a memo, in the order in which they were committed."""
    return sorted(directory.glob(_PARTS))


def commit_part(directory: Path, part: pa.RecordBatch, time_ns: int | None = None) -> Path:
    """Write `part` (of a `memo_schema`) as a new file of the memo; whole or not at all.

    The name begins with the time, so that of two results for one input the first committed can be kept, and
    ends with the number of inputs, so that progress can be read from a listing. `time_ns`, in nanoseconds since 1970,
    is that of a part in whose place this one comes.
    """
    committed = time.time_ns() if time_ns is None else time_ns
    path = directory / f"{committed:020d}-{uuid.uuid4().hex[:8]}-{part.num_rows}.arrow"
    write_part(path, part)
    return path


class MemoWriter:
    """Results on their way into a memo: gathered, and written as one part when there are many, or after 20 seconds.

    Args:
        directory: Of the memo; made when something is first written.
        schema: Of the rows made.
        most: Inputs that are gathered.
        checked: What becomes of the rows of a part before they are written.
    """

    def __init__(
        self,
        directory: Path,
        schema: pa.Schema,
        most: int,
        checked: Callable[[pa.RecordBatch], pa.RecordBatch] = lambda rows: rows,
    ) -> None:
        self._directory, self._schema, self._most, self._checked = directory, schema, most, checked
        self._gathered = _Gathered()
        self._committed_at = time.monotonic()

    def __len__(self) -> int:
        """Inputs whose results are not yet written."""
        return len(self._gathered.prints)

    def add(
        self, fingerprint: bytes, rows: Sequence[Mapping[str, object]], rejects: Iterable[tuple[str, str, bool]] = ()
    ) -> None:
        """Take what came of an input: rows, and (reason, detail, transient) of what was left out."""
        number, gathered = len(self), self._gathered
        gathered.prints.append(fingerprint)
        gathered.rows += rows
        gathered.parents += [number] * len(rows)
        gathered.rejects += [(number, *reject) for reject in rejects]

    def commit_if_due(self) -> None:
        """Write what was gathered if it is much, or has waited long."""
        if len(self) >= self._most or time.monotonic() - self._committed_at > 20.0:
            self.commit()

    def commit(self) -> None:
        """Write what was gathered; what cannot be written is not kept for another try."""
        self._committed_at = time.monotonic()
        gathered, self._gathered = self._gathered, _Gathered()
        if not gathered.prints:
            return
        rows = self._checked(pa.RecordBatch.from_pylist(gathered.rows, schema=self._schema))
        prints = np.frombuffer(b"".join(gathered.prints), dtype=np.dtype((np.void, FINGERPRINT_BYTES)))
        self._directory.mkdir(parents=True, exist_ok=True)
        commit_part(self._directory, nest(prints, rows, np.asarray(gathered.parents, dtype=np.int64), gathered.rejects))


@dataclass
class _Gathered:
    """Results of inputs; `parents` has the position of each row's input."""

    prints: list[bytes] = field(default_factory=list)
    rows: list[Mapping[str, object]] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    rejects: list[tuple[int, str, str, bool]] = field(default_factory=list)


def committed_inputs(directory: Path) -> int:
    """Inputs in all parts of `directory`, read from the names of the files alone."""
    return sum(int(p.stem.rsplit("-", 1)[1]) for p in directory.glob(_PARTS))


def is_whole(directory: Path) -> bool:
    """Whether a memo has results and all of them, which are read, are as they were written."""
    parts = sorted(directory.glob(_PARTS))
    try:
        return bool(parts) and not any(PartFile(path).damage() for path in parts)
    except DamagedError:
        return False


def is_damaged(directory: Path) -> bool:
    """Whether a memo has a part that is not as it was written; one that is gone, as whoever keeps none, is not."""
    return bool(part_paths(directory)) and not is_whole(directory)


class Memo:
    """Results of one job fingerprint, opened for reading as they stand now."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._parts: list[PartFile] = []
        self._checked: set[tuple[int, int]] = set()
        self._damaged: set[Path] = set()
        self._index = self._load()
        self._reader = _Blocks(self._parts)
        self._asked = np.zeros(len(self._index.high), dtype=np.bool_)

    def _load(self) -> MemoIndex:
        columns: list[tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_], npt.NDArray[np.int32]]] = []
        rows: list[npt.NDArray[np.int64]] = []
        for path in part_paths(self.directory):
            try:
                part = PartFile(path)
                keys = part.keys()
            except DamagedError as error:
                self._leave_aside(error)
                continue
            prints = np.frombuffer(b"".join(keys.column("input").to_pylist()), dtype=np.uint64).reshape(-1, 2)
            final = keys.column("final").to_numpy(zero_copy_only=False).astype(np.bool_)
            columns.append((prints, final, np.full(len(final), len(self._parts), dtype=np.int32)))
            rows.append(np.arange(len(final), dtype=np.int64))
            self._parts.append(part)
        if not columns:
            none = np.empty(0, dtype=np.uint64)
            return MemoIndex(none, none, np.empty(0, np.bool_), np.empty(0, np.int32), np.empty(0, np.int64))
        prints, final, part_of = (np.concatenate(c) for c in zip(*columns, strict=True))
        row = np.concatenate(rows)
        # A final result before one that is not; of two final ones the first committed, of two others the last.
        age = np.where(final, part_of, -part_of)
        order = np.lexsort((age, ~final, prints[:, 1], prints[:, 0]))
        return MemoIndex(prints[order, 0], prints[order, 1], final[order], part_of[order], row[order])

    def __len__(self) -> int:
        """Results in the memo."""
        return len(self._index.high)

    def final(self, prints: Fingerprints) -> npt.NDArray[np.bool_]:
        """Which fingerprints have a result, as it was written, that needs no other try, shape (len(prints),)."""
        at = self._sound(prints)
        known = at >= 0
        at = at[known]
        known[known] = self._index.final[at]
        self._asked[at] = True
        return known

    def used_since(self, before: Memo) -> npt.NDArray[np.uint64]:
        """First 8 bytes of the fingerprints that `before` was asked for and of those committed since, sorted.

        `before` may be this memo, and is of the same folder.
        """
        old = {part.path for part in before._parts}
        new = [number for number, part in enumerate(self._parts) if part.path not in old]
        heads = np.concatenate([before._index.high[before._asked], self._index.high[np.isin(self._index.part, new)]])
        return np.sort(heads, kind="stable")

    def touch(self) -> None:
        """Let the time of each part that was read say so, where that can be written: for memos that have no nights."""
        for number in {part for part, _ in self._checked}:
            with suppress(OSError):
                os.utime(self._parts[number].path)

    def results(self) -> Results:
        """Where each result stands."""
        index = self._index
        first = np.ones(len(self), dtype=np.bool_)
        first[1:] = (index.high[1:] != index.high[:-1]) | (index.low[1:] != index.low[:-1])
        return Results([part.path for part in self._parts], index.high, first & index.final, index.part, index.row)

    def _sound(self, prints: Fingerprints) -> npt.NDArray[np.int64]:
        """Position of each fingerprint in the index, -1 where no block that is as it was written has it."""
        while True:
            at = self._index.find(prints)
            positions = at[at >= 0]
            places = np.unique(
                np.stack([self._index.part[positions], self._index.row[positions] // BLOCK_ROWS], axis=1), axis=0
            )
            damaged = [(part, block) for part, block in places.tolist() if not self._is_whole(part, block)]
            if not damaged:
                return at
            stays = self._index.beside(damaged)
            self._index, self._asked = self._index.only(stays), self._asked[stays]

    def _is_whole(self, part: int, block: int) -> bool:
        if (part, block) not in self._checked:
            try:
                self._parts[part].check(block)
            except DamagedError as error:
                self._leave_aside(error)
                return False
            self._checked.add((part, block))
        return True

    def _leave_aside(self, error: DamagedError) -> None:
        if error.path.exists():  # Else a vacuum took it.
            log.warning("memo part is damaged and will be recomputed: file=%s error=%s", error.path, error.why)
        self._damaged.add(error.path)

    def mend(self) -> bool:
        """Write damaged parts again without what is damaged of them; returns whether there were any.

        This memo still reads them as they were: open it anew.
        """
        mended = bool(self._damaged)
        for path in self._damaged:
            try:
                blocks = list(PartFile(path).whole_blocks())
            except DamagedError:
                blocks = []
            if blocks:
                whole = pa.Table.from_batches(blocks).combine_chunks().to_batches()[0]
                again = path.with_name(f"{path.stem.rpartition('-')[0]}-{whole.num_rows}{path.suffix}")
                write_part(again, whole)
                if again == path:
                    continue
            path.unlink(missing_ok=True)
        self._damaged.clear()
        return mended

    def lookup(self, prints: Fingerprints) -> pa.RecordBatch:
        """Results of `prints`, in their order, with the columns of `memo_schema`.

        Raises KeyError: a fingerprint has no result; DamagedError: its result was there when it was asked for, and is
        not now.
        """
        at = self._known(prints, self._sound(prints))
        return self._reader.rows(self._index.part[at], self._index.row[at])

    def _known(self, prints: Fingerprints, at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Position of each fingerprint in the index, `at`, all of which are to be there."""
        if (at < 0).any():
            absent = int((at < 0).sum())
            for path in self._damaged:
                raise DamagedError(path, f"{absent} results of {len(prints)} were lost just now", "run it again")
            raise KeyError(f"{absent} of {len(prints)} rows have no result in {self.directory}")
        return at

    def places(self, prints: Fingerprints) -> Places:
        """Where the results of `prints` stand, for whoever reads and checks them elsewhere.

        Raises KeyError, DamagedError: as `lookup`.
        """
        at = self._known(prints, self._index.find(prints))
        numbers, part = np.unique(self._index.part[at], return_inverse=True)
        paths = tuple(self._parts[number].path for number in numbers.tolist())
        return Places(paths, part.astype(np.int32), self._index.row[at])


@dataclass(frozen=True)
class Places:
    """Where results stand, in their order."""

    paths: tuple[Path, ...]  # Parts of the memo.
    part: npt.NDArray[np.int32]  # Position of each one's part, shape (results,).
    row: npt.NDArray[np.int64]  # Its row there, shape (results,).

    def reader(self) -> Callable[[int, int], pa.RecordBatch]:
        """What reads so many results from a number on, with the columns of `memo_schema`.

        Raises DamagedError: a part is not as it was written; the reader says so of a block.
        """
        blocks = _Blocks([PartFile(path) for path in self.paths])
        return lambda start, rows: blocks.rows(self.part[start : start + rows], self.row[start : start + rows])


class _Blocks:
    """Blocks of parts, the last few of them in memory."""

    def __init__(self, parts: Sequence[PartFile]) -> None:
        self._parts = parts
        self._held: OrderedDict[tuple[int, int], pa.RecordBatch] = OrderedDict()

    def rows(self, part: npt.NDArray[np.int32], row: npt.NDArray[np.int64]) -> pa.RecordBatch:
        """Results at these places, in their order."""
        block = row // BLOCK_ROWS
        places, inverse = np.unique(np.stack([part, block], axis=1), axis=0, return_inverse=True)
        batches: list[pa.RecordBatch] = []
        order: list[npt.NDArray[np.int64]] = []
        # One turn per stored block, of up to 256 results: rows that were computed together are read together.
        for n, (p, b) in enumerate(places.tolist()):
            wanted = np.flatnonzero(inverse.ravel() == n)
            batch = self._held.pop((p, b), None)
            if batch is None:
                batch = self._parts[p].block(b)
            self._held[p, b] = batch
            if len(self._held) > 16:
                self._held.popitem(last=False)
            batches.append(batch.take(pa.array(row[wanted] - b * BLOCK_ROWS)))
            order.append(wanted)
        table = pa.Table.from_batches(batches).combine_chunks()
        back = np.argsort(np.concatenate(order), kind="stable")
        return table.to_batches()[0].take(pa.array(back))


def nest(
    prints: Fingerprints,
    rows: pa.RecordBatch,
    parents: npt.NDArray[np.int64],
    rejects: Iterable[tuple[int, str, str, bool]],
) -> pa.RecordBatch:
    """A part from the flat result of a batch.

    Args:
        prints: Fingerprints of the inputs, shape (inputs,).
        rows: Rows made, in the order of their inputs.
        parents: Position of each row's input, never decreasing, shape (rows,).
        rejects: (input position, reason, detail, transient) of what was left out.
    """
    inputs = len(prints)
    offsets = np.searchsorted(parents, np.arange(inputs + 1)).astype(np.int32)
    per_input: list[list[dict[str, str]]] = [[] for _ in range(inputs)]
    final = np.ones(inputs, dtype=np.bool_)
    for position, reason, detail, transient in rejects:
        per_input[position].append({"reason": reason, "detail": detail})
        final[position] &= not transient
    struct = pa.StructArray.from_arrays(rows.columns, fields=list(rows.schema))
    return pa.RecordBatch.from_arrays(
        [
            pa.FixedSizeBinaryArray.from_buffers(_INPUT, inputs, [None, pa.py_buffer(prints.tobytes())]),
            pa.array(final),
            pa.ListArray.from_arrays(pa.array(offsets), struct),
            pa.array(per_input, pa.list_(REJECT)),
        ],
        schema=memo_schema(rows.schema),
    )


def unnest(part: pa.RecordBatch, column: str) -> tuple[pa.RecordBatch, npt.NDArray[np.int64]]:
    """The flat rows of the nested `column` (`rows` or `rejects`), and the position of each one's input."""
    nested = part.column(column)
    lengths = pc.list_value_length(nested).to_numpy(zero_copy_only=False)
    flat = nested.flatten()
    batch = pa.RecordBatch.from_arrays(flat.flatten(), schema=pa.schema(list(flat.type)))
    return batch, np.repeat(np.arange(len(nested), dtype=np.int64), lengths)
