"""ALCE's measures, over a file whose figures are worked out by hand."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.pipelines.evaluation.alce.citations import (
    CitationCounts,
    CitedSentence,
    citation_counts,
    cited_items,
    cited_sentences,
    without_marks,
)
from quern.pipelines.evaluation.alce.measure import evaluate_file, list_score, short_answers_there
from quern.pipelines.evaluation.alce.records import AlceRecord, read_records
from quern.pipelines.evaluation.retrieval import EvaluationError
from quern.schemas.settings import EntailmentSettings, Settings
from tests.conftest import Quern

BY_WORDS = Settings(entailment=EntailmentSettings(vectors=False))
DOCS = [
    {"title": "Casterby", "text": "Casterby had 8,340 inhabitants in 2021. The mayor is Ida Thorne."},
    {"title": "Market hall", "text": "The market hall of Casterby was opened on 9 May 2024."},
    {"title": "Penguins", "text": "Penguins breed in large colonies on southern coasts."},
]


def holds(inputs: Sequence[EntailmentInput]) -> list[bool]:
    """A stand-in for entailment: each letter of the statement must be among those of the passages."""
    return [set(g.statement) <= set("".join(p.text for p in g.passages)) for g in inputs]


@pytest.mark.parametrize(
    ("citations", "texts", "recalled", "cited", "precise"),
    [
        ((), ["ab"], 0, 0, 0),  # Nothing is cited.
        ((1,), ["a"], 0, 1, 0),
        ((1, 2), ["a", "b"], 1, 2, 2),  # Neither alone, each needed.
        ((1, 2), ["ab", "x"], 1, 2, 1),  # The second neither says it nor is needed.
        ((1, 2), ["ab", "ab"], 1, 2, 2),  # Each says it alone.
        ((1, 2, 3), ["a", "b", "b"], 1, 3, 1),  # Of the last two either will do.
        ((1, 2, 3, 4), ["a", "x", "y", "b"], 0, 3, 0),  # The fourth does not count.
        ((1, 4), ["ab", "x", "y"], 0, 0, 0),  # There is no fourth: nothing of the sentence counts.
        ((0, 1), ["ab"], 0, 0, 0),
    ],
)
def test_citations_are_counted_as_alce_defines_them(
    citations: tuple[int, ...], texts: list[str], recalled: int, cited: int, precise: int
) -> None:
    answer = AlceRecord("?", "", [CitedSentence("ab", citations)], [Passage(text) for text in texts])
    assert citation_counts([answer], holds) == [CitationCounts(1, recalled, cited, precise)]


def test_a_citation_after_the_full_stop_belongs_to_the_sentence_before_it() -> None:
    assert cited_sentences("The hall opened. [1] It cost 5 crowns.[2] [3] Nobody knows why\nSecond line. [4]") == [
        CitedSentence("The hall opened.", (1,)),
        CitedSentence("It cost 5 crowns.", (2, 3)),
        CitedSentence("Nobody knows why", ()),
    ]
    assert cited_sentences("[1] The hall opened [2, 3].<|im_end|>") == [CitedSentence("The hall opened.", (1, 2, 3))]
    assert cited_sentences(" ") == []


def test_marks_within_a_list_are_no_items_and_endless_runs_are_read_once() -> None:
    items = cited_items("Which?", "Casterby [1, 2], York.")
    assert items == [CitedSentence("Which? Casterby", (1, 2)), CitedSentence("Which? York", ())]
    assert cited_sentences(f"Yes [{'9' * 5000}].")[0].citations == ()
    started = time.process_time()
    for run in (".", " ", "\u3000", "[1,", "[", '".'):
        cited_sentences(f"a{run * 20_000}b")
        without_marks(f"a{run * 20_000}b")
    _ = EntailmentInput("\n" * 20_000 + "x", []).plain
    assert time.process_time() - started < 2.0


def test_short_answers_and_items_of_lists_are_compared_without_case_punctuation_and_articles() -> None:
    gold = [["8340", "8,340"], ["the Market Hall"], ["Ian Croft"], ["!"]]
    assert short_answers_there("There were 8,340 in the town [1]; market hall.", gold) == [True, True, False, False]
    score = list_score("Casterby [1], the Skarrow [2], Casterby, York.", [["Casterby"], ["Skarrow", "Sk."], ["Hull"]])
    assert (score["list_precision"], score["list_recall"]) == (0.75, pytest.approx(2 / 3))
    assert score["list_f1"] == pytest.approx(2 * 0.75 * (2 / 3) / (0.75 + 2 / 3))
    long = list_score("a1, b1, c1, d1, e1, f1", [[f"{letter}1"] for letter in "abcdefgh"])
    assert tuple(long[f"list_{name}"] for name in ("recall", "recall_5", "f1_5")) == (0.75, 1.0, 1.0)
    assert list_score(" ", [["a"]])["list_f1"] == 0.0


@pytest.fixture
def alce(tmp_path: Path) -> Path:
    data: list[dict[str, Any]] = [
        {  # Both sentences are borne out; of three citations that of the penguins is idle.
            "question": "How large is Casterby, and when was its hall opened?",
            "output": "Casterby had 8,340 inhabitants in 2021 [1][3]. Its market hall was opened on 9 May 2024. [2]",
            "docs": DOCS,
            "qa_pairs": [{"short_answers": ["8,340", "8340"]}, {"short_answers": ["10 May 2024"]}],
        },
        {  # A number that the source does not have, and a sentence without a citation.
            "question": "How large is Casterby?",
            "output": "Casterby had 9,340 inhabitants in 2021 [1]. The mayor of Casterby is Ida Thorne.",
            "docs": DOCS,
            "claims": ["The mayor of Casterby is Ida Thorne.", "Penguins breed in large colonies on southern coasts."],
        },
        {"question": "Which towns have a market hall?", "output": "Casterby [2], York.", "docs": DOCS}
        | {"answers": [["Casterby"], ["Skarrow", "Sk"]]},
        {"question": "Who?", "output": "", "docs": []},
    ]
    file = tmp_path / "alce.json"
    file.write_text(json.dumps({"args": {"model": "any"}, "data": data}), encoding="utf-8")
    return file


def test_alces_file_has_the_figures_worked_out_by_hand(alce: Path, quern_here: Quern) -> None:
    done = quern_here("evaluate", "--answers", alce, "--json", "--set", "entailment.vectors=false")
    figures = json.loads(done.stdout)["alce.json"]
    assert figures["exact_match_recall"] == 0.5
    assert (figures["list_precision"], figures["list_recall"], figures["list_f1"]) == (0.5, 0.5, 0.5)
    assert figures["claim_recall"] == 0.5
    recall, precision = figures["alce_citation_recall"], figures["alce_citation_precision"]
    assert (recall, precision) == (round((1 + 0 + 1 / 2) / 3, 4), round((2 / 3 + 0 + 1) / 3, 4))
    assert figures["alce_citation_f1"] == pytest.approx(2 * recall * precision / (recall + precision), abs=1e-3)
    assert figures["alce_citation_f1_low"] <= figures["alce_citation_f1"] <= figures["alce_citation_f1_high"]
    assert figures["alce_citation_recall_questions"] == 3  # The answer without a sentence has no citations to judge.


def test_our_own_answers_are_measured_by_their_quotes(tmp_path: Path) -> None:
    text = DOCS[0]["text"]
    quote = {"number": 2, "doc_id": "d", "chunk_id": "c", "url": None, "title": "Casterby", "published_at": None}
    answer = {"query_id": "q", "question": "How many inhabitants did Casterby have in 2021?", "probability": 0.9}
    answer |= {"by": "rules", "recipe": "r", "hits": [], "path": [], "type": "single", "expected": "8340"}
    answer["citations"] = [quote | {"start": 0, "end": len(text), "quote": text}]
    answer["sentences"] = [{"text": "8,340", "citations": [2]}, {"text": "Nobody knows the mayor.", "citations": []}]
    file = tmp_path / "answers.jsonl"
    file.write_text(f"{json.dumps(answer)}\n" * 2, encoding="utf-8")
    told = evaluate_file(file, BY_WORDS, by_type=True)
    assert told["answers.jsonl"] == told["answers.jsonl single"]
    figures = told["answers.jsonl"]
    assert (figures["alce_citation_recall"], figures["alce_citation_precision"]) == (0.5, 1.0)
    assert figures["exact_match_recall"] == 1.0


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", "record 1: not valid JSON"),
        ('{"data": []}', "it holds no answer"),
        ('{"data": [{"question": "Who?", "output": "I."}, {"question": "When?"}]}', r"record 2 \('When\?'\): output: "),
        ('{"data": ["x"]}', "record 1: is no JSON object"),
        ("[" * 100_000, r"record 1: not valid JSON .nested too deeply"),
        ('{"data": [{"question": "Who \\ud800?", "output": "I."}]}', "half of a surrogate pair"),
        ('{"question": "Who?", "output": "I."}\n{', "record 2: not valid JSON"),
    ],
)
def test_a_broken_file_is_refused_with_the_record_that_is_wrong(tmp_path: Path, text: str, error: str) -> None:
    file = tmp_path / "alce.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(EvaluationError, match=error):
        read_records(file)
