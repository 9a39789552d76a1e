"""The DAGs, run by Airflow itself over a small site: `make test-airflow`."""

from __future__ import annotations

import json
import os
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


def parsed(warehouse: object = "/data/warehouse", folder: Path = DAGS) -> BundleDagBag:
    os.environ["QUERN_WAREHOUSE"] = str(warehouse)
    return BundleDagBag(dag_folder=folder, bundle_path=folder, bundle_name="dags-folder")


def shipped(dag_id: str, warehouse: object) -> DAG:
    bag = parsed(warehouse)
    assert bag.import_errors == {}
    return bag.dags[dag_id]


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
def crawled(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """A warehouse and parameters of a night that crawls the site."""
    folder = tmp_path_factory.mktemp("night")
    seeds = [f"https://{HOST}/{path.relative_to(PAGES.parent)}" for path in PAGES.rglob("*.html")]
    (folder / "seeds.txt").write_text("\n".join(seeds))
    connection = {"connect_to": {HOST: site.address}, "allow_private": ["127.0.0.0/8"], "delay": 0, "max_depth": 0}
    settings = {"crawl": {"contact": "crawler@tests.example", **connection}, "engine": {"engine": "local"}}
    (folder / "settings.yaml").write_text(json.dumps(settings))  # JSON is YAML
    params = {"seeds": str(folder / "seeds.txt"), "settings": str(folder / "settings.yaml")}
    return {"warehouse": folder / "warehouse", "params": params}


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
        before = {f"build.{name}" for name in step["upstream"]} or {"crawl.crawl", "ingest.summary"}
        assert tasks.pop(f"build.{step['name']}") == before
    files = {
        "ingest.find": {"check"},
        "ingest.files": {"ingest.find"},
        "ingest.summary": {"ingest.find", "ingest.files"},
    }
    assert tasks == {"check": set(), "crawl.crawl": {"check"}, **files, "answers.answer": {"build.publish"}}


def test_without_the_command_files_are_parsed_and_a_run_says_at_once_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QUERN_COMMAND", "/nowhere/quern")
    (HOME / "quern" / "steps.json").unlink(missing_ok=True)
    done = run(shipped("nightly_build", tmp_path / "warehouse"))
    assert done.state == "failed"
    assert states(done).pop("check") == "failed"
    assert states(done)["build.steps_unknown"] == "upstream_failed"
    told = capfd.readouterr()
    assert "the command /nowhere/quern was not found: install Quern" in told.out + told.err
    assert not (tmp_path / "warehouse").exists()


def test_a_night_publishes_what_a_build_does_and_a_task_that_fails_once_is_tried_again(
    command: Path, crawled: Mapping[str, Any], tmp_path: Path
) -> None:
    command.with_name("fail-chunk").touch()
    warehouse, params = crawled["warehouse"], crawled["params"]
    dag, night = shipped("nightly_build", warehouse), datetime.now(UTC)
    done = run(dag, night, **params)
    skipped = {name for name, state in states(done).items() if state == "skipped"}
    assert (done.state, skipped) == ("success", {"ingest.files", "ingest.summary", "answers.answer"})
    assert done.get_task_instance("build.chunk").try_number == 2
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
    quern("build", "-w", tmp_path / "warehouse", "--settings", params["settings"], "--json")
    assert digests(warehouse) == digests(tmp_path / "warehouse")

    # Neither the same night nor one before it is built again.
    calls = command.with_name("calls")
    for again in (night, night - timedelta(days=1)):
        calls.unlink()
        done = run(dag, again, **params)
        assert done.state == "success"
        assert {name for name, state in states(done).items() if state != "skipped"} == {"check"}
        assert [line.split()[0] for line in calls.read_text().splitlines()] == ["snapshots"]

    # Of a night without new pages the first step tells that the others have nothing to do.
    calls.unlink()
    (tmp_path / "questions.txt").write_text("Where is peat?\n")
    asked = {"questions": str(tmp_path / "questions.txt"), "answers": str(tmp_path / "answers")}
    done = run(dag, night + timedelta(days=1), **{**params, "seeds": None}, **asked)
    assert (done.state, states(done)["build.clean"]) == ("success", "success")
    assert digests(warehouse) == digests(tmp_path / "warehouse")
    begun = [line.split()[:2] for line in calls.read_text().splitlines()]
    assert begun[1:-1] == [["stage", "ingest"], ["stage", "audit"], ["stage", "publish"]]
    assert begun[-1] == ["answer", asked["questions"]]
    assert (tmp_path / "answers" / "answers.jsonl").exists()


def test_files_are_ingested_one_by_one_by_the_runs_parameters_and_summed_up(command: Path, tmp_path: Path) -> None:
    names = ("a", "{{ 1 + 1 }}; $(exit)")
    for name in names:
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"doc_id": name, "text": "High water is at nine."}) + "\n")
    told = {"sources": [str(tmp_path / "*.jsonl")], "engine": "local", "ray_address": "ray://host:10001"}
    done = run(shipped("bulk_ingest", tmp_path / "warehouse"), **told, set=["link.k=3", "link.k=4"])
    assert done.state == "success"
    # No shell and no template has read a value again.
    options = f"--json --engine=local --warehouse={tmp_path / 'warehouse'}"
    settings = "--set=engine.ray_address=ray://host:10001 --set=link.k=3 --set=link.k=4"
    calls = command.with_name("calls").read_text().splitlines()
    assert sorted(calls) == sorted(f"ingest {tmp_path / name}.jsonl {options} {settings}" for name in names)
    ran = {(ti.task_id, ti.map_index): ti for ti in done.get_task_instances()}
    assert set(ran) == {("find", -1), ("files", 0), ("files", 1), ("summary", -1)}
    assert ran["summary", -1].xcom_pull(task_ids="summary") == {"files": 2, "reused": 0, "pages": 2, "rejects": 0}


@pytest.mark.usefixtures("command")
def test_a_snapshot_is_measured_in_a_folder_of_its_run(crawled: Mapping[str, Any], tmp_path: Path) -> None:
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
        shipped("benchmark_sweep", crawled["warehouse"]),
        night,
        questions=str(tmp_path / "questions.jsonl"),
        sweep=str(tmp_path / "sweep.yaml"),
        benchmarks=str(tmp_path / "results"),
    )
    assert (done.state, set(states(done).values())) == ("success", {"success"})
    results = tmp_path / "results" / night.strftime("%Y%m%dT%H%M%S%f")[:-3]
    assert "bm25" in json.loads((results / "evaluate.json").read_text())
    assert (results / "sweep" / "results.md").exists()


def test_a_time_limit_ends_the_command_and_all_that_it_started(
    command: Path, crawled: Mapping[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    command.with_name("hang").touch()
    warehouse = tmp_path / "warehouse"
    (warehouse / "logs").mkdir(parents=True)
    (warehouse / "logs" / "20261122T0600.log").write_text("the last line of the log\n")
    dag = shipped("nightly_build", warehouse)
    crawl = dag.get_task("crawl.crawl")
    crawl.execution_timeout, crawl.retries = timedelta(seconds=2), 0
    done = run(dag, **crawled["params"])
    assert states(done)["crawl.crawl"] == "failed"
    assert left_of(command.parent) == []
    assert "the last line of the log" in caplog.text
    repeated = f"quern crawl {crawled['params']['seeds']} --settings={crawled['params']['settings']}"
    assert f"{repeated} --warehouse={warehouse}" in caplog.text


DAG_FILE = """
from quern_airflow.benchmark_sweep import benchmark_sweep
from quern_airflow.nightly_build import nightly_build
from quern_airflow.warehouse import Warehouse

def page(context): print("called for", context["dag_run"])

TASKS = {{"doc2query": {{"engine": "ray", "queue": "gpu", "pool": "gpus", "executor_config": {{"cpus": 4}}}}}}
for name in ("news", "law"):
    warehouse = Warehouse(f"/data/{{name}}", tasks={tasks}, on_failure=page, slots=1 if name == "news" else 3)
    globals()[name] = nightly_build(name, warehouse)
    globals()[f"{{name}}_sweep"] = benchmark_sweep(f"{{name}}_sweep", warehouse)
"""


@pytest.mark.usefixtures("command")
def test_each_warehouse_has_a_pool_and_an_asset_of_its_own_and_a_step_an_engine_and_a_queue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "news.py").write_text(DAG_FILE.format(tasks="TASKS"))
    documented = (ROOT / "docs" / "howto" / "airflow.md").read_text("utf-8").split("```python\n")[1].split("```")[0]
    (tmp_path / "documented.py").write_text(documented.replace('nightly_build("news"', 'nightly_build("documented"'))
    bag = parsed(folder=tmp_path)
    assert bag.import_errors == {}
    assert bag.dags["documented"].get_task("build.doc2query").queue == "gpu"
    news, law = bag.dags["news"], bag.dags["law"]
    assert {task.pool for task in news.tasks} == {"quern.data.news", "default_pool", "gpus"}
    readers = {task.task_id for task in news.tasks if task.pool == "default_pool"}
    assert "`airflow pools set quern.data.news 1 /data/news`" in news.doc_md
    assert {task.pool_slots for task in news.tasks} == {1}
    assert "`airflow pools set quern.data.law 3 /data/law`" in law.doc_md
    writes_alone = {task.task_id for task in law.tasks if task.pool_slots == 3}
    assert writes_alone == {"crawl.crawl", "ingest.files", "build.ingest", "build.audit", "build.publish"}
    assert readers == {"check", "ingest.find", "ingest.summary", "answers.answer"}
    step = news.get_task("build.doc2query")
    assert (step.options["engine"], step.queue, step.executor_config) == ("ray", "gpu", {"cpus": 4})
    assert "engine" not in news.get_task("build.triplets").options
    assets = [dag.get_task("build.publish").outlets[0].uri for dag in (news, law)]
    assert assets == ["file:///data/news", "file:///data/law"]
    assert [asset.uri for asset in bag.dags["law_sweep"].schedule] == assets[1:]

    # A task that failed has called it already.
    assert news.dagrun_timeout == timedelta(days=1)
    news.on_failure_callback({"reason": "task_failure", "dag_run": "this run"})
    news.on_failure_callback({"reason": "timed_out", "dag_run": "this late run"})
    called = [line for line in capsys.readouterr().out.splitlines() if line.startswith("called")]
    assert called == ["called for this late run"]


@pytest.mark.usefixtures("command")
def test_a_dag_file_that_names_no_such_step_or_no_warehouse_says_so(tmp_path: Path) -> None:
    (tmp_path / "news.py").write_text(DAG_FILE.format(tasks='{"doc2qery": {}}'))
    (error,) = parsed(folder=tmp_path).import_errors.values()
    assert "there is no task doc2qery; there are answer, audit, " in error
    (error,) = parsed("warehouse").import_errors.values()
    assert "name the warehouse by its absolute path, not 'warehouse'" in error


def left_of(folder: Path) -> list[psutil.Process]:
    """Processes that the stand-in of the command left."""
    return [p for p in psutil.process_iter(["cmdline", "environ"]) if str(folder) in (p.info["cmdline"] or ())]
