"""An answer is composed of the sentences that were named, each cited where it stands."""

from __future__ import annotations

from quern.jobs.reasoning.answering.draft import Draft, Statement
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.pipelines.answers.compose import Citations, sentences_of
from quern.schemas.answers import Hit

TEXT = "High water is at nine.\nBring boots. High water is at nine."
GIVEN = AnswerInput("When is high water?", [Evidence(TEXT, None, [], []), Evidence(TEXT, None, [], [])])


def hit(number: int, start: int) -> Hit:
    place = {"doc_id": f"d{number}", "chunk_id": f"d{number}-0", "url": None, "title": None, "published_at": None}
    return Hit(rank=number, score=0.5, start=start, end=start + len(TEXT), text=TEXT, **place)


def citations() -> Citations:
    return Citations(GIVEN, [hit(1, 0), hit(2, 100)])


def test_a_sentence_that_occurs_twice_is_cited_where_the_one_that_was_named_stands() -> None:
    cited = citations()
    assert cited.numbers([3, 1, 6, 3]) == [1, 2, 3]
    assert [(c.doc_id, c.start, c.end) for c in cited.all()] == [("d1", 36, 58), ("d1", 0, 22), ("d2", 136, 158)]
    assert {c.quote for c in cited.all()} == {"High water is at nine."}


def test_a_source_that_several_sentences_rest_on_is_one_citation() -> None:
    draft = Draft(sentences=[Statement(text="Nine.", rests_on=[1]), Statement(text="At\nnine.", rests_on=[1, 6])])
    cited = citations()
    assert [(s.text, s.citations) for s in sentences_of(draft, cited)] == [("Nine.", [1]), ("At nine.", [1, 2])]
    assert len(cited.all()) == 2
