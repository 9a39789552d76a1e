"""Sources of gold questions, held to floors."""

from __future__ import annotations

from quern.pipelines.answers.questions import read_questions
from quern.pipelines.retrieve.searcher import Searcher
from tests.benchmarks.sources import gold_sources
from tests.conftest import CORPUS
from tests.floors import FLOORS, broken


def test_sources_of_gold_questions_keep_their_floors(searcher: Searcher) -> None:
    questions = read_questions(CORPUS / "questions.jsonl")[::3]
    measured = gold_sources(searcher, questions)
    assert broken(measured, {"at least": FLOORS["mini_web"]["sources"]}, len(questions)) == {}, measured
