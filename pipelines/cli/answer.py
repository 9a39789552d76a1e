"""Answering a batch of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    question_names,
)

app = new_app("")


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
    warehouse: Warehouse,
    out: Annotated[Path, typer.Option(help="Directory for answers.parquet, .jsonl, .csv and index.html.")],
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=NAME,...",
            help="What the file calls the fields of questions, for example question=Frage,query_id=Nr; repeatable.",
            show_default=False,
        ),
    ] = None,
    recipe: RecipeName = "bridge",
    top_k: TopK = None,
    where: Where = None,
    as_of: AsOf = None,
    snapshot: Snapshot = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    anew: Annotated[bool, typer.Option("--anew", help="Remember nothing of earlier runs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a batch of questions and write a browsable report.

    A question without `query_id` gets one, made of its words. Questions are read as a stream; a line that is none goes
    to rejects.jsonl with its reason. A run that was stopped or killed goes on where it was: run the same command. Over
    tonight's snapshot only questions whose evidence changed since an earlier run are reasoned about; `quern answers
    diff` tells what came of it.
    """
    from quern.pipelines.answers.files import RejectFile, write_answers
    from quern.pipelines.answers.parts import parts_of
    from quern.pipelines.answers.questions import QuestionFile
    from quern.pipelines.images.illustrate import illustrated
    from quern.pipelines.query import BATCH_QUESTIONS, Tally, answer_questions
    from quern.pipelines.retrieve.filters import conditions_in
    from quern.pipelines.retrieve.recipes import find_recipes

    (chosen,) = find_recipes(recipe)
    searcher = open_searcher(warehouse, snapshot, settings, override, where, as_of, top_k)
    file = QuestionFile(questions, searcher.settings.question.max_characters, conditions_in, question_names(names))
    file.check()
    with parts_of(out) as parts, RejectFile(out) as rejects:
        parts.begin(_run(searcher, recipe))
        if parts.anew:
            typer.echo(f"answers of a run before in {out} are of another {parts.anew}: answering anew", err=True)
        memo, tally = None if anew else searcher.snapshot.warehouse.memo / "reasoning", Tally()
        answers = parts.answered(
            file.questions(rejects.write),
            lambda asked: answer_questions(searcher, asked, chosen, memo, tally, illustrated),
            BATCH_QUESTIONS,
        )
        title = f"Answers to {'standard input' if str(questions) == '-' else questions.name}"
        written = write_answers(_counted(answers, file), out, title, _facts(searcher, recipe), searcher.pictures)
    _tell(written, file, parts.resumed, tally, out, searcher.settings.generator.kind, as_json=as_json)


def _tell(written: Any, file: Any, resumed: int, tally: Any, out: Path, kind: str, *, as_json: bool) -> None:
    by_model = {} if kind == "rules" else {"by": kind, "fell_back": written.by["rules"]}
    rejected = sum(file.rejected.values())
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
    if rejected:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(file.rejected.items()))
        lines = "1 line is no question" if rejected == 1 else f"{rejected} lines are no questions"
        typer.echo(f"{lines} ({reasons}): {out / 'rejects.jsonl'}")
    typer.echo(f"report: {out / 'index.html'}")


def _counted(answers: Any, file: Any) -> Any:
    import sys

    from quern.jobs.core.progress import watched

    done = 0
    with watched("answer", file.size() if sys.stderr.isatty() else 0, lambda: done):
        for answer in answers:
            yield answer
            done += 1


def _run(searcher: Any, recipe: str) -> dict[str, str]:
    """What answers depend on beside their questions."""
    from quern.schemas.digests import settings_digest
    from quern.schemas.settings import SearchSettings, results

    settings = searcher.settings
    told = [results(settings, SearchSettings), settings.generator.model_dump(mode="json")]
    return {"snapshot": searcher.snapshot.manifest.build_id, "settings": settings_digest(told), "recipe": recipe}


def _facts(searcher: Any, recipe: str) -> dict[str, object]:
    manifest = searcher.snapshot.manifest
    rows = {name: f"{manifest.tables[name].rows:,}" for name in ("documents", "chunks", "nodes", "edges")}
    return {
        "snapshot": manifest.build_id,
        **rows,
        "model": Path(manifest.known_settings().embed.model).name,
        "recipe": recipe,
    }
