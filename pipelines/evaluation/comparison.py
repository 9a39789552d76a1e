"""Recipes against a baseline, on the same questions: each figure and each difference with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quern.pipelines.evaluation.bootstrap import SEED, intervals
from quern.pipelines.evaluation.retrieval import gold_of, metric_names, recipe_run, run_metrics
from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.filters import conditions_of
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question


@dataclass(frozen=True)
class ComparedRecipe:
    """A figure of a recipe, and how far it is above the baseline's."""

    recipe: str
    figure: str  # `recall@k`, `all_evidence@k` or `mrr`.
    questions: int  # That it is a mean over.
    value: float  # The mean, with its 95 % interval from `low` to `high`.
    low: float
    high: float
    difference: float  # Of the mean to that of the baseline, paired, with its 95 % interval; 0 for the baseline itself.
    difference_low: float
    difference_high: float
    better: int  # Questions that it does better on than the baseline.
    worse: int  # Questions that it does worse on.
    certain: bool  # Whether the interval of the difference leaves out 0.


def compared(
    searcher: Searcher, questions: Sequence[Question], recipes: Sequence[Recipe], ks: Sequence[int]
) -> list[ComparedRecipe]:
    """Figures of each recipe against those of the first, over the questions that have evidence.

    Intervals are percentiles of a bootstrap over questions (see `.bootstrap`); what is drawn is the same for all
    recipes, so differences are paired.

    Raises:
        EvaluationError: No question has evidence, or none of it is in the snapshot.
    """
    gold = gold_of(searcher, questions)
    batch = Batch(searcher, [q.question for q in gold.questions], [conditions_of(q) for q in gold.questions])
    named = metric_names(ks)
    found = [run_metrics(recipe_run(batch, recipe, gold, ks), gold, [*named.values()]) for recipe in recipes]
    rows = []
    for figure, metric in named.items():
        values = np.column_stack([of[metric] for of in found])  # Shape (questions, recipes).
        above = values - values[:, :1]
        told = intervals(np.hstack([values, above]), 10_000, 0.95, SEED)
        ends = np.column_stack([told.mean, told.low, told.high]).reshape(2, len(recipes), 3).tolist()
        for n, (recipe, (value, low, high), (difference, least, most)) in enumerate(zip(recipes, *ends, strict=True)):
            better, worse = int((above[:, n] > 0).sum()), int((above[:, n] < 0).sum())
            certain = least > 0 or most < 0
            mean = (len(values), value, low, high)
            rows.append(ComparedRecipe(recipe.name, figure, *mean, difference, least, most, better, worse, certain))
    return rows
