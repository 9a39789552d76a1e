"""The DAGs, run by Airflow itself over a small site: `make test-airflow`."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from airflow.dag_processing.dagbag import BundleDagBag
from airflow.models.asset import AssetEvent
from airflow.models.dagrun import DagRun
from airflow.sdk import DAG
from airflow.utils.session import create_session

from tests.jobs.crawl.site import Answer, Asked, Site
from tests.with_airflow.environment import DAGS, HOME, QUERN, ROOT

HOST = "brannock-review.example"
PAGES = ROOT / "tests" / "corpus" / "pages" / HOST / "2024"


def parsed() -> BundleDagBag:
    bag = BundleDagBag(dag_folder=DAGS, bundle_path=DAGS, bundle_name="dags-folder")
    assert bag.import_errors == {}
    return bag


def run(dag: DAG, night: datetime | None = None, **params: Any) -> DagRun:
    """One run of a DAG, whose retries do not wait."""
    for task in dag.tasks:
        task.retry_delay, task.retry_exponential_backoff = timedelta(0), 0
    return dag.test(logical_date=night or datetime.now(UTC), run_conf=params)


def states(done: DagRun) -> dict[str, str | None]:
    return {ti.task_id: ti.state for ti in done.get_task_instances()}


def quern(*arguments: object) -> Any:
    words = [*QUERN, *map(str, arguments)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def digests(warehouse: Path) -> dict[str, str]:
    tables = quern("snapshots", "show", "-w", warehouse, "--json")["tables"]
    return {name: table["digest"] for name, table in tables.items()}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Some pages of the sample corpus, as their host serves them."""
    files = {f"{HOST}/{path.relative_to(PAGES.parent)}": path for path in PAGES.rglob("*.html")}

    def route(asked: Asked) -> Answer:
        file = files.get(f"{asked.host}{asked.path}")
        return Answer(file.read_bytes()) if file else Answer(status=404)

    served = Site(route, tls=tmp_path_factory.mktemp("tls"))
    yield served
    served.close()


@pytest.fixture(scope="module")
def crawled(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Parameters of a night that crawls the site."""
    folder = tmp_path_factory.mktemp("night")
    seeds = [f"https://{HOST}/{path.relative_to(PAGES.parent)}" for path in PAGES.rglob("*.html")]
    (folder / "seeds.txt").write_text("\n".join(seeds))
    connection = {"connect_to": {HOST: site.address}, "allow_private": ["127.0.0.0/8"], "delay": 0, "max_depth": 0}
    settings = {"crawl": {"contact": "crawler@tests.example", **connection}, "engine": {"engine": "local"}}
    (folder / "settings.yaml").write_text(json.dumps(settings))  # JSON is YAML
    named = {"warehouse": "warehouse", "seeds": "seeds.txt", "settings": "settings.yaml"}
    return {name: str(folder / file) for name, file in named.items()}


def test_the_files_are_parsed_in_no_time_and_make_a_task_of_each_step(command: Path) -> None:
    (HOME / "quern" / "steps.json").unlink(missing_ok=True)
    parsed()  # The list of steps is asked for once.
    started = time.monotonic()
    bag = parsed()
    assert time.monotonic() - started < 1
    assert command.with_name("calls").read_text() == "steps --json\n"
    assert set(bag.dags) == {"nightly_build", "bulk_ingest", "benchmark_sweep"}
    tasks = {task.task_id: task.upstream_task_ids for task in bag.dags["nightly_build"].tasks}
    for step in quern("steps", "--json")["steps"]:
        assert tasks.pop(step["name"]) == set(step["upstream"] or ["crawl"])
    assert tasks == {"check": set(), "crawl": {"check"}}


def test_without_the_command_files_are_parsed_and_a_run_says_at_once_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QUERN_COMMAND", "/nowhere/quern")
    (HOME / "quern" / "steps.json").unlink(missing_ok=True)
    done = run(parsed().dags["nightly_build"], warehouse=str(tmp_path / "warehouse"))
    assert done.state == "failed"
    assert states(done) == {"check": "failed", "crawl": "upstream_failed", "steps_unknown": "upstream_failed"}
    told = capfd.readouterr()
    assert "the command /nowhere/quern was not found: install Quern" in told.out + told.err
    assert not (tmp_path / "warehouse").exists()


def test_a_night_publishes_what_a_build_does_and_a_task_that_fails_once_is_tried_again(
    command: Path, crawled: Mapping[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command.with_name("fail-chunk").touch()
    dag, night, warehouse = parsed().dags["nightly_build"], datetime.now(UTC), Path(crawled["warehouse"])
    done = run(dag, night, **crawled)
    assert (done.state, set(states(done).values())) == ("success", {"success"})
    assert done.get_task_instance("chunk").try_number == 2
    build_id = night.strftime("%Y%m%dT%H%M%S%f")[:-3]
    with create_session() as session:
        events = [event.extra for event in session.query(AssetEvent)]
    assert [{name: e[name] for name in ("warehouse", "build_id")} for e in events] == [
        {"warehouse": str(warehouse), "build_id": build_id}
    ]

    # The same pages, built at once.
    for name in ("pages", "warc", "crawl"):
        shutil.copytree(warehouse / name, tmp_path / "warehouse" / name)
    shutil.copy(warehouse / "warehouse.json", tmp_path / "warehouse")
    quern("build", "-w", tmp_path / "warehouse", "--settings", crawled["settings"], "--json")
    assert digests(warehouse) == digests(tmp_path / "warehouse")

    # Neither the same night nor one before it is built again.
    calls = command.with_name("calls")
    for again in (night, night - timedelta(days=1)):
        calls.unlink()
        skipped = run(dag, again, **crawled)
        assert skipped.state == "success"
        assert {name for name, state in states(skipped).items() if state != "skipped"} == {"check"}
        assert [line.split()[0] for line in calls.read_text().splitlines()] == ["snapshots"]

    # Of a night without new pages the first step tells that the others have nothing to do.
    calls.unlink()
    done = run(dag, night + timedelta(days=1), **{**crawled, "seeds": None})
    assert (done.state, states(done)["clean"], digests(warehouse)) == (
        "success",
        "success",
        digests(tmp_path / "warehouse"),
    )
    begun = [line.split()[:2] for line in calls.read_text().splitlines()]
    assert begun[1:] == [["stage", "ingest"], ["stage", "audit"], ["stage", "publish"]]


@pytest.mark.usefixtures("command")
def test_files_are_ingested_one_by_one_and_summed_up(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"doc_id": name, "text": "High water is at nine."}) + "\n")
    done = run(parsed().dags["bulk_ingest"], warehouse=str(tmp_path / "warehouse"), sources=[str(tmp_path / "*.jsonl")])
    assert done.state == "success"
    ran = {(ti.task_id, ti.map_index): ti for ti in done.get_task_instances()}
    assert set(ran) == {("find", -1), ("ingest", 0), ("ingest", 1), ("summary", -1)}
    assert ran["summary", -1].xcom_pull(task_ids="summary") == {"files": 2, "reused": 0, "pages": 2, "rejects": 0}


@pytest.mark.usefixtures("command")
def test_a_snapshot_is_measured_in_a_folder_of_its_run(crawled: Mapping[str, str], tmp_path: Path) -> None:
    question = {"query_id": "1", "question": "Where is peat?", "answer": "Under Tollen."}
    crawled_page = {**question, "evidence_urls": [f"https://{HOST}/2024/03/peat-under-tollen.html"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(crawled_page) + "\n")
    (tmp_path / "gold.jsonl").write_text(json.dumps({**question, "evidence_doc_ids": ["d1"]}) + "\n")
    (tmp_path / "documents.jsonl").write_text(json.dumps({"doc_id": "d1", "text": "Peat lies under Tollen."}) + "\n")
    sweep = {
        "datasets": {"tiny": {"documents": "documents.jsonl", "questions": "gold.jsonl"}},
        "metrics": ["R@5"],
        "baseline": {"recipe": "bm25"},
        "grids": [{"name": "recipes", "recipes": ["bm25"]}],
    }
    (tmp_path / "sweep.yaml").write_text(json.dumps(sweep))
    night = datetime.now(UTC)
    done = run(
        parsed().dags["benchmark_sweep"],
        night,
        warehouse=crawled["warehouse"],
        questions=str(tmp_path / "questions.jsonl"),
        sweep=str(tmp_path / "sweep.yaml"),
        benchmarks=str(tmp_path / "results"),
    )
    assert (done.state, set(states(done).values())) == ("success", {"success"})
    results = tmp_path / "results" / night.strftime("%Y%m%dT%H%M%S%f")[:-3]
    assert "bm25" in json.loads((results / "evaluate.json").read_text())
    assert (results / "sweep" / "results.md").exists()


def test_a_time_limit_ends_the_command_and_all_that_it_started(
    command: Path, crawled: Mapping[str, str], tmp_path: Path
) -> None:
    command.with_name("hang").touch()
    dag = parsed().dags["nightly_build"]
    dag.get_task("crawl").execution_timeout = timedelta(seconds=2)
    dag.get_task("crawl").retries = 0
    done = run(dag, **{**crawled, "warehouse": str(tmp_path / "warehouse")})
    assert states(done)["crawl"] == "failed"
    assert left_of(command.parent) == []


def left_of(folder: Path) -> list[psutil.Process]:
    """Processes that the stand-in of the command left."""
    return [p for p in psutil.process_iter(["cmdline", "environ"]) if str(folder) in (p.info["cmdline"] or ())]
