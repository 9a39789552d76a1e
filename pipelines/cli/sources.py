"""Sources of questions, and seeds from what could not be answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quern.indexes.storage import write_text
from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import open_searcher, print_json
from quern.schemas.errors import QuernError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quern.pipelines.retrieve.searcher import Searcher
    from quern.schemas.answers import Answer

app = cli.new_app("")


@app.command(
    epilog='Examples:  quern sources "Who repaired the bridge?" -w WH    '
    "quern sources --questions questions.jsonl -w WH --out sources.jsonl    "
    "quern sources --unanswered answers/ -w WH --out seeds.txt    "
    'quern sources "..." -w WH --set sourcing.intents=4 --set sourcing.names=2 --json'
)
def sources(
    warehouse: cli.Warehouse,
    question: Annotated[str | None, typer.Argument(help="The question.")] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Many questions: JSONL, Parquet or CSV, as of `quern answer`.")
    ] = None,
    unanswered: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="answers.jsonl, or its folder: seeds for what it does not answer."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write seeds for `quern crawl`, or a line of JSON a question.")
    ] = None,
    snapshot: cli.Snapshot = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Find the sites that answer a question, each validated by its own pages; or seeds for the next crawl.

    Without `sourcing.online` nothing is fetched: only sites with pages in the index count. With --unanswered, links to
    pages outside the index, named sites and likely sources become seeds, each with its reason in a comment.
    """
    if sum(option is not None for option in (question, questions, unanswered)) != 1:
        raise QuernError('name one of: a question, "Who repaired the bridge?"; --questions FILE; --unanswered FILE')
    if unanswered is not None and out is None:
        raise QuernError("--unanswered writes seeds: name their file, --out seeds.txt")
    searcher = open_searcher(warehouse, snapshot, settings, override)
    if unanswered is not None and out is not None:
        _seeds(searcher, unanswered, out, as_json=as_json)
        return
    from quern.pipelines.answers.questions import question_of, read_questions
    from quern.pipelines.sources.measure import render_sources
    from quern.pipelines.sources.seek import sources_of

    if question is not None:
        asked = [question_of({"query_id": "sources", "question": question}, searcher.settings.question.max_characters)]
    else:
        asked = read_questions(questions or Path())
    results = list(sources_of(searcher, asked))
    if out is not None:
        write_text(out, "".join(one.model_dump_json() + "\n" for one in results))
    if question is None:
        from quern.pipelines.sources.measure import measured
        from quern.pipelines.sources.seek import gold_sites

        figures = measured(asked, results, gold_sites(searcher))
        if as_json:
            rows = {"out": str(out)} if out else {"sources": [one.model_dump(mode="json") for one in results]}
            print_json({"questions": len(asked), "figures": figures, **rows})
            return
        typer.echo(f"{sum(bool(one.valid) for one in results)} of {len(asked)} questions have a source that answers")
        for name, value in figures.items():
            typer.echo(f"{name:36} {value:.3f}")
        if out is not None:
            typer.echo(f"sources: {out}")
    elif as_json:
        print_json(results[0].model_dump(mode="json"))
    else:
        typer.echo(render_sources(results[0], cli.terminal_width()))


def _seeds(searcher: Searcher, path: Path, out: Path, *, as_json: bool) -> None:
    from quern.pipelines.sources.seeds import as_text, unanswered
    from quern.pipelines.sources.seek import seeds_of

    count = 0

    def answers() -> Iterator[Answer]:
        nonlocal count
        for answer in unanswered(path):
            count += 1
            yield answer

    seeds = seeds_of(searcher, answers())
    served = len({reason.query_id for seed in seeds for reason in seed.reasons})
    summary = f"{len(seeds)} seeds for {served} of {count} questions that were not answered"
    write_text(out, as_text(seeds, f"{summary}, by snapshot {searcher.snapshot.manifest.build_id}"))
    if as_json:
        rows = [{"url": seed.url, "reasons": [vars(reason) for reason in seed.reasons]} for seed in seeds]
        print_json({"unanswered": count, "served": served, "seeds": rows, "out": str(out)})
        return
    typer.echo(summary)
    if seeds:
        typer.echo(f"crawl them: quern crawl {out} -w {searcher.snapshot.warehouse.root} --set crawl.max_depth=1")
    else:
        typer.echo("no page that was found links or names anything beyond the index that fits them")
