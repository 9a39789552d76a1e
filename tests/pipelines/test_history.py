"""The record of builds: the table `builds`, lineage events and the report."""

from __future__ import annotations

import json
import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from quern.indexes.catalog import Warehouse
from quern.jobs.core.step import Step
from quern.pipelines.build import in_progress
from quern.pipelines.build.history import builds_of
from quern.pipelines.build.in_progress import BuildRefusedError
from quern.pipelines.build.lineage import Lineage
from quern.pipelines.build.records import Begun
from quern.pipelines.build.steps import STEPS
from quern.pipelines.inspect.report import write_build_report
from quern.pipelines.inspect.verify import kept_files, verify
from quern.pipelines.vacuum import vacuum
from quern.schemas.settings import MemoSettings, Settings
from quern.schemas.tables.builds import Build, BuiltTable
from tests.conftest import Quern, build_here, read_jsonl

Event = dict[str, Any]


@pytest.fixture(scope="module")
def pages(one_site: Path) -> Path:
    return one_site / "brannock-review.example" / "2024" / "02"


@pytest.fixture(scope="module")
def built(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of one build; tests must not write to it."""
    return build_here(pages, tmp_path_factory.mktemp("history") / "warehouse", "link.k=2")


@pytest.fixture
def warehouse(built: Path, tmp_path: Path) -> Path:
    """The warehouse, free to be written to."""
    return Path(shutil.copytree(built, tmp_path / "warehouse"))


def events(warehouse: Path, build_id: str | None = None) -> list[Event]:
    wanted = build_id or max(path.stem for path in (warehouse / "lineage").iterdir())
    return read_jsonl(warehouse / "lineage" / f"{wanted}.jsonl")


def test_a_build_is_a_row_that_any_reader_of_parquet_reads(built: Path) -> None:
    manifest = Warehouse.open(built).manifest()
    (row,) = pq.read_table(built / "history").to_pylist(maps_as_pydicts="strict")
    assert (row["build_id"], row["status"], row["seconds"]) == (manifest.build_id, "published", manifest.seconds)
    assert (row["rejects"], row["settings"]["link.k"]) == (manifest.rejects, "2")
    assert {t["name"]: (t["rows"], t["added"]) for t in row["tables"]} == {
        name: (table.rows, table.rows) for name, table in manifest.tables.items()
    }
    files = [built / manifest.tables["chunks"].file, *(built / "lance").glob("chunks-*/**/*")]
    size = next(t["bytes"] for t in row["tables"] if t["name"] == "chunks")
    assert size == sum(path.stat().st_size for path in files if path.is_file())
    assert [step["name"] for step in row["steps"]] == [step.name for step in STEPS]
    assert 0 < max(step["peak_memory_bytes"] for step in row["steps"]) <= row["peak_memory_bytes"]


def test_rows_outlive_pruning_and_a_damaged_one_is_written_again(
    warehouse: Path, pages: Path, quern_here: Quern
) -> None:
    (first,) = (warehouse / "history").iterdir()
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(content)
    catalog = Warehouse.open(warehouse)
    assert [bad.path for bad in verify(kept_files(catalog)).bad] == [first]
    digests = {name: table.digest for name, table in catalog.manifest().tables.items()}
    build_here(pages, warehouse, "audit.keep_snapshots=1", "link.k=2")
    assert {name: table.digest for name, table in catalog.manifest().tables.items()} == digests
    assert verify(kept_files(catalog)).bad == []
    vacuum(catalog, 1, MemoSettings(keep_nights=1))
    (kept,) = catalog.snapshot_ids()
    second, again = builds_of(catalog)
    assert (second.build_id, second.reuse) == (kept, 1.0)
    assert first.name.startswith(f"{again.build_id}.")
    shown = quern_here("show", "build", again.build_id, "-w", warehouse, "--json")
    assert json.loads(shown.stdout)["row"]["status"] == "published"
    assert [path.stem for path in (warehouse / "lineage").iterdir()] == [kept]


def test_a_refused_build_is_kept_with_what_failed(warehouse: Path, pages: Path, tmp_path: Path) -> None:
    fewer = tmp_path / "pages"
    fewer.mkdir()
    shutil.copy(pages / "replication-fails.html", fewer)
    with pytest.raises(BuildRefusedError):
        build_here(fewer, warehouse, "audit.max_shrink=0")
    refused, published = builds_of(Warehouse.open(warehouse))
    assert (refused.status, refused.parent) == ("refused", published.build_id)
    assert "documents lost since the last build" in (refused.error or "")
    assert {table.name: table.rows for table in refused.tables}["documents"] == 1
    assert [e["eventType"] for e in events(warehouse) if e["job"]["name"] == "build"] == ["START", "FAIL"]


@pytest.mark.parametrize(
    ("error", "status", "state"), [(OSError("no room"), "failed", "FAIL"), (KeyboardInterrupt(), "stopped", "ABORT")]
)
def test_a_build_that_fails_or_is_stopped_is_kept_with_the_steps_it_finished(
    error: BaseException, status: str, state: str, warehouse: Path, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_step = in_progress.run_step

    def failing(step: Step, *rest: Any) -> Any:
        if step.name == "link":
            raise error
        return run_step(step, *rest)

    monkeypatch.setattr(in_progress, "run_step", failing)
    with pytest.raises(type(error)):
        build_here(pages, warehouse, "link.k=1")
    last = builds_of(Warehouse.open(warehouse))[0]
    assert (last.status, last.error) == (status, type(error).__name__)
    assert last.steps[-1].name == STEPS[[step.name for step in STEPS].index("link") - 1].name
    ended = [e for e in events(warehouse) if e["eventType"] == state]
    assert [e["job"]["name"] for e in ended] == ["build.link", "build"]
    assert all(e["run"]["facets"]["errorMessage"]["message"] for e in ended)


def test_lineage_events_tell_the_inputs_of_every_table(built: Path, pages: Path) -> None:
    def names(datasets: list[Event]) -> list[str]:
        return [Path(one["name"]).name for one in datasets]

    ended = {e["job"]["name"]: e for e in events(built) if e["eventType"] == "COMPLETE"}
    for step in STEPS:
        event = ended[f"build.{step.name}"]
        assert names(event["outputs"]) == list(step.makes)
        assert names(event["inputs"]) == list(step.reads or (pages.name,))
        assert all("version" in one["facets"] for one in event["inputs"] if step.reads)
    rows = {Path(o["name"]).name: o["outputFacets"]["outputStatistics"]["rowCount"] for o in ended["build"]["outputs"]}
    assert rows == {name: table.rows for name, table in Warehouse.open(built).manifest().tables.items()}


def test_lineage_events_are_valid_as_the_official_client_has_the_specification(built: Path) -> None:
    """Its classes are generated from the schemas: they refuse unknown fields, missing ones, and other ids and times."""
    pytest.importorskip("openlineage.client", reason="needs openlineage-python: make install-dev")
    base = import_module("openlineage.client.generated.base")
    kinds = {
        "parent": "parent_run.ParentRunFacet",
        "processing_engine": "processing_engine_run.ProcessingEngineRunFacet",
        "errorMessage": "error_message_run.ErrorMessageRunFacet",
        "jobType": "job_type_job.JobTypeJobFacet",
        "schema": "schema_dataset.SchemaDatasetFacet",
        "version": "dataset_version_dataset.DatasetVersionDatasetFacet",
        "outputStatistics": "output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet",
    }

    def checked(name: str, facet: Event) -> Any:
        module, _, kind = kinds[name].partition(".")
        values = {key: value for key, value in facet.items() if key not in ("_producer", "_schemaURL")}
        made = getattr(import_module(f"openlineage.client.generated.{module}"), kind)(**values)
        assert (made._schemaURL, bool(facet["_producer"])) == (facet["_schemaURL"], True)
        return made

    def read(kind: Any, told: Event) -> Any:
        facets = {
            key: {n: checked(n, f) for n, f in told[key].items()} for key in told if key.lower().endswith("facets")
        }
        return kind(**told | facets)

    for event in [*events(built), failed_step(built)]:
        schema, state = event.pop("schemaURL"), base.EventType[event["eventType"]]
        datasets = {
            "inputs": [read(base.InputDataset, one) for one in event["inputs"]],
            "outputs": [read(base.OutputDataset, one) for one in event["outputs"]],
        }
        run, job = read(base.Run, event["run"]), read(base.Job, event["job"])
        assert base.RunEvent(**event | datasets | {"eventType": state, "run": run, "job": job}).schemaURL == schema


def failed_step(built: Path) -> Event:
    """The event of a step that failed, in another warehouse."""
    begun = Begun(build_id="20240101T060000000", source=built, parent=None, settings={})
    other = Warehouse(built.parent / "other")
    other.root.mkdir()
    with pytest.raises(OSError, match="no room"), Lineage(begun, other, Settings()).step(STEPS[1]):
        raise OSError("no room")
    return events(other.root)[-1]


def build_record(**more: Any) -> Build:
    row = {"build_id": "20240101T060000000", "status": "published", "source": "pages", "seconds": 2.0}
    at = {"started_at": "2024-01-01T06:00:00Z", "ended_at": "2024-01-01T06:00:02Z"}
    return Build.model_validate({**row, **at, **more})


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202e\x1b[2J"])
def test_the_report_shows_the_builds_and_escapes_them(
    hostile: str, built: Path, tmp_path: Path, quern_here: Quern
) -> None:
    told = quern_here("report", "-w", built, "--out", tmp_path / "report.html")
    assert (told.returncode, told.stdout) == (0, f"report of 1 build: {tmp_path / 'report.html'}\n")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert all(f'<th scope="row">{step.name}</th>' in page for step in STEPS)
    assert all(f">{title}</h2>" in page for title in ("Funnel", "Rows left out", "Steps", "Builds"))
    names = {"source": hostile, "host": hostile, "engines": {hostile: hostile}, "rejects": {hostile: 1}}
    tables = [BuiltTable(name="pages", rows=3), BuiltTable(name=hostile, rows=1)]
    failed = build_record(status="failed", error=hostile, build_id="20240102T060000000")
    write_build_report([failed, build_record(tables=tables, **names)], tmp_path / "hostile.html", warehouse=hostile)
    page = (tmp_path / "hostile.html").read_text("utf-8")
    assert "failed" in page
    assert not re.search(r"<script|<img|\x1b", page)
    assert "default-src 'none'" in page


def test_a_warehouse_without_builds_has_no_report(tmp_path: Path, quern_here: Quern) -> None:
    Warehouse.create(tmp_path / "new")
    told = quern_here("report", "-w", tmp_path / "new", "--out", tmp_path / "r.html")
    assert (told.returncode, (tmp_path / "r.html").exists()) == (2, False)
    assert "nothing was built" in told.stderr


def test_files_that_cannot_be_written_stop_no_build(
    warehouse: Path, pages: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("history", "lineage"):
        shutil.rmtree(warehouse / name)
        (warehouse / name).write_text("a file")
    build_here(pages, warehouse, "link.k=2")
    said = " ".join(record.message for record in caplog.records)
    for words in ("is not in the table builds", "lineage events are not written"):
        assert said.count(words) == 1


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_report_fits_and_is_accessible(built: Path, tmp_path: Path, width: int, scheme: str) -> None:
    from tests.pipelines.answers.views.test_report_in_browser import shown

    write_build_report(builds_of(Warehouse.open(built)), tmp_path / "r.html", warehouse="WH")
    with shown(tmp_path / "r.html", width, scheme) as page:
        assert page.title()
