"""A build whose steps run one by one, also in processes of their own, publishes what a whole build does."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse, WarehouseError, new_build_id
from quern.indexes.storage import exclusive
from quern.pipelines.build.history import builds_of
from quern.pipelines.build.in_progress import StagedBuild, StageError
from quern.pipelines.build.stage import run_stage, stage_names
from quern.pipelines.build.steps import STEPS
from quern.pipelines.inspect.verify import kept_files, verify
from quern.schemas.settings import Settings
from quern.schemas.settings.reading import load_settings
from tests.conftest import ROOT, Quern, build_here, read_jsonl

ID, NEXT = "20240101T0600", "20240102T0600"


def digests(warehouse: Path) -> dict[str, str]:
    return {name: table.digest for name, table in Warehouse.open(warehouse).manifest().tables.items()}


@pytest.fixture(scope="module")
def pages(one_site: Path) -> Path:
    return one_site / "brannock-review.example" / "2024" / "02"


@pytest.fixture(scope="module")
def whole(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that was built in one process; tests must not write to it."""
    return build_here(pages, tmp_path_factory.mktemp("whole") / "warehouse")


def in_one_process(settings: Settings) -> Settings:
    return load_settings(None, ["engine.engine=local"], settings)


def staged(quern: Quern, warehouse: Path, name: str, *more: object) -> subprocess.CompletedProcess[str]:
    return quern("stage", name, "--build", ID, "-w", warehouse, "--engine", "local", *more)


# Stages that run in a process of their own, the last of them with a model; a process takes seconds to start.
ALONE = ("clean", "deduplicate")
TOGETHER = ("embed_pairs", "embed_events")  # Side by side: they share a memo.


def test_stages_run_one_by_one_publish_what_a_whole_build_does(
    pages: Path, whole: Path, tmp_path: Path, quern: Quern, quern_here: Quern
) -> None:
    warehouse = tmp_path / "warehouse"
    early = staged(quern_here, warehouse, "ingest", "--source", tmp_path / "none")
    assert (early.returncode, (warehouse / "warehouse.json").exists()) == (2, False)
    for name in stage_names():
        if name == "clean":
            late = staged(quern_here, warehouse, "chunk")
            assert late.returncode == 2
            assert "the step chunk of build 20240101T0600 needs deduplicate first" in late.stderr
        more = ("--source", pages, "--set", "engine.task_rows=2") if name == "ingest" else ()
        if name == TOGETHER[0]:
            with ThreadPoolExecutor() as pool:
                both = [*pool.map(lambda step: staged(quern, warehouse, step), TOGETHER)]
            assert [done.returncode for done in both] == [0, 0], [done.stderr for done in both]
        done = staged(quern if name in ALONE else quern_here, warehouse, name, *more)
        assert done.returncode == 0, done.stderr
    assert digests(warehouse) == digests(whole)
    assert not (warehouse / "build.holder.json").exists()
    jobs = [job["job"] for job in Warehouse.open(warehouse).manifest().jobs]
    assert jobs == [job["job"] for job in Warehouse.open(whole).manifest().jobs]
    assert not (warehouse / "builds").exists()
    (record,) = builds_of(Warehouse.open(warehouse))
    assert (record.build_id, record.status, len(record.steps)) == (ID, "published", len(STEPS))
    told = read_jsonl(warehouse / "lineage" / f"{ID}.jsonl")
    parents = [e["run"]["facets"]["parent"]["run"] if "parent" in e["run"]["facets"] else None for e in told]
    assert parents == [None, *[{"runId": told[0]["run"]["runId"]}] * 2 * len(STEPS), None]
    again = staged(quern_here, warehouse, "publish")
    assert (again.returncode, "published already" in again.stderr) == (0, True)

    # Another night of the same pages: the first step finishes what would make the same again.
    for name, *more in (("ingest", "--source", pages), ("audit",), ("publish",)):
        done = quern_here("stage", name, "--build", NEXT, "-w", warehouse, "--engine", "local", "--json", *more)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert (told["step"], told["published"]) == (name, name == "publish")
        assert told["finished"] == stage_names()[: None if name == "publish" else -2]
    assert (Warehouse.open(warehouse).current_id(), digests(warehouse)) == (NEXT, digests(whole))


def test_a_step_is_run_by_one_process_and_beside_no_other_writer(pages: Path, tmp_path: Path) -> None:
    catalog = Warehouse.create(tmp_path / "warehouse")
    run_stage("ingest", ID, catalog, pages, in_one_process)

    def run(name: str) -> None:
        run_stage(name, ID, Warehouse.open(catalog.root), None, in_one_process)

    with (
        exclusive(catalog.builds / ID / "clean.lock", TimeoutError()),
        pytest.raises(WarehouseError, match=f"another process runs clean of build {ID}"),
    ):
        run("clean")
    with catalog.lock("a build"), pytest.raises(WarehouseError, match=r"another build is writing to .* \(a build of"):
        run("clean")
    with catalog.lock("clean of a build", beside_others=True):
        with pytest.raises(WarehouseError, match=r"another build is writing to .* \(clean of a build of"):
            run("audit")
        run("clean")


def test_a_publication_that_was_cut_short_is_tried_again_though_the_warehouse_was_moved_meanwhile(
    pages: Path, whole: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path / "was")
    catalog = Warehouse.open(tmp_path / "was")
    tonight = new_build_id()
    for name in stage_names()[:-1]:
        run_stage(name, tonight, catalog, pages if name == "ingest" else None, in_one_process)
    (tmp_path / "was").rename(tmp_path / "warehouse")
    catalog = Warehouse.open(tmp_path / "warehouse")
    begun = StagedBuild.open(catalog.builds / tonight, catalog)
    assert begun is not None
    audit = begun.audited()
    assert audit is not None
    begun.pinned(audit)  # Here the process is killed.
    catalog._write(begun.pinned(audit))  # And here that of another try.
    run_stage("publish", tonight, catalog)
    assert catalog.current_id() == tonight
    assert digests(catalog.root) == digests(whole)
    with pytest.raises(StageError, match=f"build {ID} would sort before {tonight}, which is published"):
        run_stage("ingest", ID, catalog, pages, in_one_process)


def test_stages_are_listed_with_what_must_be_finished_before(quern_here: Quern) -> None:
    told = json.loads(quern_here("steps", "--json").stdout)
    names = [step["name"] for step in told["steps"]]
    assert names == stage_names()
    for n, step in enumerate(told["steps"]):
        assert set(step["upstream"]) <= set(names[:n])
    assert Path(told["declared_in"]).samefile(ROOT / "pipelines" / "build" / "steps.py")
    assert {"images", "timelines"} <= set(told["steps"][-2]["upstream"])
    assert told["steps"][-1] == {"name": "publish", "upstream": ["audit"]}


def test_a_stage_that_cannot_run_says_why(pages: Path, tmp_path: Path, quern_here: Quern) -> None:
    warehouse = tmp_path / "warehouse"
    catalog = Warehouse.create(warehouse)
    unknown = staged(quern_here, warehouse, "clean")
    assert (unknown.returncode, "`quern stage ingest --build" in unknown.stderr) == (2, True)
    named = quern_here("stage", "ingest", "--build", "tonight", "-w", warehouse, "--source", pages)
    assert (named.returncode, "name it by its start" in named.stderr) == (2, True)
    with catalog.lock():
        busy = staged(quern_here, warehouse, "ingest", "--source", pages)
    assert (busy.returncode, "another build is writing" in busy.stderr) == (2, True)
    assert staged(quern_here, warehouse, "ingest", "--source", pages).returncode == 0
    finished = staged(quern_here, warehouse, "ingest")
    assert (finished.returncode, "finished already" in finished.stderr) == (0, True)
    other = staged(quern_here, warehouse, "clean", "--set", "chunk.tokens=100")
    assert (other.returncode, "other settings of chunk" in other.stderr) == (2, True)
    rejects = catalog.builds / ID / "rejects" / "ingest.parquet"
    rejects.write_bytes(rejects.read_bytes()[:-1])
    assert [(file.path, file.mend) for file in verify(kept_files(catalog)).bad] == [(rejects, "the step is done again")]
    assert staged(quern_here, warehouse, "ingest").returncode == 0
    assert verify(kept_files(catalog)).bad == []
