"""Measuring: recipes and answers against gold ones, sweeps of settings, main text, judges of answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import load_settings, open_searcher, print_json

app = cli.new_app("")


@app.command(
    epilog="Examples:  quern evaluate questions.jsonl -w WH --recipes bridge --types    "
    "quern evaluate questions.jsonl -w WH --recipes dense,bm25,qcg --k 2,5,10 --no-answers --trec runs/ --json    "
    "quern evaluate --answers alce.json    "
    "quern evaluate -w WH --beir scifact/ --recipes bm25 --trec runs/"
)
def evaluate(
    context: typer.Context,
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="[QUESTIONS]",
            help="With evidence_urls or evidence_doc_ids, and answer; without a warehouse, a file of answers.",
        ),
    ] = None,
    warehouse: Annotated[
        Path | None,
        cli.warehouse_option("Warehouse that is asked; for a file of answers the environment's does not count."),
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
        ),
    ] = None,
    trec: Annotated[Path | None, typer.Option("--trec", help="Folder for TREC files: a run a recipe, qrels.")] = None,
    qrels: Annotated[Path | None, typer.Option("--qrels", help="Judgements of TREC or BEIR, with --topics.")] = None,
    topics: Annotated[
        Path | None,
        typer.Option("--topics", help="Topics that --qrels judges: lines `ID<tab>TEXT`, JSON lines, or TREC's <top>."),
    ] = None,
    beir: Annotated[
        Path | None, typer.Option("--beir", help="Folder of BEIR: its queries.jsonl and qrels/test.tsv.")
    ] = None,
    where: cli.Where = None,
    snapshot: cli.Snapshot = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Measure recipes against gold evidence or judgements of TREC and BEIR, and their answers against gold answers.

    Retrieval: Recall@k, all-evidence@k, MRR, and nDCG@k for judgements, averaged over questions. Answers: correctness,
    refusals, calibration and citations, each figure with its 95 % bootstrap interval. `--answers alce.json` measures
    answers of other systems by ALCE's measures, without a warehouse.
    """
    from quern.pipelines.evaluation.retrieval import EvaluationError

    try:
        ks = sorted({int(part) for part in k.split(",")})
    except ValueError:
        raise EvaluationError(f"--k {k}: write whole numbers separated by commas, for example 2,5,10") from None
    if ks[0] < 1:
        raise EvaluationError(f"--k {k}: a cut-off must be at least 1")
    if beir:
        qrels, topics = qrels or beir / "qrels" / "test.tsv", topics or beir / "queries.jsonl"
    named_by = context.get_parameter_source("warehouse")
    if answers and named_by and named_by.name == "ENVIRONMENT":
        warehouse = None
    if (questions is None) == (qrels is None and topics is None) or (qrels is None) != (topics is None):
        raise EvaluationError("name what is measured: QUESTIONS, or --qrels with --topics, or --beir with a folder")
    if warehouse is None:
        if questions is None:
            raise EvaluationError("topics are asked of a warehouse: name it with --warehouse")
        from quern.pipelines.evaluation.alce.measure import evaluate_file

        loaded = load_settings(settings, override)
        if not answers:
            raise EvaluationError(
                "questions are asked of a warehouse: name it with --warehouse; the answers that a file has are "
                f"measured by quern evaluate --answers {questions}"
            )
        _print_figures(evaluate_file(questions, loaded, by_type=types), as_json=as_json)
        return
    from quern.pipelines.answers.questions import read_questions
    from quern.pipelines.evaluation.recipes import evaluate as run_evaluation
    from quern.pipelines.evaluation.trec import read_judged
    from quern.pipelines.retrieve.recipes import find_recipes

    chosen = find_recipes(recipes)
    asked, grades = read_judged(topics, qrels) if topics and qrels else (None, None)
    searcher = open_searcher(warehouse, snapshot, settings, override, where)
    figures = run_evaluation(
        searcher,
        asked or read_questions(questions or Path()),
        chosen,
        ks,
        answers=answers,
        by_type=types,
        trec=trec,
        grades=grades,
    )
    _print_figures(figures, as_json=as_json)


def _print_figures(figures: dict[str, dict[str, float]], *, as_json: bool) -> None:
    """Print figures by recipe or file, as JSON or as a table."""
    if as_json:
        print_json(figures)
        return

    def cell(of: dict[str, float], name: str) -> str:
        """A figure with its interval, where it has one."""
        if name not in of:
            return "-"
        interval = f" [{of[f'{name}_low']:.3g}, {of[f'{name}_high']:.3g}]" if f"{name}_low" in of else ""
        return f"{of[name]:.4g}{interval}"

    # One row a recipe; where answers were measured, one row a figure.
    beside = ("_low", "_high", "_questions")
    names = list(dict.fromkeys(n for of in figures.values() for n in of if not n.endswith(beside)))
    rows, least = [["recipe", *names], *([title, *(cell(of, n) for n in names)] for title, of in figures.items())], 15
    if any(f"{n}_low" in of for of in figures.values() for n in names):
        rows, least = [list(column) for column in zip(*rows, strict=True)], 0
    widths = [max(least if n else 10, *map(len, column)) for n, column in enumerate(zip(*rows, strict=True))]
    for row in rows:
        cells = [c.rjust(w) if n else c.ljust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
        typer.echo("  ".join(cells))


@app.command(
    epilog="Examples:  quern sweep paper --datasets FOLDER --out sweep/    "
    "quern sweep sweep.yaml --out sweep/ --only lihua_world"
)
def sweep(
    file: Annotated[
        Path, typer.Argument(metavar="SWEEP.yaml", help="A file, or a packaged sweep by its name: paper, qcg, gratag.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for warehouses, points and tables; kept between runs.")],
    datasets: Annotated[Path | None, typer.Option(help="Folder of their paths; default that of the file.")] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="A dataset to take; repeatable.")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core. 1 for undisturbed seconds.")] = 0,
    as_json: cli.AsJson = False,
) -> None:
    """Measure recipes and settings on datasets with gold evidence, against a baseline.

    Points that differ only in search settings share a build; builds of a dataset share a memo. To resume a stopped
    sweep, run the same command again. Writes results and questions as Parquet and results.md to OUT; exit code 1 if a
    point failed.
    """
    from quern.pipelines.evaluation.sweep import spec
    from quern.pipelines.evaluation.sweep.plan import plan_sweep
    from quern.pipelines.evaluation.sweep.run import run_sweep
    from quern.pipelines.evaluation.sweep.spec import read_sweep

    packaged = Path(spec.__file__).with_name(f"{file.name}.yaml")
    file = packaged if str(file) == file.name and not file.is_file() and packaged.exists() else file
    plan = plan_sweep(read_sweep(file), (datasets or file.parent).absolute(), str(file), frozenset(only or []))
    for name in plan.absent:
        typer.echo(f"dataset {name} is not there and is left out: {plan.sweep.datasets[name].documents}", err=True)
    results = run_sweep(plan, out, jobs)
    _report(results, as_json)
    if results.failed:
        raise typer.Exit(1)


def _report(results: Any, as_json: bool) -> None:
    from quern.pipelines.evaluation.sweep.tables import rows, write_markdown, write_tables

    figures = rows(results)
    page = write_markdown(results, figures)
    paths = [*write_tables(results, figures), page]
    if as_json:
        print_json(
            {
                "points": len(results.plan.points),
                "computed": len(results.measured) - results.reused,
                "finished_before": results.reused,
                "failed": {results.plan.points[i].label: error for i, error in results.failed.items()},
                "files": [str(p) for p in paths],
            }
        )
        return
    typer.echo(page.read_text("utf-8"))
    for path in paths:
        typer.echo(str(path), err=True)


@app.command("recipes", epilog="Example:  quern recipes")
def list_recipes(as_json: cli.AsJson = False) -> None:
    """List the ways to rank chunks, for --recipe and --recipes."""
    from quern.pipelines.retrieve.recipes import DEFAULT, RECIPES

    if as_json:
        print_json({name: recipe.citation for name, recipe in RECIPES.items()})
        return
    for name, recipe in RECIPES.items():
        typer.echo(f"{name:<15} {recipe.citation}{' (default)' if name == DEFAULT else ''}")


@app.command("evaluate-extraction", epilog="Example:  quern evaluate-extraction article_extraction_benchmark/ --json")
def evaluate_extraction(
    folder: Annotated[Path, typer.Argument(help="Folder with html/ID.html.gz and ground-truth.json.")],
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Measure main text against gold text: F1, precision and recall over 4-gram shingles."""
    from quern.pipelines.evaluation.extraction import evaluate_extraction as measure

    figures = measure(folder, load_settings(settings, override).clean)
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        typer.echo(f"{name:<12} {value:.4f}" if isinstance(value, float) else f"{name:<12} {value}")


@app.command(
    epilog="Examples:  quern convert hotpot_dev_distractor_v1.json --out hotpotqa/    "
    "quern convert MultiHopRAG.json corpus.json --out multihop_rag/    "
    "quern build hotpotqa/documents.jsonl -w WH && quern evaluate hotpotqa/questions.jsonl -w WH --types"
)
def convert(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="All files of one dataset.")],
    out: Annotated[Path, typer.Option(help="Folder for documents.jsonl and questions.jsonl.")],
    as_json: cli.AsJson = False,
) -> None:
    """Turn HotpotQA, 2WikiMultihopQA, MuSiQue or MultiHop-RAG into documents to build of and questions to measure with.

    BEIR folders need no conversion: `quern build FOLDER`, then `quern evaluate --beir FOLDER`.
    """
    from quern.pipelines.evaluation.datasets import convert as run_conversion

    counts = run_conversion(files, out)
    print_json(counts) if as_json else typer.echo(" ".join(f"{name}={count}" for name, count in counts.items()))


@app.command(
    epilog="Examples:  quern judge answers/answers.jsonl --out judged/    "
    "quern judge answers.jsonl --questions questions.jsonl --judges gold,comprehensiveness --out judged/    "
    "quern judge bridge.jsonl --against dense.jsonl --out judged/    "
    "quern judge answers.jsonl --out judged/ --people pairs.jsonl --set generator.kind=openai "
    "--set generator.url=http://localhost:8000/v1 --set generator.model=NAME    "
    "cat answers.jsonl | quern judge - --out judged/"
)
def judge(
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS",
            help="JSONL with question, answer and expected, or as `quern answer` writes it; - for stdin.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Directory for judgements.jsonl and index.html.")],
    against: Annotated[
        Path | None,
        typer.Option(metavar="OTHER", help="Answers to the same questions, by query_id: which of two is preferred."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="QUESTIONS", help="Gold answers, by query_id, else by question.")
    ] = None,
    judges: Annotated[
        str | None, typer.Option(help="Judges, separated by commas, of {judges}; by default all that can judge.")
    ] = None,
    people: Annotated[
        Path | None, typer.Option(metavar="PAIRS", help="Judgements of people: score the judges against them first.")
    ] = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    anew: cli.Anew = False,
    as_json: cli.AsJson = False,
) -> None:
    """Judge answers; beside each figure stands how far people agree with its judge.

    Judges: gold (0 or 1 by the gold answer), nine criteria and citation (ten points each), and with --against which of
    two answers is preferred (from -2 to 2, asked in both orders). By a model with --set generator.kind=...; without one
    by rule, and judges without a rule are left out. Replies of a model are kept in the directory; to resume a stopped
    run, run the same command again.
    """
    from quern.jobs.tasks.runner import Reasoner
    from quern.pipelines.answers.files import RejectFile
    from quern.pipelines.judging.judges import OPINIONS, find_judges, identity
    from quern.pipelines.judging.people import measured, read_people
    from quern.pipelines.judging.rows import AnswerFile, Gold, read_others
    from quern.pipelines.judging.run import judge_answers
    from quern.pipelines.judging.views import as_tree, render, write_page

    generator = load_settings(settings, override).generator
    model, by = generator.kind != "rules", identity(generator)
    chosen = find_judges(judges, pairs=against is not None, model=model)
    file = AnswerFile(answers, Gold.read(questions))
    file.check()
    others = None if against is None else read_others(against)
    theirs = None if people is None else read_people(people)
    out.mkdir(parents=True, exist_ok=True)
    with RejectFile(out) as rejects, Reasoner(generator, memo=out / "memo" if model and not anew else None) as reasoner:
        found = [a for j in chosen if theirs is not None for a in measured(reasoner, j, by, theirs)]
        rows = cli.counted("judge", file.answers(rejects.write), file.size)
        opinions = () if model or judges else OPINIONS
        report = judge_answers(rows, chosen, reasoner, by, found, out, others, opinions)
    facts: dict[str, object] = {
        "judged by": by,
        **({"against": against.name} if against else {}),
        **({"gold answers of": questions.name} if questions else {}),
    }
    title = f"Judgements of {'standard input' if str(answers) == '-' else answers.name}"
    write_page(report, out / "index.html", title=title, facts=facts)
    if as_json:
        print_json({**as_tree(report), "rejected": dict(sorted(file.rejected.items())), "out": str(out)})
        return
    typer.echo(render(report))
    cli.tell_rejected(file.rejected, "answer", out)
    typer.echo(f"report: {out / 'index.html'}")
