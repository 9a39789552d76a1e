"""Answers measured against gold answers and evidence, over a corpus of two documents."""

from __future__ import annotations

from typing import Any

import pytest

from quern.pipelines.answers.gate import _gated
from quern.pipelines.evaluation.answers import Cited, _cited, _judgement, figures, judged
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Answer, Citation, Question, Sentence

URL = "https://harbour-courier.example/2024/03/ferry-collision.html"


@pytest.fixture(scope="module")
def source(searcher: Searcher) -> dict[str, Any]:
    """The document that the questions name."""
    columns = ["doc_id", "url", "text"]
    rows = [r for b in searcher.snapshot.table("documents").batches(columns) for r in b.to_pylist()]
    return next(r for r in rows if r["url"] == URL)


def answer(name: str, probability: float, *sentences: Sentence, citations: tuple[Citation, ...] = ()) -> Answer:
    given = {"query_id": name, "question": "?", "by": "rules", "recipe": "r", "hits": [], "path": []}
    return Answer(sentences=list(sentences), probability=probability, citations=list(citations), **given)


def quote(number: int, doc_id: str, text: str, start: int = 0) -> Citation:
    nothing = {"chunk_id": "c", "url": None, "title": None, "published_at": None}
    return Citation(number=number, doc_id=doc_id, start=start, end=start + len(text), quote=text, **nothing)


def test_answers_are_right_refused_and_cited_as_worked_out_by_hand(searcher: Searcher, source: dict[str, Any]) -> None:
    start = source["text"].index("131 passengers")
    there = quote(1, source["doc_id"], source["text"][start : start + 29], start)
    elsewhere = quote(2, "other", "It carried 7 crews")
    questions = [
        Question(query_id="a", question="?", answer="131 passengers", type="single", evidence_urls=[URL]),
        Question(query_id="b", question="?", answer="Yes", type="yes", evidence_urls=[URL]),
        Question(query_id="c", question="?", answer="nine crew", type="single", evidence_urls=[URL]),
        Question(query_id="d", question="?", answer="Insufficient information", type="Null"),
        Question(query_id="e", question="?", answer=""),
    ]
    answers = [
        answer("a", 0.9, Sentence(text="131 passengers.", citations=[1, 2]), citations=(there, elsewhere)),
        answer(
            "b",
            0.7,
            Sentence(text="No: 132 came.", citations=[1]),
            Sentence(text="So.", citations=[]),
            citations=(there,),
        ),
        answer("c", 0.2),
        answer("d", 0.6, Sentence(text="Nobody knows.", citations=[])),
        answer("e", 0.1),
    ]
    rows = judged(searcher.snapshot, questions, answers)
    told = {name: (figure.value, figure.questions) for name, figure in figures(rows).items()}
    expected = {
        "right": (1 / 3, 3),
        "gold_words": (1 / 3, 3),
        "exact_match": (1 / 3, 3),
        "f1": (1 / 3, 3),
        "yes_no": (0, 1),
        "false_refusals": (1 / 3, 3),
        "refused": (1 / 2, 2),
        "refused_at_8%_false": (1 / 2, 2),
        "auroc": (5 / 6, 5),
        "citation_source": (2 / 3, 2),
        "citation_precision": (1 / 3, 2),
        "citation_numbers": (1 / 2, 2),
        "citation_density": (2 / 4, 3),
        "quotes_equal": (2 / 3, 2),
        "words": (2, 3),
    }
    assert {name: told[name] for name in expected} == {
        n: (pytest.approx(v, abs=1e-4), q) for n, (v, q) in expected.items()
    }


def test_a_gold_yes_without_named_evidence_says_nothing_of_the_evidence() -> None:
    cited, said = Cited(*[0] * len(Cited.__dataclass_fields__)), answer("a", 0.5, Sentence(text="No.", citations=[]))
    golds = (("Yes", ()), ("Yes", ("gone",)), ("nine crew", ()))
    rows = [
        _judgement(Question(query_id="a", question="?", answer=gold), said, frozenset(evidence), cited)
        for gold, evidence in golds
    ]
    told = figures(rows)
    assert [r.judgeable for r in rows] == [False, True, True]
    assert (told["brier"].value, told["brier"].questions) == (0.25, 2)
    assert (told["ece"].value, told["ece"].questions) == (0.5, 2)
    assert "ece" not in figures(rows[:1])


def test_a_citation_that_the_gate_dropped_is_an_unequal_quote() -> None:
    whole = answer("a", 0.9, Sentence(text="So.", citations=[1]), citations=(quote(1, "d", "So"),))
    cited = _cited(_gated(whole, {"d": "No"}), frozenset(), {"d": "No"})
    assert (cited.quotes, cited.equal) == (1, 0)
