"""Training pairs: FlagEmbedding's format, one label a pair, and leaks told by content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quern.jobs.text.stems import content_words
from quern.jobs.training.pairs import DataError, HeldOut, Pair, distinct, grouped, read_pairs
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.train import training_pairs, warehouse_pairs, write_table


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


LABELLED = {"query": "What does it cost?", "pos": ["It costs 4 crowns."], "neg": ["The ferry is red.", "It rains."]}


def test_a_question_and_a_text_have_one_label_whatever_their_case_and_punctuation(tmp_path: Path) -> None:
    again = {"query": "what does it cost", "pos": ["it  costs 4 crowns"], "neg": ["It costs 4 crowns!", "Fog."]}
    (group,) = grouped(distinct(read_pairs(write(tmp_path / "a.jsonl", LABELLED, again))))
    assert (group.positives, group.negatives) == (["It costs 4 crowns."], ["The ferry is red.", "It rains.", "Fog."])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"query": "Who?"}', "it has no 'pos'"),
        ('{"query": "Who?", "pos": []}', 'write {"query"'),
        ('{"query": "Who?", "pos": "Ada."}', 'write {"query"'),
        ("{", "Expecting property name"),
    ],
)
def test_a_line_of_another_format_is_named(tmp_path: Path, line: str, told: str) -> None:
    file = write(tmp_path / "a.jsonl", LABELLED)
    file.write_text(file.read_text("utf-8") + line + "\n", "utf-8")
    with pytest.raises(DataError, match=f"a.jsonl, line 2 is no question with texts: {told}"):
        read_pairs(file)


@pytest.mark.parametrize(
    "row",
    [
        {"question": "WHAT does it cost"},
        {"input": "What does it cost?", "passages": [{"text": "Other."}]},
        {"doc_id": "1", "text": "It costs 4 crowns"},
        {"input": "Other?", "passages": [{"text": "It rains!"}]},
    ],
)
def test_a_labelled_pair_that_leaks_is_refused(tmp_path: Path, row: dict[str, object]) -> None:
    labelled, held_out = write(tmp_path / "a.jsonl", LABELLED), write(tmp_path / "held.jsonl", row)
    with pytest.raises(DataError, match=r"1 questions of a\.jsonl leak from the held-out sets, as 'What does it cost"):
        training_pairs(None, [labelled], [held_out], 10)
    other = write(tmp_path / "other.jsonl", {"question": "Who steers?", "text": "Ada steers."})
    assert len(training_pairs(None, [labelled], [other], 10)) == 3


@pytest.mark.parametrize("text", ["Ada steers.", "The ferry\nAda steers."])
def test_a_held_out_text_leaks_with_and_without_a_title_before_it(tmp_path: Path, text: str) -> None:
    apart = HeldOut.read([write(tmp_path / "held.jsonl", {"text": "ada steers"})])
    assert apart.leaks(Pair("Who?", text, "positive", "queries", "c-0"))
    assert not apart.leaks(Pair("Who?", "Ada steers no ferry.", "positive", "queries", "c-0"))


def test_a_held_out_file_without_questions_and_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has neither a question"):
        HeldOut.read([write(tmp_path / "held.jsonl", {"name": "x"})])


def test_the_table_is_audited(tmp_path: Path) -> None:
    right = Pair("Who?", "Ada.", "positive", "labelled", "a.jsonl")
    write_table([right], tmp_path / "right.parquet")
    with pytest.raises(DataError, match="label in_set: 1 of 2 unexpected, such as perhaps"):
        write_table([right, Pair("Who?", "Bo.", "perhaps", "labelled", "a.jsonl")], tmp_path / "wrong.parquet")
    with pytest.raises(DataError, match="unique_keys: 2 of 2 unexpected"):
        write_table([right, right], tmp_path / "twice.parquet")


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
