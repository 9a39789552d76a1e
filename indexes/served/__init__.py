"""Served tables: of each of them a LanceDB table for every version that a snapshot pins, `chunks-3.lance`.

A build writes a new version in one stream and indexes it; then it is never written to again. So the checksums of its
files are taken once, damage to one version is damage to no other, and one that nothing needs goes with its directory.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pyarrow as pa
import pydantic

from quern.indexes.checksums import VERIFIED, DamagedError
from quern.indexes.stages import columns_in
from quern.schemas.tables import Table

_CLIENT: Final = "lance_namespace_urllib3_client"


class _BuiltWhenUsed(pydantic.BaseModel):
    """A model whose validator is built when the first of it is made."""

    model_config = pydantic.ConfigDict(defer_build=True)


@contextmanager
def _in_its_place(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """Another value of a name of a module."""
    before = vars(module)[name]
    vars(module)[name] = value
    try:
        yield
    finally:
        vars(module)[name] = before


def import_lancedb() -> Any:
    """The module `lancedb`.

    Of the client only the models of its messages are loaded, 290 of them, and their validators built when one is used;
    that methods override others of the same form is not compared in their bytecode; and nothing looks for garbage among
    so many classes. Processor time: .17 s for .50 s.
    """
    client = find_spec(_CLIENT) if _CLIENT not in sys.modules else None
    if client is not None:
        # The package without what its `__init__` imports.
        sys.modules[_CLIENT] = module_from_spec(client)
    with ExitStack() as stack:
        stack.enter_context(_in_its_place(pydantic, "BaseModel", _BuiltWhenUsed))
        # LanceDB takes the decorator of the package `overrides` where the standard library has none.
        if sys.version_info < (3, 12) and find_spec("overrides") is not None:
            import overrides
            import typing_extensions

            stack.enter_context(_in_its_place(overrides, "override", typing_extensions.override))
        if gc.isenabled():
            gc.disable()
            stack.callback(gc.enable)
        import lancedb
    return lancedb


# Lance warns on standard error of a data set that it is about to create.
os.environ.setdefault("LANCEDB_LOG", "error")


def quote(value: str) -> str:
    """`value` as a string literal of LanceDB's filter language (SQL of DataFusion)."""
    return "'" + value.replace("'", "''") + "'"


class ServedTable:
    """One version of a served table, open for reading; `hold` is what keeps it from being pruned."""

    def __init__(self, lance: Any, table: Table, hold: object = None) -> None:
        self.lance = lance
        self.table = table
        self._hold = hold

    @property
    def rows(self) -> int:
        """Rows of this version."""
        return int(self.lance.count_rows())

    def batches(self, columns: Sequence[str], rows: int = 8192) -> Iterator[pa.RecordBatch]:
        """The named columns, batch by batch, in the order of the table."""
        with self._held():
            for batch in self.lance.search().select(self._there(columns)).limit(self.rows).to_batches(rows):
                yield pa.RecordBatch.from_arrays(columns_in(batch, self.table.fields(columns)), names=list(columns))

    def lookup(self, column: str, values: Sequence[str], columns: Sequence[str] | None = None) -> pa.Table:
        """Rows whose `column` is one of `values`, in no particular order."""
        names = list(columns or self.table.schema.names)
        if not values:
            there = self._there(names)
            return pa.schema([(self.lance if n in there else self.table).schema.field(n) for n in names]).empty_table()
        tables = []
        for at in range(0, len(values), 1000):
            where = f"{column} IN ({', '.join(quote(v) for v in values[at : at + 1000])})"
            with self._held():
                rows = self.lance.search().where(where).select(self._there(names)).limit(self.rows).to_arrow()
            tables.append(pa.Table.from_arrays(columns_in(rows, self.table.fields(names)), names=names))
        return pa.concat_tables(tables)

    def _there(self, columns: Sequence[str]) -> list[str]:
        names = set(self.lance.schema.names)
        return [name for name in columns if name in names]

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Tell of files that went since the table was opened: whoever has no lease may lose them, or to a hand."""
        try:
            yield
        except RuntimeError as error:
            if "not found" not in str(error).lower():
                raise
            raise DamagedError(Path(self.lance.uri), "files of it went while it was read") from None


class ServedTables:
    """The LanceDB database of a warehouse."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @cached_property
    def database(self) -> Any:
        """The connection to it; loaded only here: commands that read no table have no need of it."""
        return import_lancedb().connect(str(self.directory))

    def folder(self, table: str, version: int) -> Path:
        """The directory of a version."""
        return self.directory / f"{table}-{version}.lance"

    def files(self, table: str, version: int, checksums: Mapping[str, str]) -> dict[Path, str]:
        """The files of a version that has these `checksums`, by their paths."""
        folder = self.folder(table, version)
        return {folder / name: expected for name, expected in checksums.items()}

    def check(self, table: str, version: int, checksums: Mapping[str, str]) -> None:
        """Read all files of a version, unless this process did.

        Raises DamagedError: one is not as it was written, or gone, or another stands beside them.
        """
        expected = self.files(table, version, checksums)
        for path, of_file in expected.items():
            if why := VERIFIED.damage(path, of_file):
                raise DamagedError(path, why)
        for path in files_in(self.folder(table, version)):
            if path not in expected:
                raise DamagedError(path, "it is no file of the table")

    def open(self, table: Table, version: int, checksums: Mapping[str, str], hold: object = None) -> ServedTable:
        """The table as it was at `version`; `hold` lives as long as what is returned.

        Raises DamagedError: it is not as it was written; none of its files is given to LanceDB then.
        """
        self.check(table.name, version, checksums)
        return ServedTable(self.database.open_table(f"{table.name}-{version}"), table, hold)


def files_in(folder: Path) -> list[Path]:
    """The files of the directory of a version, in alphabetical order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
