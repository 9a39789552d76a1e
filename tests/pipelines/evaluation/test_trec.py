"""Judgements and topics of TREC and BEIR: read and measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from quern.pipelines.evaluation.trec import TrecError, read_qrels, read_topics
from quern.schemas.settings import Settings
from tests.conftest import Quern

TOPICS = {"1": "Who winds the clock of Tollen tower?", "2": "What does the Marlow ferry carry?"}
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


def test_a_folder_of_beir_is_measured_as_its_topics_and_judgements_in_trecs_form_are(
    beir: Path, warehouse: Path, quern_here: Quern, tmp_path: Path
) -> None:
    found = figures(quern_here, "-w", warehouse, "--beir", beir, "--recipes", "bm25")
    assert [found["bm25"][name] for name in ("questions", "recall@2", "ndcg@10", "mrr")] == [2, 1.0, 1.0, 1.0]
    qrels, topics = tmp_path / "qrels.txt", tmp_path / "topics.tsv"
    qrels.write_text("1 0 clock 2\n1 0 tower 1\n1 0 bread 0\n2 0 ferry 1\n", "utf-8")
    topics.write_text("".join(f"{key}\t{text}\n" for key, text in TOPICS.items()), "utf-8")
    assert found == figures(quern_here, "-w", warehouse, "--recipes", "bm25", "--qrels", qrels, "--topics", topics)


WRONG = [
    (read_qrels, "1 0 a 1\n1 0 b high\n", ":2: a judgement is"),
    (read_qrels, "1 0 a 0\n", "judges no document relevant"),
    (read_topics, "1\tWho?\n\n2 What?\n", ":3: a topic is an id, a tab and a text"),
    (read_topics, "1\tWho?\n1\tWhat?\n", ":2: this id stands above already"),
    (read_topics, '{"_id": "1", "text": "Who?"}\n{"_id": \n', ":2: the topic is no object of JSON"),
]


@pytest.mark.parametrize(("read", "text", "why"), WRONG)
def test_a_line_that_is_none_of_its_kind_is_named(tmp_path: Path, read: object, text: str, why: str) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(TrecError, match=r"file\.txt") as told:
        read(path)  # type: ignore[operator]
    assert why in str(told.value)


def test_what_is_missing_on_the_command_line_is_said(quern_here: Quern, tmp_path: Path) -> None:
    for arguments in (["--qrels", "q.txt"], [], ["q.jsonl", "--beir", "folder"]):
        done = quern_here("evaluate", "-w", tmp_path, *arguments)
        assert done.returncode == 2
        assert "name what is measured" in done.stderr, arguments
    done = quern_here("evaluate", "-w", tmp_path, "--qrels", tmp_path / "gone.txt", "--topics", tmp_path / "t.tsv")
    assert "gone.txt cannot be read" in done.stderr
