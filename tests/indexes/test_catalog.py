from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quern.indexes.catalog import Manifest, Warehouse, WarehouseError
from quern.indexes.catalog.history import BuildHistory
from quern.indexes.checksums import DamagedError, read_sealed, sealed, write_sealed
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.schemas.settings import Settings
from quern.schemas.tables import EDGES
from quern.schemas.tables.builds import Build
from quern.schemas.version import VERSION
from tests.tables import Row, stage_of


def edges(warehouse: Warehouse, build_id: str, targets: list[str]) -> Stage:
    rows: list[Row] = [
        {"source": "s'1", "kind": "neighbour", "rank": n, "target": t, "similarity": 0.5} for n, t in enumerate(targets)
    ]
    return stage_of(warehouse.stages / "edges" / f"{build_id}.parquet", EDGES, rows)


def publish(warehouse: Warehouse, build_id: str, targets: list[str]) -> Manifest:
    parent = warehouse.manifest() if warehouse.current_id() else None
    manifest = Manifest(
        build_id=build_id,
        parent=parent.build_id if parent else None,
        started_at=datetime.now(UTC),
        tables={"edges": warehouse.pin(edges(warehouse, build_id, targets), parent)},
        settings=Settings().model_dump(),
        source="test",
        jobs=[],
        audit=[],
    )
    return warehouse.publish(manifest)


def targets(warehouse: Warehouse, build_id: str | None = None) -> list[str]:
    return sorted(warehouse.snapshot(build_id).table("edges").lookup("source", ["s'1"])["target"].to_pylist())


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "wh")


def test_what_is_written_is_not_seen_before_it_is_published(warehouse: Warehouse) -> None:
    with pytest.raises(WarehouseError, match="nothing is published"):
        warehouse.snapshot()
    assert read_sealed(warehouse.root / "warehouse.json")["quern"] == VERSION
    first = publish(warehouse, "1", ["a"])
    reader = warehouse.snapshot().table("edges")
    warehouse.pin(edges(warehouse, "2", ["b"]), first)
    assert targets(warehouse) == ["a"]
    publish(warehouse, "3", ["c"])
    assert reader.lookup("source", ["s'1"])["target"].to_pylist() == ["a"], "an open reader keeps its snapshot"


def test_an_unchanged_table_is_not_written_again(warehouse: Warehouse) -> None:
    first = publish(warehouse, "1", ["a", "b"])
    second = publish(warehouse, "2", ["a", "b"])
    assert second.tables["edges"] == first.tables["edges"]
    assert [p.name for p in warehouse.stages.rglob("*.parquet")] == ["1.parquet"]


def test_rollback_publishes_the_snapshot_before_and_a_build_after_it_goes_on(warehouse: Warehouse) -> None:
    for n in ("1", "2", "3"):
        publish(warehouse, n, [n])
    assert warehouse.rollback().build_id == "2"
    assert targets(warehouse) == ["2"]
    assert warehouse.rollback("1").build_id == "1"
    with pytest.raises(WarehouseError, match="no snapshot before"):
        warehouse.rollback()
    assert publish(warehouse, "4", ["4"]).parent == "1"
    assert targets(warehouse) == ["4"]
    assert targets(warehouse, "3") == ["3"]
    assert warehouse.rollback().build_id == "1", "not 3, which was rolled back"


def test_a_table_that_no_file_declares_cannot_be_built(warehouse: Warehouse) -> None:
    stage = replace(edges(warehouse, "1", ["a"]), table=replace(EDGES, name="ties"))
    with pytest.raises(WarehouseError, match=r"declare it in schemas/tables/ties\.py"):
        warehouse.pin(stage, None)


def test_a_manifest_with_settings_of_another_release_can_still_be_read(warehouse: Warehouse) -> None:
    publish(warehouse, "1", ["1"])
    path = warehouse.root / "snapshots" / "1.json"
    manifest = read_sealed(path)
    manifest["settings"] |= {
        "gone": {"x": 1},
        "link": {"k": 5, "forgotten": True},
        "embed": {"precision": "auto"},
    }
    write_sealed(path, manifest)
    publish(warehouse, "2", ["2"])
    assert warehouse.prune(7) == []
    known = warehouse.manifest("1").known_settings()
    assert (known.link.k, known.embed.precision) == (5, "f32")


def test_a_damaged_pointer_hinders_readers_alone(warehouse: Warehouse) -> None:
    publish(warehouse, "1", ["1"])
    (warehouse.root / "current.json").write_text("{")
    with pytest.raises(DamagedError, match=r"current\.json is damaged .*: `quern snapshots rollback ID` publishes"):
        warehouse.snapshot()
    assert targets(warehouse, "1") == ["1"]
    assert warehouse.parent_id() == "1", "the next build goes on from the newest that is whole"
    warehouse.rollback("1")
    assert targets(warehouse) == ["1"]


def test_a_damaged_manifest_hinders_that_snapshot_alone(warehouse: Warehouse) -> None:
    for n in ("1", "2", "3"):
        publish(warehouse, n, [n])
    path = warehouse.root / "snapshots" / "2.json"
    path.write_text(path.read_text().replace("edges", "edgez"))
    with pytest.raises(DamagedError, match=r"2\.json is damaged"):
        warehouse.snapshot("2")
    assert warehouse.prune(2) == ["1"]
    assert (warehouse.root / "lance" / "edges-2.lance").exists(), "what a damaged manifest names is not known"
    assert warehouse.prune(1) == ["2"]
    assert sorted(p.name for p in warehouse.root.glob("lance/*")) == ["edges-3.lance"]
    assert targets(warehouse) == ["3"]


def test_a_damaged_file_that_says_what_the_directory_is_is_written_again_by_a_build(warehouse: Warehouse) -> None:
    publish(warehouse, "1", ["1"])
    path = warehouse.root / "warehouse.json"
    path.write_text(path.read_text().replace('"version": 3', '"version": 2'))
    with pytest.raises(DamagedError, match=r"warehouse\.json is damaged .*`quern build` mends it"):
        Warehouse.open(warehouse.root)
    assert targets(Warehouse.create(warehouse.root)) == ["1"]
    path.unlink()
    assert targets(Warehouse.create(warehouse.root)) == ["1"]


def damages(path: Path) -> Iterator[bytes]:
    """What a file may hold after one bit flipped, and after it was cut."""
    content = path.read_bytes()
    for at in {0, len(content) // 2, len(content) - 1}:
        flipped = bytearray(content)
        flipped[at] ^= 4
        yield bytes(flipped)
    yield content[: len(content) // 2]
    yield b""


def test_nothing_damaged_is_read_or_pinned_again(warehouse: Warehouse, tmp_path: Path) -> None:
    first = publish(warehouse, "1", ["a", "b"]).tables["edges"]
    folder = warehouse.served.folder("edges", first.version)
    files = [warehouse.root / first.file, *(p for p in folder.rglob("*") if p.is_file())]
    assert len(files) > 5
    for n, name in enumerate(path.relative_to(warehouse.root) for path in files):
        damaged = Warehouse.open(shutil.copytree(warehouse.root, tmp_path / str(n)))
        for content in damages(damaged.root / name):
            (damaged.root / name).write_bytes(content)
            with pytest.raises(DamagedError, match=name.name):
                damaged.snapshot().check()
        again = publish(damaged, "2", ["a", "b"]).tables["edges"]
        assert again != first, "what is damaged is written again"
        assert damaged.manifest("1").tables["edges"] == again, "also for the snapshots before"
        damaged.snapshot().check()
        assert targets(damaged) == targets(damaged, "1") == ["a", "b"]


def test_a_served_table_that_is_gone_is_written_again(warehouse: Warehouse) -> None:
    publish(warehouse, "1", ["1"])
    shutil.rmtree(warehouse.root / "lance" / "edges-1.lance")
    publish(Warehouse.open(warehouse.root), "2", ["1"])
    assert targets(Warehouse.open(warehouse.root)) == ["1"]


def test_pruning_keeps_the_newest_and_the_published_and_frees_the_rest(warehouse: Warehouse) -> None:
    for n in ("1", "2", "3", "4"):
        publish(warehouse, n, [n])
    warehouse.rollback("2")
    assert warehouse.prune(1) == ["1", "3"]
    assert warehouse.snapshot_ids() == ["2", "4"]
    assert (targets(warehouse), targets(warehouse, "4")) == (["2"], ["4"])
    assert sorted(p.name for p in warehouse.stages.rglob("*.parquet")) == ["2.parquet", "4.parquet"]
    with pytest.raises(WarehouseError, match="no snapshot 1"):
        warehouse.snapshot("1")


def test_pruning_frees_versions_that_no_kept_snapshot_pins(warehouse: Warehouse) -> None:
    for n in ("1", "2", "3"):
        publish(warehouse, n, [n])
    warehouse.pin(edges(warehouse, "4", ["4"]), warehouse.manifest())  # of a build that failed
    warehouse.prune(1)
    assert warehouse.served.versions() == [("edges", 3)]
    assert targets(warehouse) == ["3"]


def test_a_stage_whose_writing_failed_leaves_no_file(warehouse: Warehouse) -> None:
    path = warehouse.stages / "edges" / "1.parquet"
    with pytest.raises(RuntimeError, match="stop"), StageWriter(path, EDGES):
        raise RuntimeError("stop")
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("content", [None, "not json", json.dumps({"format": "another"})])
def test_a_directory_that_is_no_warehouse_is_an_error_that_says_how_to_make_one(
    tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "warehouse.json").write_text(content)
    with pytest.raises(WarehouseError, match=r"no warehouse; `quern build|another version"):
        Warehouse.open(tmp_path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (json.dumps({"format": "quern warehouse", "version": 1}), r"an older version of Quern \(format 1\)"),
        (
            sealed({"format": "quern warehouse", "version": 9, "quern": "7.0"}),
            r"a newer .*Quern 7.0, format 9\).* use",
        ),
    ],
    ids=["older", "newer"],
)
def test_a_warehouse_of_another_layout_is_refused_with_what_to_do(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "warehouse.json").write_text(content)
    for way in (Warehouse.open, Warehouse.create):
        with pytest.raises(WarehouseError, match=rf"{told}.* name a new directory and build") as raised:
            way(tmp_path)
        assert "\n" not in str(raised.value)
    assert (tmp_path / "warehouse.json").read_text() == content


def test_a_directory_with_other_files_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(WarehouseError, match="holds other files"):
        Warehouse.create(tmp_path)
    with pytest.raises(WarehouseError, match="is a file"):
        Warehouse.create(tmp_path / "thesis.tex")


def test_of_steps_of_a_build_that_fail_at_once_one_record_stays(tmp_path: Path) -> None:
    history = BuildHistory(tmp_path / "history")
    now = datetime.now(UTC)

    def add(number: int) -> None:
        error = f"step {number}"
        build = Build(
            build_id="20240101T0600", status="failed", error=error, started_at=now, ended_at=now, seconds=0.0, source=""
        )
        history.add(build)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert [build.build_id for build in history.newest_first()] == ["20240101T0600"]
    assert {path.suffix for path in (tmp_path / "history").iterdir()} == {".parquet"}
