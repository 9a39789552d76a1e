"""Answering a batch of questions."""

from __future__ import annotations

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
    new_app,
    open_searcher,
    print_json,
)

app = new_app("")


@app.command(epilog="Example:  quern answer questions.jsonl -w WH --out answers/")
def answer(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl", help="query_id and question per line.")],
    warehouse: Warehouse,
    out: Annotated[Path, typer.Option(help="Directory for answers.parquet, .jsonl, .csv and index.html.")],
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
    searcher = open_searcher(warehouse, snapshot, settings, override)
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
