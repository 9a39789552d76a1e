"""What became of answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from quern.pipelines.cli.common import AsJson, new_app, print_json

app = new_app("What became of answers from one run to the next.")

_SHOWN_CHARACTERS = 160


@app.callback()
def answers() -> None:
    """What became of answers from one run to the next."""


@app.command(
    "diff", epilog="Examples:  quern answers diff monday/ tuesday/    quern answers diff monday/ tuesday/ --json"
)
def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="Folder that `quern answer --out` wrote.", show_default=False)
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Folder of the later run.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Tell which answers changed between two runs over the same questions, and which pages made them change."""
    from quern.pipelines.answers.difference import differences

    changes = list(differences(old, new))
    if as_json:
        print_json({"changed": len(changes), "answers": [asdict(change) for change in changes]})
        return
    from quern.schemas.words.lines import one_line, shortened_where_they_differ

    for change in changes:
        typer.echo(f"{one_line(change.query_id)}  {one_line(change.question)}")
        said = (change.before or "(not asked)", change.after or "(not asked)")
        before, after = shortened_where_they_differ(*said, _SHOWN_CHARACTERS)
        typer.echo(f"  - {before}")
        typer.echo(f"  + {after}")
        for page in change.pages:
            typer.echo(f"    {page.what} page{', cited' if page.cited else ''}: {one_line(page.page)}")
        if not change.pages:
            typer.echo(f"    the same evidence: another {change.why}")
    typer.echo(f"{len(changes)} answers changed" if changes else "no answer changed")
