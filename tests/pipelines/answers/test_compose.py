"""An answer is composed of the sentences that were named, each cited where it stands."""

from __future__ import annotations

from quern.jobs.reasoning.answer import AnswerInput, AnswerSentences, Evidence
from quern.jobs.reasoning.runner import Done
from quern.pipelines.answers.compose import composed
from quern.schemas.answers import Answer, Hit, Question

TEXT = "High water is at nine.\nBring boots. High water is at nine."


def hit(number: int, start: int) -> Hit:
    place = {"doc_id": f"d{number}", "chunk_id": f"d{number}-0", "url": None, "title": None, "published_at": None}
    return Hit(rank=number, score=0.5, start=start, end=start + len(TEXT), text=TEXT, **place)


def answer(*numbers: int) -> Answer:
    given = AnswerInput("When is high water?", [Evidence(TEXT, None, [], []), Evidence(TEXT, None, [], [])])
    chosen = Done(AnswerSentences(sentences=list(numbers)), "rules")
    question = Question(query_id="q", question=given.question)
    return composed(question, given, chosen, [hit(1, 0), hit(2, 100)], [], "bridge")


def test_a_sentence_that_occurs_twice_is_cited_where_the_one_that_was_named_stands() -> None:
    places = [(c.doc_id, c.start, c.end) for c in answer(3, 1, 6).citations]
    assert places == [("d1", 36, 58), ("d1", 0, 22), ("d2", 136, 158)]
    assert {c.quote for c in answer(3, 1, 6).citations} == {"High water is at nine."}


def test_sentences_are_in_the_order_named_with_the_numbers_of_their_citations() -> None:
    made = answer(2, 4)
    assert [(s.text, s.citations) for s in made.sentences] == [("Bring boots.", [1]), ("High water is at nine.", [2])]
    assert made.answer == "Bring boots. [1] High water is at nine. [2]"
    assert made.found


def test_no_sentence_is_no_answer() -> None:
    made = answer()
    assert (made.found, made.answer, made.citations) == (False, "The corpus does not say.", [])
