from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from quern.indexes.catalog import Warehouse
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.cli.main import sentence
from quern.pipelines.evaluation.retrieval import evaluate
from quern.pipelines.evaluation.sweep.plan import plan_sweep
from quern.pipelines.evaluation.sweep.run import Results, run_sweep
from quern.pipelines.evaluation.sweep.spec import read_sweep
from quern.pipelines.evaluation.sweep.tables import rows
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings.reading import load_settings
from tests.conftest import Quern, start_quern
from tests.disks import small_disk

# The sweep that all share is two builds and six evaluations, in processes of their own.
pytestmark = pytest.mark.long

PLACES = ("quay", "library", "bridge", "market", "school", "ferry", "tower", "mill")
ANSWERS = ("gold_words", "refused", "accuracy")
SWEEP = """
datasets:
  towns: {documents: documents.jsonl, questions: questions.jsonl}
  gone: {documents: gone.jsonl, questions: gone-questions.jsonl}
baseline: {recipe: dense}
metrics: [R@1, R@5, AllEvidence@5, RR, gold_words, refused, accuracy]
grids:
  - {name: hops, recipes: [qcg, bm25], settings: {graph.hops: [0, 1]}}
  - {name: k, recipes: [qcg], settings: {link.k: [2, 3]}}
  - {name: broken, recipes: [dense], settings: {embed.model: [no-such-model]}}
comparisons:
  - {name: edges, of: {recipe: qcg}, over: {recipe: qcg, settings: {graph.hops: 0}}}
"""


@dataclass(frozen=True)
class Swept:
    folder: Path
    out: Path
    before: dict[str, float]
    printed: str


def result_files(out: Path) -> dict[str, float]:
    """Times of the finished points' files."""
    return {p.stem: p.stat().st_mtime for p in (out / "points").glob("[0-9a-f]*.json")}


def wait_for_a_point(out: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not result_files(out) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    """A sweep that was killed after its first point, and then run again."""
    folder = tmp_path_factory.mktemp("sweep")
    with (folder / "documents.jsonl").open("w") as documents, (folder / "questions.jsonl").open("w") as questions:
        for n, place in enumerate(PLACES):
            text = f"The {place} was opened in {1900 + n}. Keeper number {n} paints the {place} every spring."
            asked: dict[str, object] = {"question": f"When was the {place} opened?", "answer": f"{1900 + n}"}
            evidence = [place]
            if n % 2 == 0:
                asked, evidence = {"question": f"Who paints the {place}?", "type": "two"}, [place, PLACES[n + 1]]
            questions.write(json.dumps({"query_id": place, "evidence_doc_ids": evidence, **asked}) + "\n")
            documents.write(json.dumps({"doc_id": place, "title": place.title(), "text": text}) + "\n")
        questions.write('{"query_id": "none", "question": "Who counts the gulls of Tollen?", "answer": ""}\n')
    (folder / "sweep.yaml").write_text(SWEEP)
    out = folder / "out"
    with start_quern("sweep", folder / "sweep.yaml", "--out", out, "--jobs", 1) as process:
        wait_for_a_point(out, process)
        workers = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
    _, alive = psutil.wait_procs(workers, timeout=15)
    assert alive == [], "workers end with a sweep that was killed"
    before = result_files(out)
    with start_quern("sweep", folder / "sweep.yaml", "--out", out, "--jobs", 2, "--json") as process:
        printed, errors = process.communicate(timeout=300)
    assert process.returncode == 1, errors
    assert "dataset gone is not there and is left out" in errors
    assert "Traceback" not in errors
    return Swept(folder, out, before, printed)


def test_a_killed_sweep_goes_on_computes_no_finished_point_anew_and_names_what_fails(swept: Swept) -> None:
    assert len(swept.before) >= 1
    after = result_files(swept.out)
    assert {n: after[n] for n in swept.before} == swept.before
    told = json.loads(swept.printed)
    assert told["points"] == 7
    assert told["finished_before"] == len(swept.before)
    assert told["finished_before"] + told["computed"] == 6
    (error,) = told["failed"].values()
    assert "no-such-model" in error
    failed = [r for r in pq.read_table(swept.out / "results.parquet").to_pylist() if r["error"]]
    assert [r["point"] for r in failed] == ["dense embed.model=no-such-model"]


def opened(swept: Swept) -> Results:
    sweep = read_sweep(swept.folder / "sweep.yaml")
    return Results(swept.out, plan_sweep(sweep, swept.folder, "sweep.yaml"))


def test_figures_are_those_of_evaluate(swept: Swept) -> None:
    results = opened(swept)
    warehouse = Warehouse.open(results.warehouse("towns"))
    snapshots = [warehouse.snapshot(build_id) for build_id in results.built.values()]
    snapshot = next(s for s in snapshots if s.manifest.known_settings().link.k == 3)
    searcher = Searcher(snapshot, load_settings(None, ["graph.hops=0"], snapshot.manifest.known_settings()))
    expected = evaluate(searcher, read_questions(swept.folder / "questions.jsonl"), find_recipes("qcg"), [1, 5])["qcg"]
    found = {r.metric: r for r in rows(results) if r.point == "qcg graph.hops=0" and r.type == "all"}
    for metric, name in (("R@1", "recall@1"), ("AllEvidence@5", "all_evidence@5"), ("RR", "mrr")):
        assert found[metric].value == pytest.approx(expected[name], abs=1e-4)


def test_tables_tell_types_differences_and_figures_of_answers(swept: Swept) -> None:
    table = pq.read_table(swept.out / "results.parquet").to_pylist()
    found = {(r["point"], r["type"], r["metric"]): r for r in table if not r["comparison"]}
    mine, base = found["bm25", "all", "R@1"], found["dense", "all", "R@1"]
    assert (mine["questions"], found["bm25", "two", "R@1"]["questions"]) == (8, 4)
    assert (base["over"], base["difference"], mine["over"]) == (None, None, "dense")
    assert mine["difference"] == pytest.approx(mine["value"] - base["value"])
    assert mine["difference_low"] <= mine["difference"] <= mine["difference_high"]
    edges = next(r for r in table if r["comparison"] == "edges" and r["metric"] == "R@1" and r["type"] == "all")
    assert edges["difference"] == pytest.approx(edges["value"] - found[edges["over"], "all", "R@1"]["value"])
    answered = {m: (found["bm25", "all", m]["questions"], found["bm25", "all", m]["value"]) for m in ANSWERS}
    assert answered == {"gold_words": (4, 1.0), "refused": (1, 1.0), "accuracy": (5, 1.0)}
    assert ("bm25", "two", "gold_words") not in found, "no question of this type has a gold answer"
    page = (swept.out / "results.md").read_text()
    assert "| `bm25` |" in page
    assert "| edges | towns | all | R@1 | `qcg` | `qcg graph.hops=0` | 8 |" in page


def test_two_sweeps_do_not_write_to_one_folder(swept: Swept, quern_here: Quern) -> None:
    with FileLock(swept.out / "sweep.lock"):
        done = quern_here("sweep", swept.folder / "sweep.yaml", "--out", swept.out)
    assert done.returncode == 2
    assert "another sweep is writing" in done.stderr


def test_a_full_disk_ends_a_sweep_and_fails_no_point(swept: Swept, tmp_path: Path) -> None:
    plan = plan_sweep(read_sweep(swept.folder / "sweep.yaml"), swept.folder, "sweep.yaml")
    with small_disk(tmp_path / "disk", 200) as disk:
        with pytest.raises(OSError, match="No space left") as raised:
            run_sweep(plan, disk.path / "out", 1)
        assert f"no space is left for {disk.path / 'out'}" in str(sentence(raised.value, []))
        assert list((disk.path / "out").glob("points/*")) == []


def test_a_worker_that_is_killed_costs_no_other_point(swept: Swept, tmp_path: Path) -> None:
    """The kernel may end a process that took too much memory: what was under way is tried again, one by one."""
    with start_quern("sweep", swept.folder / "sweep.yaml", "--out", tmp_path, "--jobs", 2, "--json") as process:
        wait_for_a_point(tmp_path, process)
        workers = psutil.Process(process.pid).children()
        next(w for w in workers if any("spawn_main" in word for word in w.cmdline())).kill()
        printed, errors = process.communicate(timeout=300)
    assert process.returncode == 1, errors
    assert json.loads(printed)["computed"] == 6
    assert list(json.loads(printed)["failed"]) == ["dense embed.model=no-such-model"]
