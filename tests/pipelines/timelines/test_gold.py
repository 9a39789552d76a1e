"""Timelines of the sample corpus against its gold ones, held to floors."""

from __future__ import annotations

import json

from quern.pipelines.retrieve.searcher import Searcher
from tests.benchmarks.timelines import gold_timelines
from tests.conftest import ROOT


def test_gold_timelines_keep_their_floors(searcher: Searcher) -> None:
    floors = json.loads((ROOT / "tests" / "floors.json").read_text("utf-8"))["mini_web"]["timelines"]
    measured = gold_timelines(searcher)
    assert {name: value for name, value in measured.items() if value < floors[name]} == {}
