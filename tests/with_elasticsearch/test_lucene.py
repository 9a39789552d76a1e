"""The server's BM25, and Quern's own, against that of Lucene itself (Debian: liblucene8-java)."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.lexical import Scored
from quern.indexes.served.search_server import SearchServer
from quern.pipelines.export import export
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.search_server import searched
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.words.terms import STOP_WORDS
from tests.beside import CORPUS

_JARS = sorted(Path("/usr/share/java").glob("lucene-*.jar"))
_RANK = Path(__file__).with_name("Rank.java")
_TOP = 10

pytestmark = pytest.mark.skipif(not (_JARS and shutil.which("java")), reason="needs java and liblucene8-java")


def by_lucene(batch: Batch, folder: Path) -> dict[int, dict[str, float]]:
    """For each question the keys and scores of the best chunks."""
    chunks = batch.searcher.snapshot.stage("chunks")
    rows = [row for b in chunks.batches(["chunk_id", "terms"]) for row in b.to_pylist()]
    queries = [" ".join(dict.fromkeys(terms.split())) for terms in batch.terms]  # A repeated word counts once.
    texts = {
        "texts": [f"{row['chunk_id']}\t{row['terms']}" for row in rows],
        "queries": queries,
        "stop": STOP_WORDS,
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{' '.join(line.split(chr(10)))}\n" for line in lines), encoding="utf-8")
    command = ["java", "-cp", ":".join(map(str, _JARS)), str(_RANK), *(str(folder / name) for name in texts)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=120)
    found: dict[int, dict[str, float]] = {}
    for line in done.stdout.splitlines():
        question, key, score = line.split("\t")
        found.setdefault(int(question), {})[key] = float(score)
    return found


def compared(found: Scored, lucene: dict[int, dict[str, float]], batch: Batch) -> tuple[float, float]:
    """The share of Lucene's best that `found` has among its own, and the largest relative difference of their scores.

    Scores are compared up to a factor: Elasticsearch multiplies with k1 + 1, which Lucene left out since version 8.
    """
    shares, ratios = [], []
    for question, expected in lucene.items():
        mine = found.question == question
        keys = batch.graph.members.chunks.take(found.chunk[mine][:_TOP]).to_pylist()
        scores = dict(zip(keys, found.score[mine][:_TOP].tolist(), strict=True))
        same = expected.keys() & scores.keys()
        shares.append(len(same) / len(expected))
        ratios += [scores[key] / expected[key] for key in same]
    return float(np.mean(shares)), float(np.abs(np.array(ratios) / np.median(ratios) - 1).max())


def test_bm25_is_that_of_lucene(server: SearchServer, by_name: bool, built: Path, tmp_path: Path) -> None:
    snapshot = Warehouse.open(built).snapshot()
    export(Warehouse.open(built), snapshot, "chunks", server, "quern-tests")
    settings = snapshot.manifest.known_settings().model_copy(update={"elasticsearch": server.settings})
    lines = (CORPUS / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    batch = Batch(Searcher(snapshot, settings), [json.loads(line)["question"] for line in lines])
    lucene = by_lucene(batch, tmp_path)
    (on_server,) = searched(batch, ("bm25",))
    shared, difference = compared(on_server, lucene, batch)
    assert shared > 0.98
    if server.kind == "elasticsearch" or by_name:  # The stand-in for OpenSearch scores in another way.
        assert difference < 1e-5
    shared, difference = compared(batch.lexical, lucene, batch)
    assert shared > 0.98
    assert difference < 0.03, "Lucene keeps the length of a text in one byte"
