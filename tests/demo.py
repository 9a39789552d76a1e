"""The end of `make demo`: three answers with their citations, and where to look."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import typer

from quern.indexes.catalog import Warehouse
from quern.pipelines.answers.views.terminal import render_text
from quern.schemas.answers import Answer

_SHOWN = 3


def main(directory: Path) -> None:
    """Print three cited answers out of `directory`, the time of the build, and the report's path."""
    manifest = Warehouse.open(directory / "warehouse").manifest()
    answers = [
        Answer.model_validate(json.loads(line))
        for line in (directory / "answers" / "answers.jsonl").read_text("utf-8").split("\n")
        if line
    ]
    # One of each kind where there is one: from one document, from several, in Chinese.
    found = sorted((a for a in answers if a.found), key=lambda a: -a.probability)
    several = [a for a in found if len({c.doc_id for c in a.citations}) > 1]
    chinese = [a for a in found if not a.question.isascii()]
    chosen = {a.query_id: a for a in [*found[:1], *several[:1], *chinese[:1], *found[1:]]}
    for answer in list(chosen.values())[:_SHOWN]:
        typer.echo(render_text(answer.model_copy(update={"hits": [], "path": []}), width=100, color=False))
        typer.echo("-" * 100)
    rows = ", ".join(f"{manifest.tables[n].rows:,} {n}" for n in ("documents", "chunks", "nodes", "edges"))
    typer.echo(f"built {rows} in {manifest.seconds:.1f} s, {manifest.peak_memory_bytes >> 20:,} MiB at peak")
    typer.echo(f"answered {len(found)} of {len(answers)} questions")
    typer.echo(f"report:    {directory / 'answers' / 'index.html'}  (open it in a browser)")
    typer.echo(f'ask more:  .venv/bin/quern ask --warehouse {directory / "warehouse"} "..."')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
