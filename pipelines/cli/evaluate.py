"""Measuring recipes against gold evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quern.pipelines.cli.common import (
    AsJson,
    Overrides,
    SettingsFile,
    Snapshot,
    Warehouse,
    new_app,
    open_searcher,
    print_json,
)

app = new_app("")


@app.command(epilog="Example:  quern evaluate questions.jsonl -w WH --recipes dense,bm25,qcg,bridge --k 2,5,10 --json")
def evaluate(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl", help="With evidence_doc_ids per line.")],
    warehouse: Warehouse,
    recipes: Annotated[str, typer.Option(help="Recipes, separated by commas.")] = "dense,bm25,qcg,hybrid,bridge",
    k: Annotated[str, typer.Option("--k", help="Cut-offs, separated by commas.")] = "2,5,10",
    types: Annotated[bool, typer.Option("--types", help="Also for each type of question.")] = False,
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Measure recipes against gold evidence: Recall@k, all-evidence@k, MRR, macro over questions."""
    from quern.pipelines.answers.questions import read_questions
    from quern.pipelines.evaluation.retrieval import EvaluationError
    from quern.pipelines.evaluation.retrieval import evaluate as run_evaluation
    from quern.pipelines.retrieve.recipes import find_recipes

    try:
        ks = sorted({int(part) for part in k.split(",")})
    except ValueError:
        raise EvaluationError(f"--k {k}: write whole numbers separated by commas, for example 2,5,10") from None
    if ks[0] < 1:
        raise EvaluationError(f"--k {k}: a cut-off must be at least 1")
    chosen = find_recipes(recipes)
    searcher = open_searcher(warehouse, snapshot, settings, override)
    figures = run_evaluation(searcher, read_questions(questions), chosen, ks, by_type=types)
    print_json(figures) if as_json else typer.echo(_table(figures))


def _table(figures: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(figures.values())))
    width = max(10, *(len(r) + 1 for r in figures))
    head = f"{'recipe':<{width}}" + "".join(f"{n:>17}" for n in names)
    lines = [f"{r:<{width}}" + "".join(f"{v[n]:>17.4g}" for n in names) for r, v in figures.items()]
    return "\n".join([head, *lines])
