"""Bootstrap intervals, paired over questions (Efron and Tibshirani 1993, chapter 13: the percentile method).

All columns are resampled with the same questions, so a difference of two columns is a paired one. Beside them figures
of what a probability is worth, of arrays with one value per question: `probability`, and 1 or 0 for what came true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Positions

Numbers = npt.NDArray[np.float64]
_SEED = 20250921
_TAILS = ((1.0 - 0.95) / 2.0, 1.0 - (1.0 - 0.95) / 2.0)  # Of a 95 % interval.
_CELLS = 1 << 23  # Of the matrix of counts held at once: 64 MiB.


@dataclass(frozen=True)
class Interval:
    """Means of columns with their intervals; arrays of shape (columns,)."""

    mean: Numbers
    low: Numbers
    high: Numbers


def intervals(values: Numbers, resamples: int = 1000) -> Interval:
    """The mean of each column of `values`, shape (questions, columns), over its rows, with its percentile interval."""
    return ratio_intervals(values, np.ones_like(values), resamples)


def ratio_intervals(part: Numbers, whole: Numbers, resamples: int = 1000) -> Interval:
    """The sum of each column of `part` over that of `whole`, with its percentile interval; NaN where there is none.

    A mean over some of the questions has 1 for each of them in `whole`, a share of what questions have several of
    its number. A resample is how often it draws each row, so all columns of all resamples are one matrix product; the
    same number of rows draws the same questions.
    """
    draws = [_ratio(counts @ part, counts @ whole) for counts in _draws(len(part), resamples)]
    return Interval(_ratio(part.sum(axis=0), whole.sum(axis=0)), *_quantiles(np.concatenate(draws)))


def statistic_intervals(
    statistics: Callable[[Positions], Sequence[float]], rows: int, resamples: int = 1000
) -> Interval:
    """What `statistics` says of all rows, given their positions, each figure with its percentile interval."""
    every = np.arange(rows)
    draws = [statistics(np.repeat(every, c.astype(np.int64))) for b in _draws(rows, resamples) for c in b]
    return Interval(np.array(statistics(every)), *_quantiles(np.array(draws)))


def _draws(rows: int, resamples: int) -> Iterator[Numbers]:
    """How often each resample draws each row, some resamples at a time, shape (some, rows)."""
    random, share = np.random.default_rng(_SEED), np.full(rows, 1.0 / rows)
    step = max(1, _CELLS // rows)
    for start in range(0, resamples, step):
        yield random.multinomial(rows, share, size=min(step, resamples - start)).astype(np.float64)


def _ratio(part: Numbers, whole: Numbers) -> Numbers:
    return np.asarray(np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0))


def _quantiles(values: Numbers) -> tuple[Numbers, Numbers]:
    """Of each column the ends of its 95 % interval, leaving out resamples that had nothing to measure."""
    ends = np.full((2, values.shape[1]), np.nan)
    for column, drawn in enumerate(values.T):
        if (measured := drawn[~np.isnan(drawn)]).size:
            ends[:, column] = np.quantile(measured, _TAILS)
    return ends[0], ends[1]


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % interval, of 1,000 resamples; NaN where nothing was measured."""

    value: float
    low: float
    high: float
    questions: int  # That it is taken over.


def ratio_figures(shares: Mapping[str, tuple[Numbers, Numbers]]) -> dict[str, Figure]:
    """Figures that are a sum over a sum, both given by question."""
    if not shares:
        return {}
    parts, wholes = (np.stack([pair[n] for pair in shares.values()], axis=1) for n in (0, 1))
    bounds = ratio_intervals(parts, wholes)
    return {name: _figure(bounds, n, int((wholes[:, n] > 0).sum())) for n, name in enumerate(shares)}


def statistic_figures(
    statistics: Mapping[str, tuple[Callable[[Positions], float], Numbers]], rows: int
) -> dict[str, Figure]:
    """Figures of another kind, each with 1 for the questions that it is taken over."""
    functions: Sequence[Callable[[Positions], float]] = [of for of, _ in statistics.values()]
    bounds = statistic_intervals(lambda at: [of(at) for of in functions], rows)
    return {name: _figure(bounds, n, int(over.sum())) for n, (name, (_, over)) in enumerate(statistics.items())}


def flat(of: Mapping[str, Figure]) -> dict[str, float]:
    """Figures with their intervals as `NAME_low` and `NAME_high`, and their number of questions as `NAME_questions`."""
    parts = ("value", "low", "high", "questions")
    names = ("", "_low", "_high", "_questions")
    return {f"{name}{end}": getattr(f, part) for name, f in of.items() for part, end in zip(parts, names, strict=True)}


def _figure(interval: Interval, at: int, questions: int) -> Figure:
    value, low, high = (round(float(a[at]), 4) for a in (interval.mean, interval.low, interval.high))
    return Figure(value, low, high, questions)


def _of_its_like(probability: Numbers, happened: Numbers) -> Numbers:
    """For each question the mean of `happened` over all of its probability: no order is made up among them."""
    _, like, count = np.unique(probability, return_inverse=True, return_counts=True)
    return np.asarray((np.bincount(like, happened) / count)[like])


def calibration_error(probability: Numbers, happened: Numbers) -> float:
    """The expected calibration error over ten bins of equal mass: |mean probability - share that happened|.

    Bins hold equally many questions (Nguyen and O'Connor 2015), as bins of equal width leave most of them empty.
    """
    if not len(happened):
        return float("nan")
    gaps = (probability - _of_its_like(probability, happened))[np.argsort(probability, kind="stable")]
    starts = np.unique(np.arange(10) * len(gaps) // 10)
    return float(np.abs(np.add.reduceat(gaps, starts)).sum() / len(gaps))


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
