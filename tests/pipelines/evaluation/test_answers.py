"""Answers measured against gold answers and evidence, over a corpus of two documents."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from quern.pipelines.answers.gate import _gated
from quern.pipelines.evaluation.answers import Cited, Judgement, _cited, _judgement, figures, judged
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


def test_an_interval_holds_its_figure_and_is_the_same_each_time(searcher: Searcher) -> None:
    question = Question(query_id="a", question="?", answer="nine crew")
    rows: list[Judgement] = []
    for n in range(40):
        text = "Nine crew." if n % 4 else "Ten."
        rows += judged(searcher.snapshot, [question], [answer("a", n / 40, Sentence(text=text, citations=[]))])
    told = figures(rows)
    assert told == figures(rows)
    assert told["right"].value == 0.75
    assert 0.5 < told["right"].low < 0.75 < told["right"].high < 0.95
    assert "refused" not in told, "no question is unanswerable"


def test_a_gold_yes_without_named_evidence_says_nothing_of_the_evidence() -> None:
    rows = []
    for text, evidence in (("Yes", ()), ("Yes", ("gone",)), ("nine crew", ())):
        question = Question(query_id="a", question="?", answer=text)
        cited = Cited(*[0] * len(Cited.__dataclass_fields__))
        rows.append(
            _judgement(question, answer("a", 0.5, Sentence(text="No.", citations=[])), frozenset(evidence), cited)
        )
    told = figures(rows)
    assert [r.judgeable for r in rows] == [False, True, True]
    assert (told["brier"].value, told["brier"].questions) == (0.25, 2)
    assert (told["ece"].value, told["ece"].questions) == (0.5, 2)
    assert "ece" not in figures(rows[:1])


def test_a_citation_that_the_gate_dropped_is_an_unequal_quote() -> None:
    whole = answer("a", 0.9, Sentence(text="So.", citations=[1]), citations=(quote(1, "d", "So"),))
    cited = _cited(_gated(whole, {"d": "No"}), frozenset(), {"d": "No"})
    assert (cited.quotes, cited.equal) == (1, 0)


def test_a_day_that_a_quote_names_by_its_publication_is_told_by_it() -> None:
    published = quote(1, "d", "She sailed on Wednesday.").model_copy(update={"published_at": datetime(2024, 5, 9)})

    def supported(text: str) -> int:
        said = answer("a", 0.9, Sentence(text=text, citations=[1]), citations=(published,))
        return _cited(said, frozenset("d"), {}).precise

    assert [supported("On 8 May 2024."), supported("On 7 May 2024."), supported("8 ships.")] == [1, 0, 0]
    spans = published.model_copy(update={"quote": "from 1886 to 1949"})
    said = [
        answer("a", 0.9, Sentence(text=f"{n} years (1886 to 1949)", citations=[1]), citations=(spans,))
        for n in (63, 65)
    ]
    assert [_cited(a, frozenset("d"), {}).precise for a in said] == [1, 0]
