"""Answering questions, one or a batch, and what became of answers from one run to the next."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import open_searcher, print_json
from quern.schemas.digests import settings_digest
from quern.schemas.words.lines import one_line, shortened_where_they_differ

app = cli.new_app("")
runs = cli.new_app("What became of answers from one run to the next.")


@app.command(
    epilog='Examples:  quern ask -w WH "Who repaired the bridge?"    quern ask -w WH --recipe qcg --json "..."    '
    'quern ask -w WH --recipe global "What are the main themes?"    '
    'quern ask -w WH --as-of 2024-06-30 "What does the bridge cost?"'
)
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    warehouse: cli.Warehouse,
    recipe: cli.RecipeName = "bridge",
    where: cli.Where = None,
    as_of: cli.AsOf = None,
    snapshot: cli.Snapshot = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Answer one question: the answer, its numbered citations, the chunks, and the path through the graph."""
    searcher = open_searcher(warehouse, snapshot, settings, override, where, as_of)
    from quern.pipelines.answers.questions import question_of

    asked = question_of({"query_id": "ask", "question": question}, searcher.settings.question.max_characters)
    searcher.prepare()  # While the rest is imported.
    from quern.pipelines.answers.views.terminal import render_text
    from quern.pipelines.images.illustrate import illustrated
    from quern.pipelines.query import answer_questions
    from quern.pipelines.retrieve.recipes import find_recipes

    (chosen,) = find_recipes(recipe)
    (answer,) = answer_questions(searcher, [asked], chosen, present=illustrated)
    if as_json:
        print_json(answer.model_dump(mode="json"))
        return
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    typer.echo(render_text(answer, width=cli.terminal_width(), color=color))


@app.command(
    epilog="Examples:  quern answer questions.jsonl -w WH --out answers/    "
    "quern answer questions.csv -w WH --out answers/ --set answer.risk=0.2    "
    "quern answer faq.csv -w WH --out answers/ --map question=Frage,query_id=Nr    "
    "quern answer questions.jsonl -w WH --out answers/ --as-of 2024-06-30    "
    "cat questions.jsonl | quern answer - -w WH --out answers/"
)
def answer(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS", help="JSONL, Parquet, CSV or TSV with `question`; .txt, one a line; - for stdin."
        ),
    ],
    warehouse: cli.Warehouse,
    out: Annotated[Path, typer.Option(help="Directory for answers.parquet, .jsonl, .csv and index.html.")],
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=NAME,...",
            help="What the file calls the fields of questions, for example question=Frage,query_id=Nr; repeatable.",
        ),
    ] = None,
    recipe: cli.RecipeName = "bridge",
    where: cli.Where = None,
    as_of: cli.AsOf = None,
    snapshot: cli.Snapshot = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    anew: cli.Anew = False,
    as_json: cli.AsJson = False,
) -> None:
    """Answer a batch of questions and write a browsable report.

    A question without `query_id` gets a hash of its text as id. Invalid lines go to rejects.jsonl with a reason. To
    resume a stopped run, run the same command again. On a newer snapshot, only answers whose evidence changed are
    recomputed; `quern answers diff` shows the differences.
    """
    from quern.pipelines.answers.files import RejectFile, write_answers
    from quern.pipelines.answers.parts import parts_of
    from quern.pipelines.answers.questions import QuestionFile, check_readable, row_count
    from quern.pipelines.images.illustrate import illustrated
    from quern.pipelines.query import BATCH_QUESTIONS, Tally, answer_questions
    from quern.pipelines.retrieve.filters import conditions_in
    from quern.pipelines.retrieve.recipes import find_recipes
    from quern.schemas.settings import SearchSettings, results

    (chosen,) = find_recipes(recipe)
    searcher = open_searcher(warehouse, snapshot, settings, override, where, as_of)
    names_of = cli.question_names(names)
    file = QuestionFile(questions, searcher.settings.question.max_characters, conditions_in, names_of)
    check_readable(questions)
    with parts_of(out) as parts, RejectFile(out) as rejects:
        # What answers depend on beside their questions.
        depends_on = [results(searcher.settings, SearchSettings), searcher.settings.generator.model_dump(mode="json")]
        build_id = searcher.snapshot.manifest.build_id
        parts.begin({"snapshot": build_id, "settings": settings_digest(depends_on), "recipe": recipe})
        if parts.anew:
            typer.echo(f"answers of a run before in {out} are of another {parts.anew}: answering anew", err=True)
        memo, tally = None if anew else searcher.snapshot.warehouse.memo / "reasoning", Tally()
        answers = parts.answered(
            file.questions(rejects.write),
            lambda asked: answer_questions(searcher, asked, chosen, memo, tally, illustrated),
            BATCH_QUESTIONS,
        )
        manifest = searcher.snapshot.manifest
        facts = {
            "snapshot": manifest.build_id,
            **{name: f"{manifest.tables[name].rows:,}" for name in ("documents", "chunks", "nodes", "edges")},
            "model": Path(manifest.known_settings().embed.model).name,
            "recipe": recipe,
        }
        title = f"Answers to {'standard input' if str(questions) == '-' else questions.name}"
        counted = cli.counted("answer", answers, partial(row_count, questions))
        written = write_answers(counted, out, title, facts, searcher.pictures)
    kind, resumed = searcher.settings.generator.kind, parts.resumed
    by_model = {} if kind == "rules" else {"by": kind, "fell_back": written.by["rules"]}
    if as_json:
        more = {"resumed": resumed, "remembered": tally.reused, "rejected": dict(sorted(file.rejected.items()))}
        counts = {"questions": written.questions, "answered": written.found}
        print_json({**counts, **{n: v for n, v in more.items() if v}, **by_model, "out": str(out)})
        return
    if resumed:
        typer.echo(f"went on with a run before: {resumed} answers were there already")
    typer.echo(
        f"answered {written.found} of {written.questions} questions"
        + ("; no answer was found to the others" if 0 < written.found < written.questions else "")
        + (f"; for {written.by['rules']} the rule stood in for the model" if by_model else "")
    )
    if tally.reused:
        typer.echo(f"as remembered: {tally.reused} answers and parts of answers; reasoned about: {tally.computed}")
    cli.tell_rejected(file.rejected, "question", out)
    typer.echo(f"report: {out / 'index.html'}")


@runs.callback()
def _runs() -> None:
    """What became of answers from one run to the next."""


@runs.command(
    "diff", epilog="Examples:  quern answers diff monday/ tuesday/    quern answers diff monday/ tuesday/ --json"
)
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Folder that `quern answer --out` wrote.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Folder of the later run.")],
    as_json: cli.AsJson = False,
) -> None:
    """Show which answers changed between two runs over the same questions, and which pages caused it."""
    from quern.pipelines.answers.difference import differences

    changes = list(differences(old, new))
    if as_json:
        print_json({"changed": len(changes), "answers": [asdict(change) for change in changes]})
        return

    for change in changes:
        typer.echo(f"{one_line(change.query_id)}  {one_line(change.question)}")
        texts = shortened_where_they_differ(change.before or "(not asked)", change.after or "(not asked)", 160)
        typer.echo("  - {}\n  + {}".format(*texts))
        for page in change.pages:
            typer.echo(f"    {page.what} page{', cited' if page.cited else ''}: {one_line(page.page)}")
        if not change.pages:
            typer.echo(f"    the same evidence: another {change.why}")
    typer.echo(f"{len(changes)} answers changed" if changes else "no answer changed")


@app.command(
    epilog='Examples:  quern timeline -w WH "the ferry collision and its inquiry"    '
    'quern timeline -w WH --entity "Tollen Bridge" --from 2024 --to 2024-11    '
    "quern timeline -w WH --entity Airbus --most 20 --json    "
    'quern timeline -w WH "the ferry collision" --html ferry.html'
)
def timeline(
    warehouse: cli.Warehouse,
    topic: Annotated[
        str | None,
        typer.Argument(
            help="What it is about; the name of an entity gives that one's. Without it, all of --from and --to."
        ),
    ] = None,
    entity: Annotated[str | None, typer.Option(help="Name of a person, place, organisation or thing.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="First day: 2024, 2024-03 or 2024-03-02.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="DATE", help="Last day, in the same forms.")] = None,
    most: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Events: so many that fit best, in order of time.")
    ] = None,
    as_of: cli.AsOf = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as a page to read in a browser.")] = None,
    snapshot: cli.Snapshot = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Show what happened, in order of time: each event with its date, the sentence that tells it, and its sources."""
    from quern.pipelines.timelines.query import asked_timeline, wanted_of
    from quern.pipelines.timelines.view import render_timeline

    selection = wanted_of(start, end, most)
    searcher = open_searcher(warehouse, snapshot, settings, override, as_of=as_of)
    result = asked_timeline(searcher, topic, entity, selection)
    if html:
        from quern.pipelines.timelines.page import write_timeline

        write_timeline(result, searcher.snapshot, html)
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    typer.echo(render_timeline(result, cli.terminal_width()))
