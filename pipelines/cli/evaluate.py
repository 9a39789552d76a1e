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
    "quern evaluate --answers alce.json    "
    "quern evaluate -w WH --beir scifact/ --recipes bm25 --run-out bm25.run    "
    "quern evaluate --qrels qrels.txt --run bm25.run"
)
def evaluate(
    context: typer.Context,
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="[QUESTIONS]",
            help="With evidence_urls or evidence_doc_ids, and answer; without a warehouse, a file of answers.",
            show_default=False,
        ),
    ] = None,
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
    qrels: Annotated[
        Path | None, typer.Option("--qrels", help="Judgements of TREC or BEIR, with --topics or --run.")
    ] = None,
    topics: Annotated[
        Path | None,
        typer.Option("--topics", help="Topics that --qrels judges: lines `ID<tab>TEXT`, JSON lines, or TREC's <top>."),
    ] = None,
    beir: Annotated[
        Path | None, typer.Option("--beir", help="Folder of BEIR: its queries.jsonl and qrels/test.tsv.")
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", help="Score this run against --qrels or --beir, without a warehouse; repeatable."),
    ] = None,
    run_out: Annotated[
        Path | None,
        typer.Option("--run-out", help="Write what the recipe finds: a TREC run; a folder for several."),
    ] = None,
    where: Where = None,
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Measure recipes against gold evidence or judgements of TREC and BEIR, and their answers against gold answers.

    Of what is found: Recall@k, all-evidence@k, MRR, of judgements nDCG@k, macro over questions. Of answers: are they
    right, refused where they should be, as sure as they say, and cited; each figure with its 95 % bootstrap interval.
    Answers of other systems in ALCE's files need no warehouse: `--answers alce.json` measures them by ALCE's own
    measures.
    """
    from quern.pipelines.evaluation.retrieval import EvaluationError

    ks = _cut_offs(k)
    if beir:
        from quern.pipelines.evaluation.trec import BEIR_QRELS, BEIR_TOPICS

        qrels, topics = qrels or beir / BEIR_QRELS, topics or beir / BEIR_TOPICS
    named_by = context.get_parameter_source("warehouse")
    if answers and named_by and named_by.name == "ENVIRONMENT":
        warehouse = None
    if run and qrels:
        print_figures(_of_runs(run, qrels, ks), as_json=as_json)
        return
    if run or (questions is None) == (qrels is None and topics is None) or (qrels is None) != (topics is None):
        raise EvaluationError(
            "name what is measured: QUESTIONS, or --qrels with --topics, or --beir with a folder; --run needs --qrels "
            "or --beir"
        )
    if warehouse is None:
        if questions is None:
            raise EvaluationError("topics are asked of a warehouse: name it with --warehouse, or a run with --run")
        chosen_settings = load_settings(settings, override)
        print_figures(_of_file(questions, chosen_settings, measured=answers, types=types), as_json=as_json)
        return
    from quern.pipelines.answers.questions import read_questions
    from quern.pipelines.evaluation.recipes import evaluate as run_evaluation
    from quern.pipelines.evaluation.trec import read_judged
    from quern.pipelines.retrieve.recipes import find_recipes

    chosen = find_recipes(recipes)
    judged = read_judged(topics, qrels) if topics and qrels else None
    searcher = open_searcher(warehouse, snapshot, settings, override, where)
    asked = judged.questions if judged else read_questions(questions or Path())
    figures = run_evaluation(
        searcher,
        asked,
        chosen,
        ks,
        answers=answers,
        by_type=types,
        trec=trec,
        grades=judged.grades if judged else None,
        run_out=run_out,
    )
    print_figures(figures, as_json=as_json)


def _cut_offs(k: str) -> list[int]:
    from quern.pipelines.evaluation.retrieval import EvaluationError

    try:
        ks = sorted({int(part) for part in k.split(",")})
    except ValueError:
        raise EvaluationError(f"--k {k}: write whole numbers separated by commas, for example 2,5,10") from None
    if ks[0] < 1:
        raise EvaluationError(f"--k {k}: a cut-off must be at least 1")
    return ks


def _of_runs(runs: list[Path], qrels: Path, ks: list[int]) -> dict[str, dict[str, float]]:
    """Figures of runs by the names of their files."""
    from quern.pipelines.evaluation.retrieval import EvaluationError, figures_of_run
    from quern.pipelines.evaluation.trec import read_qrels, read_run

    grades, figures = read_qrels(qrels), {}
    for path in runs:
        try:
            figures[str(path) if path.stem in figures else path.stem] = figures_of_run(read_run(path), grades, ks)
        except EvaluationError as error:
            raise EvaluationError(f"{path}: {error} of {qrels}") from None
    return figures


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
