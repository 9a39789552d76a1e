from __future__ import annotations

import json
import resource
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

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
SWEEP = """
datasets:
  towns: {documents: documents.jsonl, questions: questions.jsonl, type: kind}
  gone: {documents: gone.jsonl, questions: gone-questions.jsonl}
baseline: {recipe: dense}
metrics: [R@1, R@5, AllEvidence@5, RR, gold_words, refused, accuracy]
resamples: 500
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
    return {p.stem: p.stat().st_mtime for p in (out / "points").glob("[0-9a-f]*.json") if ".failed" not in p.name}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    """A sweep that was killed after its first point, and then run again."""
    folder = tmp_path_factory.mktemp("sweep")
    with (folder / "documents.jsonl").open("w") as documents, (folder / "questions.jsonl").open("w") as questions:
        for n, place in enumerate(PLACES):
            text = f"The {place} was opened in {1900 + n}. Keeper number {n} paints the {place} every spring."
            questions.write(
                json.dumps(
                    {
                        "query_id": place,
                        "question": f"When was the {place} opened?",
                        "evidence_doc_ids": [place],
                        "answer": f"{1900 + n}",
                    }
                )
                if n % 2
                else json.dumps(
                    {
                        "query_id": place,
                        "question": f"Who paints the {place}?",
                        "evidence_doc_ids": [place, PLACES[n + 1]],
                        "kind": "two",
                    }
                )
            )
            questions.write("\n")
            documents.write(json.dumps({"doc_id": place, "title": place.title(), "text": text}) + "\n")
        questions.write('{"query_id": "none", "question": "Who counts the gulls of Tollen?", "answer": ""}\n')
    (folder / "sweep.yaml").write_text(SWEEP)
    out = folder / "out"
    with start_quern("sweep", folder / "sweep.yaml", "--out", out, "--jobs", 1) as process:
        deadline = time.monotonic() + 120
        while not result_files(out) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
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


def test_a_killed_sweep_goes_on_and_computes_no_finished_point_anew(swept: Swept) -> None:
    assert len(swept.before) >= 1
    after = result_files(swept.out)
    assert {n: after[n] for n in swept.before} == swept.before
    told = json.loads(swept.printed)
    assert told["points"] == 7
    assert told["finished_before"] == len(swept.before)
    assert told["finished_before"] + told["computed"] == 6


def test_a_point_that_fails_is_told_and_the_others_are_measured(swept: Swept) -> None:
    (error,) = json.loads(swept.printed)["failed"].values()
    assert "no-such-model" in error
    table = pq.read_table(swept.out / "results.parquet")
    failed = [r for r in table.to_pylist() if r["error"]]
    assert [r["point"] for r in failed] == ["dense embed.model=no-such-model"]
    assert "no-such-model" in (swept.out / "results.md").read_text().split("## Failed")[1]


def opened(swept: Swept) -> Results:
    sweep = read_sweep(swept.folder / "sweep.yaml")
    return Results(swept.out, plan_sweep(sweep, swept.folder, "sweep.yaml"))


def test_builds_share_what_is_equal_between_them(swept: Swept) -> None:
    built = sorted(opened(swept).built.values(), key=lambda b: b.build_id)
    assert len(built) == 2, "hops need no build of their own"
    for job in ("clean", "normalise", "chunk", "doc2query", "embed"):
        assert built[0].computed[job] > 0
        assert built[1].computed[job] == 0, job
        assert built[1].reused[job] == built[0].computed[job] + built[0].reused[job]
    assert {b.rows["edges"] / b.rows["nodes"] for b in built} == {2.0, 3.0}


def test_figures_are_those_of_evaluate(swept: Swept) -> None:
    from quern.indexes.catalog import Warehouse

    results = opened(swept)
    built = next(b for b in results.built.values() if b.rows["edges"] == 3 * b.rows["nodes"])
    snapshot = Warehouse.open(results.warehouse("towns")).snapshot(built.build_id)
    searcher = Searcher(snapshot, load_settings(None, ["graph.hops=0"], snapshot.manifest.known_settings()))
    expected = evaluate(searcher, read_questions(swept.folder / "questions.jsonl"), find_recipes("qcg"), [1, 5])["qcg"]
    mine = [r for r in rows(results) if r.point == "qcg graph.hops=0" and r.type == "all"]
    found = {r.metric: r for r in mine}
    assert found["R@1"].value == pytest.approx(expected["recall@1"], abs=1e-4)
    assert found["AllEvidence@5"].value == pytest.approx(expected["all_evidence@5"], abs=1e-4)
    assert found["RR"].value == pytest.approx(expected["mrr"], abs=1e-4)
    assert found["R@1"].low <= found["R@1"].value <= found["R@1"].high


def test_answers_are_measured_where_there_are_gold_answers(swept: Swept) -> None:
    found = {(r.point, r.type, r.metric): (r.questions, r.value) for r in rows(opened(swept))}
    assert found["bm25", "all", "gold_words"] == (4, 1.0)
    assert found["bm25", "all", "refused"] == (1, 1.0)
    assert found["bm25", "all", "accuracy"] == (5, 1.0), "four with a gold answer, and one that has none and is refused"
    assert ("bm25", "two", "gold_words") not in found, "no question of this type has a gold answer"


def test_tables_tell_types_differences_and_cost(swept: Swept) -> None:
    table = pq.read_table(swept.out / "results.parquet").to_pylist()
    mine = [r for r in table if r["metric"] == "R@1" and r["point"] == "bm25" and not r["comparison"]]
    assert [(r["type"], r["questions"]) for r in mine] == [("all", 8), ("two", 4)]
    base = next(r for r in table if r["point"] == "dense" and r["metric"] == "R@1" and r["type"] == "all")
    assert (base["over"], base["difference"], mine[0]["over"]) == (None, None, "dense")
    assert mine[0]["difference"] == pytest.approx(mine[0]["value"] - base["value"])
    assert mine[0]["difference_low"] <= mine[0]["difference"] <= mine[0]["difference_high"]
    assert all(r["seconds"] > 0 and r["nodes"] > 0 for r in table if not r["error"])
    questions = pq.read_table(swept.out / "questions.parquet")
    assert questions.num_rows == 6 * 7 * 9
    edges = next(r for r in table if r["comparison"] == "edges" and r["metric"] == "R@1" and r["type"] == "all")
    over = next(r for r in table if r["point"] == edges["over"] and r["metric"] == "R@1" and r["type"] == "all")
    assert (edges["point"], edges["over"]) == ("qcg", "qcg graph.hops=0")
    assert edges["difference"] == pytest.approx(edges["value"] - over["value"])
    page = (swept.out / "results.md").read_text()
    assert "| `bm25` |" in page
    assert "| edges | towns | all | R@1 | `qcg` | `qcg graph.hops=0` | 8 |" in page


def test_two_sweeps_do_not_write_to_one_folder(swept: Swept, quern_here: Quern) -> None:
    with FileLock(swept.out / "sweep.lock"):
        done = quern_here("sweep", swept.folder / "sweep.yaml", "--out", swept.out)
    assert done.returncode == 2
    assert "another sweep is writing" in done.stderr


def test_a_full_disk_ends_a_sweep_and_fails_no_point(swept: Swept, tmp_path: Path) -> None:
    plan = plan_sweep(read_sweep(swept.folder / "sweep.yaml"), swept.folder, "sweep.yaml", frozenset(["towns"]))
    with small_disk(tmp_path / "disk", 200) as disk:
        with pytest.raises(OSError, match="No space left") as raised:
            run_sweep(plan, disk.path / "out", 1)
        assert f"no space is left for {disk.path / 'out'}" in str(sentence(raised.value, []))
        assert list((disk.path / "out").glob("points/*")) == []


def test_a_worker_that_is_killed_costs_no_other_point(swept: Swept, tmp_path: Path) -> None:
    """The kernel may end a process that took too much memory: what was under way is tried again, one by one."""
    with start_quern("sweep", swept.folder / "sweep.yaml", "--out", tmp_path, "--jobs", 2, "--json") as process:
        deadline = time.monotonic() + 120
        while not result_files(tmp_path) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        workers = psutil.Process(process.pid).children()
        next(w for w in workers if any("spawn_main" in word for word in w.cmdline())).kill()
        printed, errors = process.communicate(timeout=300)
    assert process.returncode == 1, errors
    assert json.loads(printed)["computed"] == 6
    assert list(json.loads(printed)["failed"]) == ["dense embed.model=no-such-model"]


def test_a_finished_sweep_starts_no_child(swept: Swept) -> None:
    sweep = read_sweep(swept.folder / "sweep.yaml")
    sweep = sweep.model_copy(update={"grids": sweep.grids[:2]})
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = run_sweep(plan_sweep(sweep, swept.folder, "sweep.yaml"), swept.out)
    assert (len(done.measured), done.failed) == (6, {})
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime == before
    going = [c for c in psutil.Process().children() if c.status() != psutil.STATUS_ZOMBIE]
    assert not [c for c in going if "spawn" in " ".join(c.cmdline())]
