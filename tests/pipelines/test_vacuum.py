"""Vacuum removes what nothing needs; `tests/jobs/core/test_forgetting.py` shows that builds reuse all that they can."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.checksums import write_sealed
from quern.indexes.memo import commit_part, nest
from quern.indexes.memo_uses import add_night, night_at, night_of, oldest_kept, published_nights
from quern.indexes.night_state import NightStates
from quern.indexes.search_files import SearchFiles
from quern.indexes.storage import Space
from quern.pipelines.vacuum import vacuum
from quern.schemas.settings import MemoSettings
from tests.conftest import Quern
from tests.indexes.test_catalog import publish, targets

NIGHTS = ("20240101T000000000", "20240102T000000000", "20240103T000000000")
ONE_NIGHT = MemoSettings(keep_nights=1)


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """Three nights, and what killed writers and builds that cannot be gone on with have left."""
    warehouse = Warehouse.create(tmp_path / "wh")
    for night in NIGHTS:
        publish(warehouse, night, [night])
        add_night(warehouse.memo, night)
        touch(warehouse.logs / f"{night}.log", warehouse.audits / night / "index.html")
    touch(
        warehouse.root / ".tmp-pointer.json",
        warehouse.stages / "edges" / ".tmp-9.parquet",
        warehouse.memo / "embed" / "f" / ".tmp-1.arrow",
        warehouse.root / "work" / "20240104T0000" / "rejects.parquet",
        warehouse.root / "pages" / "parts" / "a.pages.parquet",
    )
    begun = {"stale": NIGHTS[0], "20240105T0000": NIGHTS[-1]}
    for name, parent in begun.items():
        write_sealed(warehouse.builds / name / "begun.json", {"parent": parent})
        touch(warehouse.stages / "pages" / f"{name}.parquet")
    return warehouse


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("content")


def remember(folder: Path, number: int, days_ago: float = 0.0) -> Path:
    """A result in a memo, its part written some days ago."""
    folder.mkdir(parents=True, exist_ok=True)
    prints = np.frombuffer(number.to_bytes(16, "big"), dtype=np.dtype((np.void, 16)))
    rows = pa.record_batch({"row": pa.array([number])})
    path = commit_part(folder, nest(prints, rows, np.zeros(1, np.int64), []))
    then = path.stat().st_mtime - days_ago * 86_400
    os.utime(path, (then, then))
    return path


def files(root: Path) -> dict[str, int]:
    return {str(p.relative_to(root)): p.stat().st_size for p in root.rglob("*") if p.is_file() and p.suffix != ".lock"}


def test_vacuum_frees_what_a_dry_run_says_and_leaves_what_is_read_or_gone_on_with(warehouse: Warehouse) -> None:
    held = warehouse.snapshot(NIGHTS[0])
    before = files(warehouse.root)
    told = vacuum(warehouse, 1, ONE_NIGHT, dry_run=True)
    assert files(warehouse.root) == before
    done = vacuum(warehouse, 1, ONE_NIGHT)
    gone = {name: size for name, size in before.items() if not (warehouse.root / name).exists()}
    assert (told, done.total) == (done, Space(len(gone), sum(gone.values())))
    assert (done.snapshots, done.leased) == ([NIGHTS[1]], [NIGHTS[0]])
    assert not [name for name in files(warehouse.root) if ".tmp-" in name or "work/" in name or NIGHTS[1] in name]
    assert [path.name for path in warehouse.builds.iterdir()] == ["20240105T0000"]
    assert [path.name for path in warehouse.stages.glob("pages/*")] == ["20240105T0000.parquet"]
    assert not (warehouse.root / "pages" / "parts" / "a.pages.parquet").exists()
    assert (targets(warehouse, NIGHTS[0]), targets(warehouse)) == ([NIGHTS[0]], [NIGHTS[2]])
    del held
    assert vacuum(warehouse, 1, ONE_NIGHT).snapshots == [NIGHTS[0]]
    assert sorted(p.name for p in warehouse.logs.iterdir()) == [f"{NIGHTS[2]}.log"]
    assert vacuum(warehouse, 1, ONE_NIGHT).total == Space()


def test_what_searches_made_of_a_table_goes_with_the_last_snapshot_that_has_it(warehouse: Warehouse) -> None:
    files = SearchFiles(warehouse.root)
    digests = [next(iter(warehouse.manifest(night).tables.values())).digest for night in NIGHTS]
    for digest in digests:
        files.opened(f"nodes-{digest[:32]}-index", lambda folder: touch(folder / "codes"), str)
    touch(files.folder / f".tmp-chunks-{digests[-1][:32]}-index" / "unsorted")
    assert vacuum(warehouse, 1, ONE_NIGHT).freed["search"].files == 2 * len(set(digests)) - 1
    assert [path.name for path in files.folder.iterdir() if path.is_dir()] == [f"nodes-{digests[-1][:32]}-index"]


def test_answers_that_were_not_asked_for_since_the_kept_nights_go(warehouse: Warehouse) -> None:
    answers = warehouse.memo / "reasoning" / "answer" / "f"
    old, new = remember(answers, 1, days_ago=400_000), remember(answers, 2)
    assert vacuum(warehouse, 1, ONE_NIGHT).freed["answers"].files == 1
    assert (old.exists(), new.exists()) == (False, True)


def test_states_of_settings_that_were_long_not_used_go_but_never_the_last_of_a_job(warehouse: Warehouse) -> None:
    for name, days in (("alone", 400_000), ("old", 400_000), ("new", 0)):
        folder = warehouse.memo / ("link" if name == "alone" else "deduplicate") / name
        states = NightStates(folder)
        states.commit(states.begin("state"), {})
        then = folder.stat().st_mtime - days * 86_400
        os.utime(folder, (then, then))
    vacuum(warehouse, 1, ONE_NIGHT)
    assert sorted(p.parent.parent.name for p in warehouse.memo.rglob("about.json")) == ["alone", "new"]


def test_nights_are_counted_in_the_order_of_their_publication_also_when_the_clock_was_moved_back(
    tmp_path: Path,
) -> None:
    for night in ("20240103T0000", "20240104T0000", "20230101T0000", "20240104T0000"):
        add_night(tmp_path, night)
    nights = published_nights(tmp_path)
    assert nights == ["20240103T0000", "20230101T0000", "20240104T0000"]
    assert oldest_kept(nights, 2, "20240104T0000") == night_of("20230101T0000")
    assert oldest_kept(nights, 1, "20240103T0000") == night_of("20240103T0000"), "it was rolled back to"
    assert oldest_kept(nights, 4, None) == 0, "of fewer nights all stays"
    (tmp_path / "nights.json").write_text("{")
    assert published_nights(tmp_path) == []
    assert night_at(1_704_067_200_123_000_000) == night_of("20240101T000000123")


def test_the_command_says_what_it_freed(warehouse: Warehouse, quern_here: Quern) -> None:
    told = quern_here("vacuum", "-w", warehouse.root, "--keep", "1", "--dry-run", "--json")
    done = quern_here("vacuum", "-w", warehouse.root, "--keep", "1")
    assert (told.returncode, done.returncode, done.stderr) == (0, 0, "")
    freed = json.loads(told.stdout)
    assert freed["snapshots"] == list(NIGHTS[:2])
    assert f"{freed['total']['files']:,} files" in done.stdout.splitlines()[-1]
