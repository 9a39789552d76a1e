"""Measuring recipes against gold evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli.common import (
    AsJson,
    Overrides,
    SettingsFile,
    Snapshot,
    Where,
    load_settings,
    new_app,
    open_searcher,
    print_json,
)

if TYPE_CHECKING:
    from quern.schemas.settings import Settings

app = new_app("")


@app.command(
    epilog="Examples:  quern evaluate questions.jsonl -w WH --recipes bridge --types    "
    "quern evaluate questions.jsonl -w WH --recipes dense,bm25,qcg --k 2,5,10 --no-answers --trec runs/ --json    "
    "quern evaluate --answers alce.json"
)
def evaluate(
    context: typer.Context,
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="With evidence_urls or evidence_doc_ids, and answer; without a warehouse, a file of answers.",
        ),
    ],
    warehouse: Annotated[
        Path | None,
        typer.Option(
            "--warehouse",
            "-w",
            envvar="QUERN_WAREHOUSE",
            help="Directory of the warehouse that is asked; for a file of answers the environment's does not count.",
            show_default=False,
        ),
    ] = None,
    recipes: Annotated[str, typer.Option(help="Of {recipes}, separated by commas.")] = "dense,bm25,qcg,hybrid,bridge",
    k: Annotated[str, typer.Option("--k", help="Cut-offs, separated by commas.")] = "2,5,10",
    types: Annotated[bool, typer.Option("--types", help="Also for each type of question.")] = False,
    answers: Annotated[
        bool | None,
        typer.Option(
            "--answers/--no-answers",
            help="Also answer and measure the answers, by all recipes; by default by bridge alone. Without a "
            "warehouse, measure the answers of a file: ALCE's JSON or answers.jsonl.",
            show_default=False,
        ),
    ] = None,
    trec: Annotated[Path | None, typer.Option("--trec", help="Folder for TREC files: a run a recipe, qrels.")] = None,
    where: Where = None,
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Measure recipes against gold evidence, and their answers against gold answers.

    Of what is found: Recall@k, all-evidence@k, MRR, macro over questions. Of answers: are they right, refused where
    they should be, as sure as they say, and cited; each figure with its 95 % bootstrap interval. Answers of other
    systems in ALCE's files need no warehouse: `--answers alce.json` measures them by ALCE's own measures.
    """
    named_by = context.get_parameter_source("warehouse")
    if answers and named_by and named_by.name == "ENVIRONMENT":
        warehouse = None
    if warehouse is None:
        chosen_settings = load_settings(settings, override)
        print_figures(_of_file(questions, chosen_settings, measured=answers, types=types), as_json=as_json)
        return
    from quern.pipelines.answers.questions import read_questions
    from quern.pipelines.evaluation.recipes import evaluate as run_evaluation
    from quern.pipelines.evaluation.retrieval import EvaluationError
    from quern.pipelines.retrieve.recipes import find_recipes

    try:
        ks = sorted({int(part) for part in k.split(",")})
    except ValueError:
        raise EvaluationError(f"--k {k}: write whole numbers separated by commas, for example 2,5,10") from None
    if ks[0] < 1:
        raise EvaluationError(f"--k {k}: a cut-off must be at least 1")
    chosen = find_recipes(recipes)
    searcher = open_searcher(warehouse, snapshot, settings, override, where)
    asked = read_questions(questions)
    figures = run_evaluation(searcher, asked, chosen, ks, answers=answers, by_type=types, trec=trec)
    print_figures(figures, as_json=as_json)


def _of_file(path: Path, settings: Settings, *, measured: bool | None, types: bool) -> dict[str, dict[str, float]]:
    """Figures of a file of answers."""
    from quern.pipelines.evaluation.alce.files import evaluate_file
    from quern.pipelines.evaluation.retrieval import EvaluationError

    if not measured:
        raise EvaluationError(
            "questions are asked of a warehouse: name it with --warehouse; the answers that a file has are measured by "
            f"quern evaluate --answers {path}"
        )
    return evaluate_file(path, settings, by_type=types)


def print_figures(figures: dict[str, dict[str, float]], *, as_json: bool) -> None:
    """Print figures by recipe or file: as JSON or as a table."""
    print_json(figures) if as_json else typer.echo(_table(figures))


def _table(figures: dict[str, dict[str, float]]) -> str:
    """One row a recipe; where answers were measured, one row a figure."""
    names = list(dict.fromkeys(n for of in figures.values() for n in of if not n.endswith(_BESIDE)))
    cells = {title: [_cell(of, n) for n in names] for title, of in figures.items()}
    rows = [["recipe", *names], *([title, *column] for title, column in cells.items())]
    if not any(f"{n}_low" in of for of in figures.values() for n in names):
        return _aligned(rows, least=15)
    return _aligned([list(column) for column in zip(*rows, strict=True)], least=0)


_BESIDE = ("_low", "_high", "_questions")


def _aligned(rows: list[list[str]], least: int) -> str:
    """Rows of cells as lines: the first column to the left, the others, of `least` characters, to the right."""
    widths = [max(least if n else 10, *map(len, column)) for n, column in enumerate(zip(*rows, strict=True))]
    lines = ([c.rjust(w) if n else c.ljust(w) for n, (c, w) in enumerate(zip(r, widths, strict=True))] for r in rows)
    return "\n".join("  ".join(line) for line in lines)


def _cell(of: dict[str, float], name: str) -> str:
    """A figure with its interval, where it has one."""
    if name not in of:
        return "-"
    interval = f" [{of[f'{name}_low']:.3g}, {of[f'{name}_high']:.3g}]" if f"{name}_low" in of else ""
    return f"{of[name]:.4g}{interval}"
