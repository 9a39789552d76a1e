"""The table `builds`: one Parquet file per build, which no pruning deletes.

A file is named `BUILD_ID.CHECKSUM.parquet`, so that it tells by itself whether it is as it was written. All of them
together are one table for any reader of Parquet: `pandas.read_parquet("WH/history")`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.catalog.object_store import StoredSnapshots
from quern.indexes.checksums import checksum, damage
from quern.indexes.stage_writers import parquet_options
from quern.indexes.stages import columns_in
from quern.indexes.storage import exclusive, void, write_whole
from quern.schemas.tables.builds import BUILDS, Build

log = logging.getLogger(__name__)

_NAME: Final = re.compile(r"\d{8}T\d+\.(\d+-[0-9a-f]{32})\.parquet")
MEND: Final = "the next build writes it again while its snapshot is kept; else delete it"


class BuildHistory:
    """The records of builds in one folder."""

    def __init__(self, folder: Path, store: StoredSnapshots | None = None) -> None:
        self._folder = folder
        self._store = store

    def files(self, build_id: str = "*") -> dict[Path, str]:
        """The files of all builds, oldest first, or of one, and their checksums."""
        matches = ((path, _NAME.fullmatch(path.name)) for path in sorted(self._folder.glob(f"{build_id}.*.parquet")))
        return {path: name[1] for path, name in matches if name}

    def add(self, build: Build) -> None:
        """Write the record of a build, in place of an earlier or a damaged one.

        Raises OSError: it cannot be written; an earlier one is kept; StoreError: it cannot be uploaded.
        """
        sink = pa.BufferOutputStream()
        table = pa.Table.from_pylist([build.model_dump()], schema=BUILDS.schema)
        pq.write_table(table, sink, **parquet_options(BUILDS.schema))
        content = sink.getvalue().to_pybytes()
        path = self._folder / f"{build.build_id}.{checksum(content)}.parquet"
        # Two steps of a build may fail at once. Beside the folder: readers of Parquet read all files in it.
        with exclusive(self._folder.with_suffix(".lock"), TimeoutError(), -1.0):
            write_whole(path, lambda temporary: void(temporary.write_bytes(content)))
            for other in self.files(build.build_id):
                if other != path:
                    other.unlink(missing_ok=True)
        if self._store:
            self._store.put_history(path)

    def has(self, build_id: str) -> bool:
        """Whether there is a record of the build, as it was written."""
        return any(not damage(path, expected) for path, expected in self.files(build_id).items())

    def newest_first(self) -> Iterator[Build]:
        """The records, read one by one; a damaged one is logged and left out."""
        if self._store:
            self._store.fetch_history(self._folder)
        for path, expected in reversed(self.files().items()):
            if why := damage(path, expected):
                log.warning("%s is damaged (%s): %s", path, why, MEND)
                continue
            with pq.ParquetFile(path) as file:
                table = file.read(use_threads=False)
            records = pa.Table.from_arrays(columns_in(table, BUILDS.schema), schema=BUILDS.schema)
            for row in records.to_pylist(maps_as_pydicts="strict"):
                yield Build.model_validate({name: value for name, value in row.items() if value is not None})
