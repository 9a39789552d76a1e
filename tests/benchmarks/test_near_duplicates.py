from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.deduplicate import Planted, clusters, deduplicated, judge, plant, similarity
from tests.floors import FLOORS


@pytest.fixture(scope="module")
def planted() -> Planted:
    return plant(2000)


def test_planted_near_duplicates_are_found_and_nothing_else(planted: Planted, tmp_path: Path) -> None:
    figures = judge(planted, clusters(deduplicated(planted.texts, tmp_path)))
    assert {n: figures[n] for n, floor in FLOORS["near_duplicates"].items() if figures[n] < floor} == {}, figures


def test_a_judge_counts_missed_and_false_pairs(planted: Planted) -> None:
    assert similarity("a b c d e f", "a b c d e f g") == pytest.approx(2 / 3)
    (one, other), *_ = (p for p, s in planted.pairs.items() if s >= 0.85)
    stranger = next(n for n in range(1500) if n not in (one, other))
    figures = judge(planted, {one: 1, other: 1, stranger: 1})
    assert 0 < figures["recall .85"] < 0.05
    assert (figures["pairs found"], figures["precision"], figures["crowd joined"]) == (3, pytest.approx(1 / 3), 0)
