"""Bootstrap intervals of means, paired over questions (Efron and Tibshirani 1993, chapter 13: the percentile method).

All columns are resampled with the same questions, so a difference of two columns is a paired one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
_CELLS = 1 << 23  # Of the matrix of counts held at once: 64 MiB.


@dataclass(frozen=True)
class Interval:
    """Means of columns with their intervals; arrays of shape (columns,)."""

    mean: Numbers
    low: Numbers
    high: Numbers


def intervals(values: Numbers, resamples: int, confidence: float, seed: int) -> Interval:
    """The mean of each column of `values` over its rows, with its percentile interval.

    A resample is how often it draws each row, so all columns of all resamples are one matrix product.

    Args:
        values: One row per question, shape (questions, columns), at least one row.
        resamples: Number of resamples.
        confidence: Coverage, such as .95.
        seed: Seed of the draws; the same seed and number of rows draw the same questions.
    """
    rows, columns = values.shape
    random = np.random.default_rng(seed)
    means = np.empty((resamples, columns))
    share = np.full(rows, 1.0 / rows)
    step = max(1, _CELLS // rows)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        counts = random.multinomial(rows, share, size=stop - start)
        means[start:stop] = counts.astype(np.float64) @ values / rows
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail], axis=0)
    return Interval(values.mean(axis=0), low, high)
