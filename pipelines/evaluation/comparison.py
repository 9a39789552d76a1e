"""Recipes against a baseline, on the same questions: each figure and each difference with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from quern.pipelines.evaluation.bootstrap import Numbers, intervals
from quern.pipelines.evaluation.retrieval import gold_of, metric_names, recipe_run, run_metrics
from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.filters import conditions_of
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question

# As sweeps have them (`resamples`, `confidence`, `seed`).
_RESAMPLES: Final = 10_000
_CONFIDENCE: Final = 0.95
_SEED: Final = 20250921


@dataclass(frozen=True)
class ComparedRecipe:
    """A figure of a recipe, and how far it is above the baseline's.

    Attributes:
        recipe: Name of the recipe.
        figure: `recall@k`, `all_evidence@k` or `mrr`.
        questions: Questions that it is a mean over.
        value: The mean.
        low: Lower end of its 95 % interval.
        high: Upper end.
        difference: The mean less that of the baseline; 0 for the baseline itself.
        difference_low: Lower end of the 95 % interval of the paired difference.
        difference_high: Upper end.
        better: Questions that it does better on than the baseline.
        worse: Questions that it does worse on.
        certain: Whether the interval of the difference leaves out 0.
    """

    recipe: str
    figure: str
    questions: int
    value: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    better: int
    worse: int
    certain: bool


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
        values = np.column_stack([of[metric] for of in found])
        rows += _rows(figure, [recipe.name for recipe in recipes], values)
    return rows


def _rows(figure: str, recipes: Sequence[str], values: Numbers) -> list[ComparedRecipe]:
    """The rows of one figure, given its values, shape (questions, recipes); the first recipe is the baseline."""
    above = values - values[:, :1]
    told = intervals(np.hstack([values, above]), _RESAMPLES, _CONFIDENCE, _SEED)
    value, difference = np.column_stack([told.mean, told.low, told.high]).reshape(2, len(recipes), 3).tolist()
    return [
        ComparedRecipe(
            recipe=name,
            figure=figure,
            questions=len(values),
            value=value[n][0],
            low=value[n][1],
            high=value[n][2],
            difference=difference[n][0],
            difference_low=difference[n][1],
            difference_high=difference[n][2],
            better=int((above[:, n] > 0).sum()),
            worse=int((above[:, n] < 0).sum()),
            certain=difference[n][1] > 0 or difference[n][2] < 0,
        )
        for n, name in enumerate(recipes)
    ]
