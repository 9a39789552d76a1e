"""The command line of Quern."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from schemas.settings import Settings, SettingsError, describe, load_settings

_INTERRUPTED = 130
_stop_asked = False
_LOGGERS = ("jobs", "indexes", "pipelines")

app = typer.Typer(
    name="quern",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Grind a folder of web pages into a query-centric index, and answer questions from it with citations.",
)
snapshots_app = typer.Typer(no_args_is_help=True, help="What is published in a warehouse.", rich_markup_mode=None)
app.add_typer(snapshots_app, name="snapshots")

Warehouse = Annotated[Path, typer.Option("--warehouse", "-w", help="Directory of the warehouse.", show_default=False)]
SettingsFile = Annotated[Path | None, typer.Option("--settings", help="YAML file of settings.")]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="One setting, for example graph.k=2; repeatable.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]
Snapshot = Annotated[str | None, typer.Option("--snapshot", help="Build id of a snapshot; default the published one.")]
RecipeName = Annotated[str, typer.Option("--recipe", help="dense, bm25, qcg or hybrid.")]


def _print(value: object) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1, default=str))


@app.command(
    epilog="Examples:  quern build pages/ -w WH    quern build crawl.warc.gz -w WH --set graph.k=2    "
    "quern build docs.jsonl -w WH --engine local",
)
def build(
    source: Annotated[
        Path, typer.Argument(metavar="PAGES", help="Folder or file: .html(.gz), .jsonl(.gz), .warc(.gz).")
    ],
    warehouse: Warehouse,
    settings: SettingsFile = None,
    override: Overrides = None,
    engine: Annotated[str | None, typer.Option(help="auto, local, spark or ray.")] = None,
    spark_master: Annotated[str | None, typer.Option(help="Spark master, default local.")] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster, default one on this machine.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build an index of PAGES and publish it; only what changed since the last build is computed."""
    engines = {"engine": engine, "spark_master": spark_master, "ray_address": ray_address}
    overrides = [*(override or []), *(f"engine.{name}={value}" for name, value in engines.items() if value)]
    loaded = load_settings(settings, overrides)
    from indexes.catalog import Warehouse as Catalog
    from jobs.ingest import list_inputs
    from pipelines.build import build as run_build
    from pipelines.terminal import chatter_to

    list_inputs(source)  # A mistyped path must not leave an empty warehouse behind.
    catalog = Catalog.create(warehouse)
    with chatter_to(catalog.logs / "engines.log", _LOGGERS):
        manifest = run_build(source, catalog, loaded)
    if as_json:
        _print(manifest.model_dump(mode="json"))
        return
    typer.echo(f"published {manifest.build_id} in {manifest.seconds:.1f} s, {_mib(manifest.peak_memory_bytes)} at peak")
    for name, table in manifest.tables.items():
        typer.echo(f"  {name:<10} {table.rows:>9,} rows  {table.digest[:12]}")
    for reason, count in manifest.rejects.items():
        typer.echo(f"  rejected {count} by {reason}")


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


def _searcher(warehouse: Path, snapshot: str | None, settings: Path | None, override: list[str] | None) -> Any:
    """A searcher of the snapshot; its own settings hold unless a file or `--set` says otherwise."""
    from indexes.catalog import Warehouse as Catalog
    from pipelines.recipes import Searcher

    opened = Catalog.open(warehouse).snapshot(snapshot)
    return Searcher(opened, load_settings(settings, override or [], opened.manifest.known_settings()))


@app.command(
    epilog='Examples:  quern ask -w WH "Who repaired the bridge?"    quern ask -w WH --recipe qcg --json "..."'
)
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    warehouse: Warehouse,
    recipe: RecipeName = "hybrid",
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Answer one question: the answer, its numbered citations, the chunks, and the path through the graph."""
    from pipelines.present import render_text
    from pipelines.query import QuestionError, answer_questions
    from pipelines.recipes import find_recipes
    from schemas.answers import Question

    if not question.strip():
        raise QuestionError("the question is empty")
    (chosen,) = find_recipes(recipe)
    searcher = _searcher(warehouse, snapshot, settings, override)
    (answer,) = answer_questions(searcher, [Question(query_id="ask", question=question)], chosen)
    if as_json:
        _print(answer.model_dump(mode="json"))
        return
    width = min(100, os.get_terminal_size().columns) if sys.stdout.isatty() else 100
    typer.echo(render_text(answer, width=width, color=sys.stdout.isatty() and "NO_COLOR" not in os.environ))


@app.command(epilog="Example:  quern answer questions.jsonl -w WH --out answers/")
def answer(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl", help="query_id and question per line.")],
    warehouse: Warehouse,
    out: Annotated[Path, typer.Option(help="Directory for answers.parquet, answers.jsonl and index.html.")],
    recipe: RecipeName = "hybrid",
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Answer a batch of questions and write a browsable report."""
    from pipelines.output import write_answers
    from pipelines.query import answer_questions, read_questions
    from pipelines.recipes import find_recipes

    (chosen,) = find_recipes(recipe)
    asked = read_questions(questions)
    searcher = _searcher(warehouse, snapshot, settings, override)
    answers = _counted(answer_questions(searcher, asked, chosen), len(asked))
    found = write_answers(answers, out, f"Answers to {questions.name}", _facts(searcher, recipe))
    if as_json:
        _print({"questions": len(asked), "answered": found, "out": str(out)})
        return
    typer.echo(f"answered {found} of {len(asked)} questions; the others are not in the corpus")
    typer.echo(f"report: {out / 'index.html'}")


def _counted(answers: Any, total: int) -> Any:
    from jobs.progress import watched

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


@app.command(epilog="Example:  quern evaluate questions.jsonl -w WH --recipes dense,bm25,qcg,hybrid --k 2,5,10 --json")
def evaluate(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl", help="With evidence_doc_ids per line.")],
    warehouse: Warehouse,
    recipes: Annotated[str, typer.Option(help="Recipes, separated by commas.")] = "dense,bm25,qcg,hybrid",
    k: Annotated[str, typer.Option("--k", help="Cut-offs, separated by commas.")] = "2,5,10",
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Measure recipes against gold evidence: Recall@k, all-evidence@k, MRR, macro over questions."""
    from pipelines.evaluate import EvaluationError
    from pipelines.evaluate import evaluate as run_evaluation
    from pipelines.query import read_questions
    from pipelines.recipes import find_recipes

    try:
        ks = sorted({int(part) for part in k.split(",")})
    except ValueError:
        raise EvaluationError(f"--k {k}: write whole numbers separated by commas, for example 2,5,10") from None
    if ks[0] < 1:
        raise EvaluationError(f"--k {k}: a cut-off must be at least 1")
    chosen = find_recipes(recipes)
    searcher = _searcher(warehouse, snapshot, settings, override)
    figures = run_evaluation(searcher, read_questions(questions), chosen, ks)
    _print(figures) if as_json else typer.echo(_table(figures))


def _table(figures: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(figures.values())))
    head = f"{'recipe':<10}" + "".join(f"{n:>17}" for n in names)
    lines = [f"{r:<10}" + "".join(f"{v[n]:>17.4g}" for n in names) for r, v in figures.items()]
    return "\n".join([head, *lines])


@app.command("evaluate-extraction", epilog="Example:  quern evaluate-extraction article_extraction_benchmark/ --json")
def evaluate_extraction(
    folder: Annotated[Path, typer.Argument(help="Folder with html/ID.html.gz and ground-truth.json.")],
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Measure main text against gold text: F1, precision and recall over 4-gram shingles."""
    from pipelines.extraction import evaluate_extraction as measure

    figures = measure(folder, load_settings(settings, override or []).clean)
    if as_json:
        _print(figures)
        return
    for name, value in figures.items():
        typer.echo(f"{name:<12} {value:.4f}" if isinstance(value, float) else f"{name:<12} {value}")


@app.command(epilog="Examples:  quern show document DOC_ID -w WH    quern show node QUERY_ID -w WH --json")
def show(
    kind: Annotated[str, typer.Argument(help="page, document, chunk, query or node.")],
    key: Annotated[str, typer.Argument(metavar="ID", help="Its key: a URL for a page, else its id.")],
    warehouse: Warehouse,
    snapshot: Snapshot = None,
    as_json: AsJson = False,
) -> None:
    """Show any row, what it came from and what it led to."""
    from indexes.catalog import Warehouse as Catalog
    from pipelines.present import plain
    from pipelines.show import show as find

    found = find(Catalog.open(warehouse).snapshot(snapshot), kind, key)
    if as_json:
        _print(found)
        return
    for part in ("row", "from", "to"):
        typer.echo(f"{part}:")
        for name, value in found[part].items():
            for shown in (value or ["none"]) if isinstance(value, list) else [value]:
                typer.echo(f"  {name}: {plain(str(shown))}")


@app.command(epilog="Examples:  quern settings    quern settings --set graph.k=2 --json")
def settings(settings: SettingsFile = None, override: Overrides = None, as_json: AsJson = False) -> None:
    """Print every setting with its value and what it means."""
    loaded: Settings = load_settings(settings, override or [])
    if as_json:
        _print(loaded.model_dump())
        return
    shown = None
    for group, name, value, description in describe(loaded):
        if group != shown:
            typer.echo(f"{group}:  # {Settings.model_fields[group].description}")
            shown = group
        typer.echo(f"  {name}: {json.dumps(value)}  # {description}")


@snapshots_app.command("list", epilog="Example:  quern snapshots list -w WH")
def list_snapshots(warehouse: Warehouse, as_json: AsJson = False) -> None:
    """List the snapshots, oldest first; * marks the published one."""
    from indexes.catalog import Warehouse as Catalog

    catalog = Catalog.open(warehouse)
    current = catalog.current_id()
    manifests = [catalog.manifest(s) for s in catalog.snapshot_ids()]
    if as_json:
        listed = [{"build_id": m.build_id, "published": m.build_id == current, "seconds": m.seconds} for m in manifests]
        _print({"snapshots": listed})
        return
    for m in manifests:
        rows = ", ".join(f"{n} {m.tables[n].rows:,}" for n in ("documents", "chunks", "nodes", "edges"))
        typer.echo(f"{'*' if m.build_id == current else ' '} {m.build_id}  {rows}  {m.seconds:.1f} s")


@snapshots_app.command("show", epilog="Example:  quern snapshots show -w WH --json")
def show_snapshot(
    warehouse: Warehouse,
    build_id: Annotated[str | None, typer.Argument(help="Default the published one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the manifest of a snapshot: tables, digests, jobs, audit, settings."""
    from indexes.catalog import Warehouse as Catalog

    manifest = Catalog.open(warehouse).manifest(build_id)
    if as_json:
        _print(manifest.model_dump(mode="json"))
        return
    typer.echo(f"snapshot {manifest.build_id} of {manifest.source}, published {manifest.published_at}")
    for name, table in manifest.tables.items():
        typer.echo(f"  {name:<10} version {table.version:<4} {table.rows:>9,} rows  {table.digest}")
    for job in manifest.jobs:
        reused = "all" if job["computed"] == 0 else job["reused"]
        typer.echo(
            f"  job {job['job']:<10} in {job['rows_in']:,} out {job['rows_out']:,} reused {reused} {job['seconds']} s"
        )
    for check in manifest.audit:
        typer.echo(f"  {'ok  ' if check['passed'] else 'FAIL'} {check['expectation']}: {check['observed']}")


@snapshots_app.command(
    "rollback", epilog="Examples:  quern snapshots rollback -w WH    quern snapshots rollback ID -w WH"
)
def rollback_snapshot(
    warehouse: Warehouse,
    build_id: Annotated[str | None, typer.Argument(help="Default the one before the published.")] = None,
) -> None:
    """Publish an earlier snapshot again; nothing is deleted."""
    from indexes.catalog import Warehouse as Catalog

    catalog = Catalog.open(warehouse)
    with catalog.lock():
        manifest = catalog.rollback(build_id)
    typer.echo(f"published {manifest.build_id} again")


@snapshots_app.command("prune", epilog="Example:  quern snapshots prune -w WH --keep 7")
def prune_snapshots(
    warehouse: Warehouse, keep: Annotated[int, typer.Option(min=1, help="Snapshots to keep.")] = 7
) -> None:
    """Forget old snapshots and free the space that only they needed."""
    from indexes.catalog import Warehouse as Catalog

    catalog = Catalog.open(warehouse)
    with catalog.lock():
        gone = catalog.prune(keep)
    typer.echo(f"pruned {len(gone)} snapshots" + (f": {', '.join(gone)}" if gone else ""))


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        logger.propagate = False


def _expected_errors() -> tuple[type[BaseException], ...]:
    """Errors that a user can mend: one sentence and exit code 2, no traceback."""
    from indexes.catalog import WarehouseError
    from jobs.engines import EngineError
    from jobs.ingest import IngestError
    from jobs.models import ModelError
    from pipelines.build import BuildRefusedError
    from pipelines.evaluate import EvaluationError
    from pipelines.extraction import ExtractionError
    from pipelines.output import OutputError
    from pipelines.query import QuestionError
    from pipelines.recipes import RecipeError
    from pipelines.show import NotInSnapshotError

    return (
        WarehouseError,
        EngineError,
        IngestError,
        ModelError,
        BuildRefusedError,
        EvaluationError,
        ExtractionError,
        OutputError,
        QuestionError,
        RecipeError,
        NotInSnapshotError,
    )


def _interrupted() -> None:
    typer.echo("interrupted; run the same command again, a build goes on from where it stopped", err=True)
    sys.exit(_INTERRUPTED)


def _stop(signum: int, frame: object) -> None:
    global _stop_asked
    _stop_asked = True
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; exit code 2 for what a user can mend, 130 for an interruption."""
    _log_to_stderr()
    # An orchestrator stops a task with SIGTERM: engines must be closed as after Ctrl-C.
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    try:
        app()
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            _interrupted()
        raise
    except Exception as error:
        # A library that is interrupted at a bad moment raises an error of its own.
        if _stop_asked:
            _interrupted()
        if not isinstance(error, (SettingsError, *_expected_errors())):
            raise
        typer.echo(f"quern: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
