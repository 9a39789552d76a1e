"""What a probability is worth: the risk at each coverage, and how far it is from what happens.

Arrays have one value per question: `probability`, and 1 or 0 for what came true.
"""

from __future__ import annotations

import numpy as np

from quern.pipelines.evaluation.bootstrap import Numbers


def risk_coverage(probability: Numbers, right: Numbers) -> Numbers:
    """The share of wrong answers among the 1, 2, ... surest ones: the risk at each coverage (El-Yaniv, Wiener 2010)."""
    order = np.argsort(-probability, kind="stable")
    return np.asarray(np.cumsum(1.0 - _of_its_like(probability, right)[order]) / np.arange(1, len(right) + 1))


def _of_its_like(probability: Numbers, happened: Numbers) -> Numbers:
    """For each question the mean of `happened` over all of its probability: no order is made up among them."""
    _, like, count = np.unique(probability, return_inverse=True, return_counts=True)
    return np.asarray((np.bincount(like, happened) / count)[like])


def area_under_risk_coverage(probability: Numbers, right: Numbers) -> float:
    """The mean risk over all coverages, 0 at best (Geifman, Uziel and El-Yaniv 2019, section 2)."""
    return float(risk_coverage(probability, right).mean()) if len(right) else np.nan


def calibration_error(probability: Numbers, happened: Numbers) -> float:
    """The expected calibration error over ten bins of equal mass: |mean probability - share that happened|.

    Bins hold equally many questions (Nguyen and O'Connor 2015), as bins of equal width leave most of them empty.
    """
    if not len(happened):
        return float("nan")
    apart = (probability - _of_its_like(probability, happened))[np.argsort(probability, kind="stable")]
    starts = np.unique(np.arange(10) * len(apart) // 10)
    return float(np.abs(np.add.reduceat(apart, starts)).sum() / len(apart))


def area_under_roc(probability: Numbers, answerable: Numbers) -> float:
    """The chance that an answerable question has a higher probability than another one (Mann-Whitney U)."""
    yes, no = probability[answerable == 1], probability[answerable == 0]
    if not len(yes) or not len(no):
        return float("nan")
    below = np.searchsorted(np.sort(no), yes, "left") + np.searchsorted(np.sort(no), yes, "right")
    return float(below.sum() / 2.0 / len(yes) / len(no))


def refused_at(probability: Numbers, answerable: Numbers, most_false: float = 0.08) -> float:
    """The share of unanswerable questions refused by the threshold that refuses `most_false` of the answerable ones."""
    yes, no = np.sort(probability[answerable == 1]), probability[answerable == 0]
    if not len(yes) or not len(no):
        return float("nan")
    threshold = yes[min(len(yes) - 1, int(most_false * len(yes)))]  # What is below it is refused.
    return float((no < threshold).mean())
