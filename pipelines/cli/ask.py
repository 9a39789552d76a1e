"""Answering one question."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from quern.pipelines.cli.common import (
    AsJson,
    AsOf,
    Overrides,
    RecipeName,
    SettingsFile,
    Snapshot,
    TopK,
    Warehouse,
    Where,
    new_app,
    open_searcher,
    print_json,
)

app = new_app("")


@app.command(
    epilog='Examples:  quern ask -w WH "Who repaired the bridge?"    quern ask -w WH --recipe qcg --json "..."    '
    'quern ask -w WH --as-of 2024-06-30 "What does the bridge cost?"'
)
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    warehouse: Warehouse,
    recipe: RecipeName = "bridge",
    top_k: TopK = None,
    where: Where = None,
    as_of: AsOf = None,
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw the path through the graph to this SVG file.", show_default=False)
    ] = None,
    align: Annotated[
        bool, typer.Option("--align", help="Also show which words of the question which words of the chunks match.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Answer one question: the answer, its numbered citations, the chunks, and the path through the graph."""
    searcher = open_searcher(warehouse, snapshot, settings, override, where, as_of, top_k)
    from quern.pipelines.answers.questions import question_of

    asked = question_of({"query_id": "ask", "question": question}, searcher.settings.question.max_characters)
    searcher.prepare()  # While the rest is imported.
    from quern.pipelines.answers.views.terminal import render_text
    from quern.pipelines.images.illustrate import illustrated
    from quern.pipelines.query import answer_questions
    from quern.pipelines.retrieve.recipes import find_recipes

    (chosen,) = find_recipes(recipe)
    (answer,) = answer_questions(searcher, [asked], chosen, present=illustrated)
    if picture:
        from quern.pipelines.inspect.graph.drawing import write_path

        write_path(answer, picture)
    if as_json:
        print_json(answer.model_dump(mode="json"))
        return
    width = min(100, os.get_terminal_size().columns or 100) if sys.stdout.isatty() else 100
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    typer.echo(render_text(answer, width=width, color=color, align=align))
