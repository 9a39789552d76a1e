from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from quern.pipelines.evaluation.bootstrap import area_under_roc, calibration_error, intervals, refused_at


def test_intervals_are_those_of_scipy() -> None:
    random = np.random.default_rng(3)
    values = (random.random((200, 2)) < [0.7, 0.4]).astype(np.float64)
    found = intervals(values, 10_000)
    assert intervals(values[:, 1:], 10_000).low == pytest.approx(found.low[1:], abs=1e-12), "whatever the other columns"
    for column in range(2):
        peer = stats.bootstrap(
            (values[:, column],), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(2)
        ).confidence_interval
        assert found.mean[column] == pytest.approx(values[:, column].mean())
        assert found.low[column] == pytest.approx(peer.low, abs=0.006)
        assert found.high[column] == pytest.approx(peer.high, abs=0.006)


def test_a_probability_that_comes_true_as_often_as_it_says_is_calibrated() -> None:
    random = np.random.default_rng(1)
    p = random.random(20_000)
    assert calibration_error(p, (random.random(20_000) < p).astype(float)) < 0.02
    assert calibration_error(np.array([0.9] * 10), np.array([1.0] * 5 + [0.0] * 5)) == pytest.approx(0.4)


def test_refusing_is_compared_at_one_share_of_false_refusals() -> None:
    answerable = np.array([1.0] * 100 + [0.0] * 10)
    p = np.concatenate([np.linspace(0.01, 1, 100), np.linspace(0.0, 0.18, 10)])
    assert refused_at(p, answerable, 0.08) == 0.5, "below .09, which refuses 8 of 100, are 5 of 10"
    assert refused_at(p, answerable, 0.0) == 0.1
    assert area_under_roc(p, answerable) == pytest.approx(
        np.mean([(a > b) + (a == b) / 2 for a in p[:100] for b in p[100:]])
    )


def test_there_is_no_figure_of_nothing() -> None:
    none, one = np.array([]), np.array([1.0])
    assert all(map(math.isnan, [calibration_error(none, none), area_under_roc(one, one), refused_at(one, one)]))
