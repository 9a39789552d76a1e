"""A part of the memo: one file of Arrow IPC streams, each with a checksum, so that one is read without the others.

    keys        fingerprints of the inputs, and whether their results are final
    block 0...  results of up to 256 inputs each, with their keys
    contents    JSON: where each stream stands, its rows and its checksum
    tail        checksum of the contents (16 bytes), their length (8), a mark (8)

No byte is outside a checksum, and none is given to Arrow before its checksum was compared.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from quern.indexes.checksums import DamagedError, checksum
from quern.indexes.storage import write_whole
from quern.schemas.digests import Fingerprints

BLOCK_ROWS: Final = 256
_MARK: Final = b"quernmm3"
_TAIL: Final = struct.Struct("<16sQ8s")
_KEYS: Final = ["input", "final"]
_OPTIONS: Final = pa.ipc.IpcWriteOptions(compression="zstd")
_MEND: Final = "the next build that needs it computes what it held again"


@dataclass(frozen=True)
class _Stream:
    start: int
    rows: int
    checksum: str

    @property
    def size(self) -> int:
        return int(self.checksum.partition("-")[0])


def write_part(path: Path, part: pa.RecordBatch) -> None:
    """Write `part`, of a `memo_schema`, whole or not at all."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            blocks = (part.slice(start, BLOCK_ROWS) for start in range(0, part.num_rows, BLOCK_ROWS))
            streams = [_written(file, batch) for batch in chain([part.select(_KEYS)], blocks)]
            contents = json.dumps([vars(stream) for stream in streams]).encode("ascii")
            file.write(contents + _TAIL.pack(xxhash.xxh3_128_digest(contents), len(contents), _MARK))

    write_whole(path, write)


def _written(file: BinaryIO, batch: pa.RecordBatch) -> _Stream:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as writer:
        writer.write_batch(batch)
    content, start = memoryview(sink.getvalue()), file.tell()
    file.write(content)
    return _Stream(start, batch.num_rows, checksum(content))


class PartFile:
    """A part that is open for reading: what it holds is known, none of its results are read yet.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        """Read what the part holds."""
        self.path = path
        try:
            with path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                digest, length, mark = _TAIL.unpack(_read(file, size - _TAIL.size, _TAIL.size))
                contents = _read(file, size - _TAIL.size - length, length)
                if mark != _MARK or xxhash.xxh3_128_digest(contents) != digest:
                    raise ValueError("its contents are others than were written")
        except (OSError, ValueError, struct.error) as error:
            raise DamagedError(path, str(error), _MEND) from None
        self._keys, *self._blocks = (_Stream(**stream) for stream in json.loads(contents))

    @property
    def blocks(self) -> int:
        """Blocks that it has."""
        return len(self._blocks)

    def keys(self) -> pa.RecordBatch:
        """Fingerprint of each input, and whether its result is final.

        Raises DamagedError: they are not as they were written.
        """
        return self._batch(self._keys)

    def block(self, number: int) -> pa.RecordBatch:
        """Results of up to 256 inputs. Raises DamagedError: they are not as they were written."""
        return self._batch(self._blocks[number])

    def check(self, number: int) -> None:
        """Read a block, but for its meaning. Raises DamagedError: it is not as it was written."""
        self._content(self._blocks[number])

    def whole_blocks(self) -> Iterator[pa.RecordBatch]:
        """The blocks that are not damaged."""
        for number in range(self.blocks):
            try:
                yield self.block(number)
            except DamagedError:
                continue

    def damage(self) -> str:
        """What is wrong with its streams, all of which are read; empty where nothing is."""
        try:
            for stream in (self._keys, *self._blocks):
                self._content(stream)
        except DamagedError as error:
            return error.why
        return ""

    def _batch(self, stream: _Stream) -> pa.RecordBatch:
        with pa.ipc.open_stream(pa.py_buffer(self._content(stream))) as reader:
            return reader.read_next_batch()

    def _content(self, stream: _Stream) -> bytes:
        try:
            with self.path.open("rb") as file:
                content = _read(file, stream.start, stream.size)
        except (OSError, ValueError) as error:
            raise DamagedError(self.path, str(error), _MEND) from None
        if checksum(content) != stream.checksum:
            raise DamagedError(self.path, "its bytes are others than were written", _MEND)
        return content


def _read(file: Any, start: int, size: int) -> bytes:
    if start < 0:
        raise ValueError("it is too short")
    file.seek(start)
    content: bytes = file.read(size)
    if len(content) != size:
        raise ValueError("it is too short")
    return content


@dataclass(frozen=True)
class MemoIndex:
    """Where each input's result stands; arrays of one length, sorted by `high`, the best result first."""

    high: npt.NDArray[np.uint64]
    low: npt.NDArray[np.uint64]
    final: npt.NDArray[np.bool_]
    part: npt.NDArray[np.int32]
    row: npt.NDArray[np.int64]

    def beside(self, damaged: Sequence[tuple[int, int]]) -> npt.NDArray[np.bool_]:
        """Which results are not in these (part, block)."""
        stays = np.ones(len(self.high), dtype=np.bool_)
        for part, block in damaged:
            stays &= (self.part != part) | (self.row // BLOCK_ROWS != block)
        return stays

    def only(self, stays: npt.NDArray[np.bool_]) -> MemoIndex:
        """The index of these results alone."""
        return MemoIndex(self.high[stays], self.low[stays], self.final[stays], self.part[stays], self.row[stays])

    def find(self, prints: Fingerprints) -> npt.NDArray[np.int64]:
        """Position of each fingerprint in the index, -1 where it is absent; shape (len(prints),)."""
        high, low = halves(prints)
        at = np.searchsorted(self.high, high)
        positions = np.full(len(prints), -1, dtype=np.int64)
        open_ = np.arange(len(prints))
        while open_.size:
            inside = at[open_] < len(self.high)
            open_ = open_[inside]
            open_ = open_[self.high[at[open_]] == high[open_]]
            same = self.low[at[open_]] == low[open_]
            positions[open_[same]] = at[open_[same]]
            open_ = open_[~same]
            at[open_] += 1
        return positions


def halves(prints: Fingerprints) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """The two halves of fingerprints as numbers, each of shape (len(prints),)."""
    pairs = np.ascontiguousarray(prints).view(np.uint64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@dataclass(frozen=True)
class Results:
    """Where each result of a memo stands; arrays of one length, sorted by fingerprint."""

    parts: list[Path]  # The files.
    heads: npt.NDArray[np.uint64]  # First 8 bytes of the fingerprint.
    found: npt.NDArray[np.bool_]  # Whether it is the one that a lookup finds, and needs no other try.
    part: npt.NDArray[np.int32]  # Position among `parts`.
    row: npt.NDArray[np.int64]  # Row in the part.
