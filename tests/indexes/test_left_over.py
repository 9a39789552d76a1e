"""What writers that were killed had begun."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.storage import sweep, void, write_whole


def test_a_sweep_takes_what_killed_writers_left_and_nothing_that_is_being_written(tmp_path: Path) -> None:
    left, kept = tmp_path / "memo" / ".tmp-abcdefgh.arrow", tmp_path / "kept.json"
    left.parent.mkdir()
    left.write_bytes(b"half")

    def write(temporary: Path) -> None:
        sweep(tmp_path)
        temporary.write_text("whole")

    write_whole(kept, write)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["kept.json"]


def test_a_writer_whose_file_is_swept_before_it_is_held_begins_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []
    fstat = os.fstat

    def swept(handle: int) -> os.stat_result:
        if not made:
            made.extend(tmp_path.glob(".tmp-*"))
            made[0].unlink()
        return fstat(handle)

    monkeypatch.setattr(os, "fstat", swept)
    write_whole(tmp_path / "kept.json", lambda temporary: void(temporary.write_text("whole")))
    assert (tmp_path / "kept.json").read_text() == "whole"
    assert len(made) == 1


def test_a_warehouse_can_be_made_where_the_making_of_one_was_killed(tmp_path: Path) -> None:
    (tmp_path / ".tmp-abcdefgh.json").write_text("{")
    Warehouse.create(tmp_path)
