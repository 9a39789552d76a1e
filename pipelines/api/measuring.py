"""Measuring, by Python: figures of recipes, and how sure the differences between them are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from quern.pipelines.api.given import Changes, Place, questions_of, searcher_of
from quern.pipelines.evaluation import recipes as evaluation
from quern.pipelines.evaluation.comparison import ComparedRecipe, compared
from quern.pipelines.retrieve.recipes import find_recipes
from quern.schemas.answers import Question


def evaluate(
    questions: Iterable[Question | Mapping[str, object]],
    warehouse: Place,
    *,
    recipes: Sequence[str] = ("bridge",),
    k: Sequence[int] = (5,),
    answers: bool | None = None,
    by_type: bool = False,
    settings: Changes = None,
    snapshot: str | None = None,
) -> dict[str, dict[str, float]]:
    """Recall@k, all-evidence@k and MRR of each recipe, against the gold evidence, and figures of its answers.

    Answers are measured by all recipes with `answers`, by none without; by default by `bridge`, where it is among them
    and the questions have gold answers. Under `RECIPE TYPE`, with `by_type`, the same for each type of question. A
    figure of answers has its 95 % interval beside it, as `f1_low` and `f1_high`; `docs/howto/measure.md` has a list.

    Raises:
        QuernError: There is nothing to measure, there is no such warehouse, snapshot or recipe, or one of the questions
            is none that can be answered.
    """
    chosen, searcher = find_recipes(",".join(recipes)), searcher_of(warehouse, settings, snapshot)
    asked = list(questions_of(questions, searcher.settings))
    return evaluation.evaluate(searcher, asked, chosen, list(k), answers=answers, by_type=by_type)


def compare(
    questions: Iterable[Question | Mapping[str, object]],
    warehouse: Place,
    *,
    recipes: Sequence[str] = ("bridge",),
    baseline: str = "dense",
    k: Sequence[int] = (5,),
    settings: Changes = None,
    snapshot: str | None = None,
) -> list[ComparedRecipe]:
    """What each recipe finds against a baseline: a row a recipe and figure, each with 95 % intervals.

    Figures are those of `evaluate`: recall@k, all_evidence@k and mrr. Intervals are bootstrapped over questions, and
    paired: a difference is `certain` where its interval leaves out 0. `pandas.DataFrame(rows)` makes a table of them.

    Raises:
        QuernError: As `evaluate`.
    """
    chosen, searcher = find_recipes(",".join([baseline, *recipes])), searcher_of(warehouse, settings, snapshot)
    return compared(searcher, list(questions_of(questions, searcher.settings)), chosen, list(k))
