"""Evaluation of recipes: what they find, and the answers that come of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.evaluation import retrieval
from quern.pipelines.evaluation.alce.citations import Entails, entails_by
from quern.pipelines.evaluation.answers import figures, figures_by_type, is_measured, judged
from quern.pipelines.evaluation.bootstrap import flat
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.batch import Recipe
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Question

DEFAULT_RECIPE = "bridge"  # Of `quern ask` and `quern answer`.


def evaluate(
    searcher: Searcher,
    questions: Sequence[Question],
    recipes: Sequence[Recipe],
    ks: Sequence[int],
    *,
    answers: bool | None = None,
    by_type: bool = False,
    trec: Path | None = None,
    grades: retrieval.Grades | None = None,
) -> dict[str, dict[str, float]]:
    """Figures of retrieval per recipe (`retrieval.evaluate`), and of answers (`answers.FIGURES`).

    A figure of answers has its 95 % interval as `FIGURE_low` and `FIGURE_high`, and the number of questions that it is
    taken over as `FIGURE_questions`.

    `answers` says whether answers are measured, by all recipes or by none; by default by the one that answers unless
    another is named, if it is among them. Questions without gold answers have none to be measured.

    Raises:
        EvaluationError: There is nothing to measure, or none of the evidence is in the snapshot.
    """
    chosen = [r for r in recipes if answers or (answers is None and r.name == DEFAULT_RECIPE)]
    asked = [q for q in questions if is_measured(q)] if chosen else []
    measured: dict[str, dict[str, float]] = {}
    if not asked or any(q.evidence_doc_ids or q.evidence_urls for q in questions):
        measured = retrieval.evaluate(searcher, questions, recipes, ks, by_type=by_type, trec=trec, grades=grades)
    for recipe in chosen if asked else ():
        answered = list(answer_questions(searcher, asked, recipe))
        with entailment_of(searcher) as entails:
            rows = judged(searcher.snapshot, asked, answered, entails)
        groups = {recipe.name: figures(rows)}
        groups |= {f"{recipe.name} {name}": of for name, of in figures_by_type(rows)} if by_type else {}
        for title, of in groups.items():
            measured.setdefault(title, {}).update(flat(of))
    return measured


@contextmanager
def entailment_of(searcher: Searcher) -> Iterator[Entails]:
    """Verdicts of entailment by the generator of a search, and by its model of vectors unless they are not wanted.

    A model's verdicts are kept in the memo of the warehouse: it is asked about a sentence and its sources once.
    """
    settings = searcher.settings
    memo = None if settings.generator.kind == "rules" else searcher.snapshot.warehouse.memo / "reasoning"
    with Reasoner(settings.generator, settings.engine, memo=memo) as reasoner:
        yield entails_by(reasoner, searcher.question_embedder.encode if settings.entailment.vectors else None)
