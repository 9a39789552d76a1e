"""The laws of declarations: what every file of `schemas/tables` must say, and that saying it there is enough."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from quern.schemas import tables
from quern.schemas.contract.expectations import Expectation, Limits
from quern.schemas.contract.table import Table
from quern.schemas.settings import AuditSettings
from quern.schemas.tables import TABLES, declared

LIMITS = Limits(AuditSettings(languages=("en",)), datetime(2024, 6, 1, tzinfo=UTC))
EVERY = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def expected(table: Table) -> list[Expectation]:
    return list(table.expectations(LIMITS))


@EVERY
def test_a_table_and_each_of_its_columns_say_what_they_mean(table: Table) -> None:
    assert table.doc.endswith(".")
    assert "\n" not in table.doc
    assert [name for name in table.schema.names if not table.meaning(name)] == []


@EVERY
def test_a_key_is_there_in_every_row_and_a_row_that_is_shown_has_one_column_of_it(table: Table) -> None:
    assert not any(table.schema.field(column).nullable for column in table.key)
    assert not table.row or len(table.key) == 1


@EVERY
def test_every_expectation_has_a_name_of_its_own_and_speaks_of_columns_there_are(table: Table) -> None:
    names = [e.name(table.name) for e in expected(table)]
    assert len(set(names)) == len(names)
    columns = {*table.schema.names, *(d.name for d in table.derived)}
    spoken = {value for e in expected(table) for name, value in vars(e).items() if name in ("column", "than", "to")}
    assert spoken <= columns
    assert {c for d in table.derived for c in d.columns} <= set(table.schema.names)


@EVERY
def test_references_lead_to_tables_that_a_row_can_be_found_in(table: Table) -> None:
    for column, target in table.references.items():
        assert column in table.schema.names
        assert TABLES[target].row
    for listing in table.listings:
        assert listing.column in table.references
        assert {*listing.columns, *listing.where[:1]} <= set(table.schema.names)
    assert {*table.indexes, *table.hidden} <= set(table.schema.names)


def test_rows_of_two_tables_are_not_called_the_same() -> None:
    rows = [table.row for table in TABLES.values() if table.row]
    assert len(set(rows)) == len(rows)


def test_a_file_in_the_folder_is_a_table_and_is_registered_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moons.py").write_text(
        "import pyarrow as pa\n"
        "from quern.schemas.contract.table import Table, column\n"
        "MOONS = Table('moons', ('moon_id',), pa.schema([column('moon_id', pa.string(), 'Name of the moon.')]))\n"
    )
    monkeypatch.setattr(tables, "__path__", [*tables.__path__, str(tmp_path)])
    assert list(declared()) == sorted([*TABLES, "moons"])
    assert declared()["moons"].meaning("moon_id") == "Name of the moon."
