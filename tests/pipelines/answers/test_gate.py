"""Nothing is cited that does not stand word for word in its document."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from quern.indexes.catalog import Snapshot, Warehouse
from quern.pipelines.answers.gate import gated
from quern.schemas.answers import AlignedHit, AlignedSegment, Answer, Citation, Sentence, SubAnswer
from quern.schemas.tables import DOCUMENTS
from tests.tables import publish

TEXT = "第一次测定用了四十二天。\nThe ferry（No．３）sailed 🚢 at nine."


def snapshot_of(root: Path, **texts: str) -> Snapshot:
    """A snapshot of the table `documents`, as a build serves it."""
    rows = [{"doc_id": doc_id, "text": text} for doc_id, text in texts.items()]
    return publish(Warehouse.create(root), "b", {DOCUMENTS: rows})


def citation(number: int, doc_id: str, quote: str, start: int) -> Citation:
    source: dict[str, Any] = dict.fromkeys(("url", "title", "published_at"))
    span = {"start": start, "end": start + len(quote), "quote": quote}
    return Citation(number=number, doc_id=doc_id, chunk_id=f"{doc_id}-0", **source, **span)


def answer(*citations: Citation, cited: list[list[int]]) -> Answer:
    return Answer(
        query_id="q",
        question="?",
        sentences=[Sentence(text=f"Sentence {n}.", citations=of) for n, of in enumerate(cited)],
        probability=0.9,
        by="rules",
        recipe="bridge",
        sub_questions=[
            SubAnswer(number=1, parents=[], question="?", answer="x", citations=[n for of in cited for n in of])
        ],
        citations=list(citations),
        hits=[],
        path=[],
    )


def test_what_documents_say_passes_unchanged(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path / "wh", a=TEXT, b="")
    whole = answer(citation(1, "a", TEXT[:12], 0), citation(2, "a", TEXT[13:], 13), cited=[[1, 2], [2]])
    assert gated([whole, whole], snapshot) == [whole, whole]
    assert gated([], snapshot) == []


def test_a_damaged_table_is_not_cited(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    quotes = citation(1, "a", TEXT[:12], 0), citation(2, "a", TEXT[13:], 13)
    given = answer(*quotes, cited=[[1, 2], [1]])
    damaged = snapshot_of(tmp_path / "wh", a=TEXT.replace("第一次", "第1次"))
    with caplog.at_level(logging.ERROR):
        (passed,) = gated([given], damaged)
    assert [(c.number, c.quote) for c in passed.citations] == [(1, TEXT[13:])]
    assert [s.citations for s in passed.sentences] == [[1], []]
    assert passed.sub_questions[0].citations == [1]
    assert "does not have the words '第一次" in passed.notes[0]
    assert "gate=quotes query_id=q dropped=document a" in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [
        citation(1, "a", TEXT[:12], 1),
        citation(1, "gone", TEXT[:12], 0),
        citation(1, "a", "", 0),
        citation(1, "a", TEXT[-3:], -3),
        citation(1, "a", "at nine. ", len(TEXT) - 8),
    ],
)
def test_a_span_that_is_elsewhere_or_nowhere_is_a_violation(tmp_path: Path, wrong: Citation) -> None:
    snapshot = snapshot_of(tmp_path / "wh", a=TEXT)
    assert gated([answer(wrong, cited=[[1]])], snapshot)[0].citations == []


def test_an_alignment_whose_words_are_not_its_documents_is_dropped(tmp_path: Path) -> None:
    def hit(rank: int, start: int, quote: str) -> AlignedHit:
        segment = AlignedSegment(part=1, start=start, end=start + len(quote), quote=quote, how="stem")
        known: dict[str, Any] = {"chunk_id": "a-0", "doc_id": "a", "label": "full", "share": 1.0, "graded": 1.0}
        return AlignedHit(rank=rank, segments=[segment], **known)

    snapshot = snapshot_of(tmp_path / "wh", a=TEXT)
    right, title, wrong = hit(1, 17, "ferry"), hit(2, 0, ""), hit(3, 16, "ferry")
    given = answer(cited=[]).model_copy(update={"alignments": [right, title, wrong]})
    (kept,) = gated([given], snapshot)
    assert kept.alignments == [right, title]
