"""A plan says what the next build will do, and does nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from quern.pipelines.inspect.plan import PlannedStep, plan_build
from quern.schemas.settings.reading import load_settings
from tests.conftest import CORPUS

FEW = CORPUS / "pages" / "brannock-review.example" / "2024" / "02"
LOCAL = ("engine.engine=local", "audit.max_shrink=1")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of a few pages; tests must not write to it."""
    folder = tmp_path_factory.mktemp("planned") / "warehouse"
    build(FEW, Warehouse.create(folder), load_settings(None, LOCAL))
    return folder


def planned(warehouse: Path, pages: Path = FEW, *changes: str) -> dict[str, PlannedStep]:
    plan = plan_build(pages, warehouse, load_settings(None, (*LOCAL, *changes)))
    return {step.name: step for step in plan.steps}


def to_do(steps: dict[str, PlannedStep]) -> dict[str, int | None]:
    return {name: step.compute for name, step in steps.items() if step.compute}


def files(folder: Path) -> set[tuple[Path, int]]:
    return {(path, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_of_the_same_pages_nothing_is_computed_and_nothing_is_left_behind(warehouse: Path) -> None:
    before = files(warehouse)
    steps = planned(warehouse)
    assert set(to_do(steps)) == {"ingest", "repeated_lines", "group_chunks"}
    assert all(step.exact for step in steps.values())
    assert {step.why for name, step in steps.items() if name not in to_do(steps)} == {"nothing changed"}
    assert files(warehouse) == before


def test_damaged_results_are_to_be_computed_and_a_plan_leaves_them_as_they_are(warehouse: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(warehouse, tmp_path / "warehouse")
    damaged = {path.parent.parent.name: path for path in sorted((copy / "memo").glob("*/*/*.arrow"))}
    for path in damaged.values():
        content = bytearray(path.read_bytes())
        content[100] ^= 1
        path.write_bytes(content)
    before = files(copy)
    assert planned(copy)["clean"].compute
    assert files(copy) == before


def test_a_changed_setting_is_named_and_what_follows_is_estimated(warehouse: Path) -> None:
    steps = planned(warehouse, FEW, "chunk.tokens=60")
    documents = Warehouse.open(warehouse).manifest().tables["documents"].rows
    assert (steps["chunk"].compute, steps["chunk"].exact) == (documents, True)
    assert steps["chunk"].why == "changed setting chunk.tokens"
    assert (steps["normalise"].compute, steps["deduplicate"].compute) == (0, 0)
    assert not steps["doc2query"].exact
    assert steps["doc2query"].compute
    assert all(step.seconds is not None for step in steps.values())
    assert planned(warehouse, FEW, "filter.alpha=0.5")["filter"].why == "changed setting filter.alpha"


def test_new_pages_are_new_input_of_each_step(warehouse: Path, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    shutil.copytree(FEW, pages)
    page = "<html><body><article><p>The lighthouse at the point was lit again in May.</p></article></body></html>"
    (pages / "new.html").write_text(page)
    steps = planned(warehouse, pages)
    assert (steps["clean"].compute, steps["clean"].why, steps["clean"].exact) == (1, "new input", True)
    assert 1 <= (steps["embed_chunks"].compute or 0) <= 4
    assert (steps["normalise"].compute, steps["normalise"].exact) == (1, False)


def test_before_the_first_build_only_what_the_pages_tell_is_known(tmp_path: Path) -> None:
    steps = planned(tmp_path / "none")
    assert steps["clean"].compute == steps["ingest"].compute
    assert (steps["chunk"].compute, steps["chunk"].why, steps["chunk"].seconds) == (None, "first build", None)
    assert not (tmp_path / "none").exists()


def test_a_plan_says_which_tables_workers_would_write(warehouse: Path) -> None:
    steps = planned(warehouse, FEW, "engine.file_rows=1")
    rows = Warehouse.open(warehouse).snapshot().manifest.tables["documents"].rows
    assert steps["clean"].files == rows > 1
    assert {step.files for name, step in steps.items() if name in ("deduplicate", "entities", "link")} == {1}
