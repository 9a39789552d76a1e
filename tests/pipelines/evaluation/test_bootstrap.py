from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from quern.pipelines.evaluation.bootstrap import intervals


def test_intervals_are_those_of_scipy() -> None:
    random = np.random.default_rng(3)
    values = (random.random((200, 2)) < [0.7, 0.4]).astype(np.float64)
    found = intervals(values, 10_000, 0.95, seed=1)
    for column in range(2):
        peer = stats.bootstrap(
            (values[:, column],), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(2)
        ).confidence_interval
        assert found.mean[column] == pytest.approx(values[:, column].mean())
        assert found.low[column] == pytest.approx(peer.low, abs=0.006)
        assert found.high[column] == pytest.approx(peer.high, abs=0.006)


def test_one_seed_gives_one_result_whatever_the_other_columns() -> None:
    values = np.random.default_rng(5).random((60, 3))
    together, alone = intervals(values, 500, 0.9, 7), intervals(values[:, 1:2], 500, 0.9, 7)
    assert together.low[1] == pytest.approx(alone.low[0], abs=1e-12)
    assert intervals(values, 500, 0.9, 8).low[1] != together.low[1]


def test_a_difference_is_paired() -> None:
    """Two recipes that differ on each question by the same: the questions' own spread does not blur it."""
    one = np.random.default_rng(9).random((50, 1))
    apart = intervals((one + 0.1) - one, 1000, 0.95, 1)
    assert apart.low[0] == pytest.approx(0.1)
    assert apart.high[0] == pytest.approx(0.1)


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0.55, 0.99))
def test_an_interval_holds_the_mean_and_grows_with_confidence(values: list[float], confidence: float) -> None:
    column = np.array(values)[:, None]
    narrow, wide = intervals(column, 400, confidence - 0.04, 1), intervals(column, 400, confidence, 1)
    assert wide.low[0] <= narrow.low[0] + 1e-12
    assert wide.high[0] >= narrow.high[0] - 1e-12
    assert min(values) - 1e-9 <= wide.low[0] <= wide.high[0] <= max(values) + 1e-9
