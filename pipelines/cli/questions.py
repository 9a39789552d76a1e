"""Asking questions, one or many, and measuring the answers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from quern.pipelines.cli.common import (
    AsJson,
    Overrides,
    RecipeName,
    SettingsFile,
    Snapshot,
    Warehouse,
    load_settings,
    new_app,
    print_json,
)

app = new_app("")


@app.command(
    epilog='Examples:  quern ask -w WH "Who repaired the bridge?"    quern ask -w WH --recipe qcg --json "..."'
)
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    warehouse: Warehouse,
    recipe: RecipeName = "bridge",
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw the path through the graph to this SVG file.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer one question: the answer, its numbered citations, the chunks, and the path through the graph."""
    from quern.pipelines.answers.questions import QuestionError
    from quern.pipelines.answers.views.terminal import render_text
    from quern.pipelines.query import answer_questions
    from quern.pipelines.retrieve.recipes import find_recipes
    from quern.schemas.answers import Question

    if not question.strip():
        raise QuestionError("the question is empty")
    (chosen,) = find_recipes(recipe)
    searcher = _searcher(warehouse, snapshot, settings, override)
    (answer,) = answer_questions(searcher, [Question(query_id="ask", question=question)], chosen)
    if picture:
        from quern.pipelines.inspect.graph.drawing import write_path

        write_path(answer, picture)
    if as_json:
        print_json(answer.model_dump(mode="json"))
        return
    width = min(100, os.get_terminal_size().columns) if sys.stdout.isatty() else 100
    typer.echo(render_text(answer, width=width, color=sys.stdout.isatty() and "NO_COLOR" not in os.environ))


@app.command(epilog="Example:  quern answer questions.jsonl -w WH --out answers/")
def answer(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl", help="query_id and question per line.")],
    warehouse: Warehouse,
    out: Annotated[Path, typer.Option(help="Directory for answers.parquet, answers.jsonl and index.html.")],
    recipe: RecipeName = "bridge",
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Answer a batch of questions and write a browsable report."""
    from quern.pipelines.answers.files import write_answers
    from quern.pipelines.answers.questions import read_questions
    from quern.pipelines.query import answer_questions
    from quern.pipelines.retrieve.recipes import find_recipes

    (chosen,) = find_recipes(recipe)
    asked = read_questions(questions)
    searcher = _searcher(warehouse, snapshot, settings, override)
    answers = _counted(answer_questions(searcher, asked, chosen), len(asked))
    written = write_answers(answers, out, f"Answers to {questions.name}", _facts(searcher, recipe))
    kind = searcher.settings.generator.kind
    by_model = {} if kind == "rules" else {"by": kind, "fell_back": written.by["rules"]}
    if as_json:
        print_json({"questions": len(asked), "answered": written.found, **by_model, "out": str(out)})
        return
    typer.echo(
        f"answered {written.found} of {len(asked)} questions; the others are not in the corpus"
        + (f"; for {written.by['rules']} the rule stood in for the model" if by_model else "")
    )
    typer.echo(f"report: {out / 'index.html'}")


def _counted(answers: Any, total: int) -> Any:
    from quern.jobs.core.progress import watched

    done = 0
    with watched("answer", total, lambda: done):
        for answer in answers:
            yield answer
            done += 1


def _facts(searcher: Any, recipe: str) -> dict[str, object]:
    manifest = searcher.snapshot.manifest
    rows = {name: f"{manifest.tables[name].rows:,}" for name in ("documents", "chunks", "nodes", "edges")}
    return {
        "snapshot": manifest.build_id,
        **rows,
        "model": Path(manifest.known_settings().embed.model).name,
        "recipe": recipe,
    }


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
    searcher = _searcher(warehouse, snapshot, settings, override)
    figures = run_evaluation(searcher, read_questions(questions), chosen, ks, by_type=types)
    print_json(figures) if as_json else typer.echo(_table(figures))


def _table(figures: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(figures.values())))
    width = max(10, *(len(r) + 1 for r in figures))
    head = f"{'recipe':<{width}}" + "".join(f"{n:>17}" for n in names)
    lines = [f"{r:<{width}}" + "".join(f"{v[n]:>17.4g}" for n in names) for r, v in figures.items()]
    return "\n".join([head, *lines])


def _searcher(warehouse: Path, snapshot: str | None, settings: Path | None, override: list[str] | None) -> Any:
    """A searcher of the snapshot; its own settings hold unless a file or `--set` says otherwise."""
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.query import settings_to_ask_by
    from quern.pipelines.retrieve.searcher import Searcher

    opened = Catalog.open(warehouse).snapshot(snapshot)
    return Searcher(opened, load_settings(settings, override, settings_to_ask_by(opened.manifest)))
