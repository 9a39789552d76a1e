"""Judging answers, and how far to believe the judges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import load_settings, print_json

app = cli.new_app("")


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
