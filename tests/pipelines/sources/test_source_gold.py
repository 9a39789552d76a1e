"""Sources of gold questions, held to floors."""

from __future__ import annotations

import json

from quern.pipelines.answers.questions import read_questions
from quern.pipelines.retrieve.searcher import Searcher
from tests.benchmarks.sources import gold_sources
from tests.conftest import CORPUS, ROOT


def test_sources_of_gold_questions_keep_their_floors(searcher: Searcher) -> None:
    floors = json.loads((ROOT / "tests" / "floors.json").read_text("utf-8"))["mini_web"]["sources"]
    measured = gold_sources(searcher, read_questions(CORPUS / "questions.jsonl")[::3])
    assert {name: measured[name] for name, floor in floors.items() if measured[name] < floor} == {}
