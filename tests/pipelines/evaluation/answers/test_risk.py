"""What a probability is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quern.pipelines.evaluation.answers.risk import (
    area_under_risk_coverage,
    area_under_roc,
    calibration_error,
    refused_at,
    risk_coverage,
)


def test_risk_grows_as_less_sure_answers_are_given() -> None:
    p, right = np.array([0.2, 0.9, 0.5, 0.7]), np.array([0.0, 1.0, 0.0, 1.0])
    assert risk_coverage(p, right).tolist() == [0, 0, 1 / 3, 1 / 2]
    assert area_under_risk_coverage(p, right) == pytest.approx((1 / 3 + 1 / 2) / 4)


def test_answers_of_one_probability_have_one_risk_whatever_their_order() -> None:
    p, right = np.array([0.5, 0.5, 0.5, 0.5]), np.array([1.0, 0.0, 0.0, 1.0])
    assert risk_coverage(p, right).tolist() == [0.5] * 4


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
