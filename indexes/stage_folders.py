"""A staged table that is a folder of Parquet files: most of them are links to files that exist already.

The name of the folder ends in `.parquet`, as that of Spark's tables does; pandas, Spark and pyarrow read it as one.
`_files.json` in it names the files in their order, with their rows and checksums.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

import pyarrow as pa

from quern.indexes.checksums import checksum_of, write_sealed
from quern.indexes.stages import INDEX, FolderFile, Stage, StageWriter, digest_columns
from quern.schemas.digests import TableDigest
from quern.schemas.tables import Table


class FolderWriter:
    """Writes one staged table as a folder, which appears under its name only when it is complete.

    Use as a context manager, then call `stage()`. An exception inside leaves no folder.
    """

    def __init__(self, path: Path, table: Table) -> None:
        self._path = path
        self._table = table
        self._digest = TableDigest()
        self._files: dict[str, FolderFile] = {}
        self._temporary = path.with_name(f".tmp-{path.name}")
        remove(self._temporary)
        self._temporary.mkdir(parents=True)

    @property
    def digest_columns(self) -> list[str]:
        """The columns that the table's digest is made of."""
        return digest_columns(self._table)

    def link(self, file: Path, checksum: str, batches: Iterable[pa.RecordBatch]) -> None:
        """Add all rows of `file`, a Parquet file with the table's schema.

        The file may go afterwards: what is linked stays. Where it cannot be linked it is copied.

        Args:
            file: The file.
            checksum: Its checksum.
            batches: Its columns `digest_columns`.
        """
        before = self._digest.rows
        for batch in batches:
            self._digest.update(batch.select(self.digest_columns))
        target = self._next()
        try:
            os.link(file, target)
        except OSError:  # another file system, or one without links
            shutil.copyfile(file, target)
        with target.open("rb") as written:
            os.fsync(written.fileno())
        self._files[target.name] = FolderFile(self._digest.rows - before, checksum)

    def write_all(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Add `batches` as a new file."""
        before = self._digest.rows
        target = self._next()
        with StageWriter(target, self._table, self._digest) as writer:
            writer.write_all(batches)
        self._files[target.name] = FolderFile(self._digest.rows - before, writer.checksum)

    def _next(self) -> Path:
        return self._temporary / f"{len(self._files):06d}.parquet"

    def __enter__(self) -> FolderWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        try:
            if kind is None:
                self._close()
        finally:
            remove(self._temporary)

    def _close(self) -> None:
        """Complete the folder."""
        if not self._files:
            self.write_all([])  # A folder without a file has no schema.
        write_sealed(self._temporary / INDEX, {"files": {name: vars(file) for name, file in self._files.items()}})
        remove(self._path)
        self._temporary.replace(self._path)

    def stage(self) -> Stage:
        """What was written."""
        listed = checksum_of(self._path / INDEX)
        return Stage(self._table, self._path, self._digest.rows, self._digest.hexdigest(), listed)


def remove(path: Path) -> None:
    """Delete the file or folder of a staged table, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
