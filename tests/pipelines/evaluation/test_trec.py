"""Judgements, topics and runs of TREC and BEIR: read, measured and written."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from quern.pipelines.evaluation.trec import TrecError, read_qrels, read_run, read_topics
from quern.schemas.settings import Settings
from tests.conftest import Quern

TOPICS = {"1": "Who winds the clock of Tollen tower?", "2": "What does the Marlow ferry carry?"}
TOP = """<top>
<num> Number: 1
<title> Who winds the clock
of Tollen tower?
<desc> Description:
The keeper is wanted.
</top>

<top><num>2</num><title></title>
<desc> Description: What does the Marlow ferry carry? </desc></top>
"""
CORPUS = [
    ("clock", "Tollen tower", "The clock of Tollen tower is wound by Ida Moor every Monday before the market opens."),
    ("tower", "", "Tollen tower is forty metres high and was built of grey stone from the quarry beside the river."),
    ("ferry", "Marlow ferry", "The Marlow ferry carries carts, sheep and the post across the sound twice a day."),
    ("bread", "Bakery", "The bakery on the square sells rye bread, and its oven was built by two brothers in 1911."),
]


@pytest.fixture(scope="module")
def beir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beir")
    rows = [{"_id": key, "title": title, "text": text, "metadata": {}} for key, title, text in CORPUS]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    queries = [{"_id": key, "text": text, "metadata": {}} for key, text in TOPICS.items()]
    queries.append({"_id": "3", "text": "Which train?", "metadata": {}})
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries), "utf-8")
    (folder / "qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore", "1\tclock\t2", "1\ttower\t1", "1\tbread\t0", "2\tferry\t1"]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def warehouse(beir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("beir-warehouse") / "wh"
    manifest = build(beir, Warehouse.create(path), Settings.model_validate({"engine": {"engine": "local"}}))
    assert manifest.tables["documents"].rows == len(CORPUS), "queries are no documents"
    assert not [reject for reject in manifest.rejects if reject.startswith(("ingest", "clean"))]
    return path


def figures(quern_here: Quern, *arguments: object) -> dict[str, dict[str, float]]:
    done = quern_here("evaluate", *map(str, arguments), "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


def test_a_folder_of_beir_is_ingested_and_measured(
    beir: Path, warehouse: Path, quern_here: Quern, tmp_path: Path
) -> None:
    out = tmp_path / "bm25.run"
    found = figures(quern_here, "-w", warehouse, "--beir", beir, "--recipes", "bm25", "--run-out", out)["bm25"]
    assert (found["questions"], found["recall@2"], found["ndcg@10"], found["mrr"]) == (2, 1.0, 1.0, 1.0)
    assert {(hit.query_id, hit.doc_id) for hit in read_run(out)} >= {("1", "clock"), ("2", "ferry")}
    again = figures(quern_here, "--beir", beir, "--run", out)["bm25"]
    assert again == found


def test_topics_and_judgements_of_trec_are_those_of_beir(
    beir: Path, warehouse: Path, quern_here: Quern, tmp_path: Path
) -> None:
    qrels, topics = tmp_path / "qrels.txt", tmp_path / "topics.trec"
    qrels.write_text("1 0 clock 2\n1 0 tower 1\n1 0 bread 0\n2 0 ferry 1\n", "utf-8")
    topics.write_text(TOP, "utf-8")
    chosen = ("-w", warehouse, "--recipes", "bm25,dense")
    runs = tmp_path / "runs"
    found = figures(quern_here, *chosen, "--qrels", qrels, "--topics", topics, "--run-out", runs)
    assert found == figures(quern_here, *chosen, "--beir", beir)
    assert sorted(path.name for path in runs.iterdir()) == ["bm25.run", "dense.run"]
    several = quern_here("evaluate", *map(str, chosen), "--beir", beir, "--run-out", tmp_path / "both.run")
    assert several.returncode == 2
    assert "choose one with --recipes" in several.stderr


def test_grades_weigh_what_a_run_ranks(quern_here: Quern, tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "mine.run"
    qrels.write_text("1 0 a 3\n1 0 b 1\n2 0 c 1\n", "utf-8")
    run.write_text("1 Q0 b 1 9.5 mine\n1 Q0 a 2 9.0 mine\n9 Q0 c 1 1 mine\n", "utf-8")
    found = figures(quern_here, "--qrels", qrels, "--run", run, "--k", "1,10")["mine"]
    gain = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert found["ndcg@10"] == pytest.approx(gain / 2, abs=1e-4)
    assert (found["recall@1"], found["recall@10"], found["mrr"], found["questions"]) == (0.25, 0.5, 0.5, 2)


def test_topics_are_read_in_each_form(tmp_path: Path) -> None:
    forms = {
        "topics.tsv": "".join(f"{key}\t{text}\n" for key, text in TOPICS.items()),
        "topics.jsonl": "".join(json.dumps({"qid": int(k), "query": t}) + "\n" for k, t in TOPICS.items()),
        "topics.trec": TOP,
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text, "utf-8")
        assert read_topics(tmp_path / name) == TOPICS, name


WRONG = [
    (read_qrels, "1 0 a 1\n1 a\n", ":2: a judgement is"),
    (read_qrels, "1 0 a 1\n1 0 b high\n", ":2: a judgement is"),
    (read_qrels, "1 0 a 0\n", "judges no document relevant"),
    (read_topics, "1\tWho?\n\n2 What?\n", ":3: a topic is an id, a tab and a text"),
    (read_topics, "1\tWho?\n1\tWhat?\n", ":2: this id stands above already"),
    (read_topics, '{"_id": "1", "text": "Who?"}\n{"_id": 2}\n', ":2: a topic needs an id and a text"),
    (read_topics, '{"_id": "1", "text": "Who?"}\n{"_id": \n', ":2: the topic is no object of JSON"),
    (read_topics, "<top>\n<num> 1\n<title> Who?\n", ":1: the topic has no </top>"),
    (read_run, "1 Q0 a 1 0.5 x\n1 Q0 b 2 nan x\n", ":2: a hit is"),
    (read_run, "1 Q0 a 1 0.5 x\n1 Q0 a 2 0.4 x\n", ":2: the query has this document already"),
    (read_run, "1 a 0.5\n", ":1: a hit is"),
]


@pytest.mark.parametrize(("read", "text", "why"), WRONG)
def test_a_line_that_is_none_of_its_kind_is_named(tmp_path: Path, read: object, text: str, why: str) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(TrecError, match=r"file\.txt") as told:
        read(path)  # type: ignore[operator]
    assert why in str(told.value)


def test_what_is_missing_on_the_command_line_is_said(quern_here: Quern, tmp_path: Path) -> None:
    for arguments in (["--qrels", "q.txt"], ["--run", "x.run"], [], ["q.jsonl", "--beir", "folder"]):
        done = quern_here("evaluate", "-w", tmp_path, *arguments)
        assert done.returncode == 2
        assert "name what is measured" in done.stderr, arguments
    done = quern_here("evaluate", "--qrels", tmp_path / "gone.txt", "--run", tmp_path / "x.run")
    assert "gone.txt cannot be read" in done.stderr
