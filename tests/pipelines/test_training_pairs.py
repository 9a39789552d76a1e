"""Pairs that are made of a warehouse without labels."""

from __future__ import annotations

from quern.jobs.text.stems import content_words
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.train import warehouse_pairs


def test_queries_are_positives_and_negatives_lack_the_answer(searcher: Searcher) -> None:
    pairs = list(warehouse_pairs(searcher, 30))
    assert pairs == list(warehouse_pairs(searcher, 30))
    rows = [row for batch in searcher.snapshot.stage("queries").batches() for row in batch.to_pylist()]
    answers = {(row["chunk_id"], row["question"]): row["answer"] for row in rows if row["kept"]}
    positives = [pair for pair in pairs if pair.label == "positive"]
    assert len(positives) == 30
    assert all((pair.origin, pair.question) in answers for pair in positives)
    assert {pair.source for pair in pairs} > {"queries", "fusion"}
    answer = ""
    for pair in pairs:
        if pair.label == "positive":
            own, answer = pair.origin, answers[pair.origin, pair.question]
        else:
            assert pair.origin != own
            assert pair.votes == 3
            assert not content_words(answer) <= content_words(pair.text)
