"""Timelines of the sample corpus against its gold ones, held to floors."""

from __future__ import annotations

import json

from quern.pipelines.retrieve.searcher import Searcher
from tests.benchmarks.timelines import gold_timelines
from tests.conftest import CORPUS
from tests.floors import FLOORS, broken


def test_gold_timelines_keep_their_floors(searcher: Searcher) -> None:
    measured = gold_timelines(searcher)
    events = sum(len(topic["events"]) for topic in json.loads((CORPUS / "timelines.json").read_text("utf-8")))
    assert broken(measured, {"at least": FLOORS["mini_web"]["timelines"]}, events) == {}, measured
