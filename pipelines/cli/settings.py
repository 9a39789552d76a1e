"""Printing settings."""

from __future__ import annotations

import json

import typer

from quern.pipelines.cli.common import (
    AsJson,
    Overrides,
    SettingsFile,
    load_settings,
    new_app,
    print_json,
)

app = new_app("")


@app.command(epilog="Examples:  quern settings    quern settings --set link.k=2 --json")
def settings(settings: SettingsFile = None, override: Overrides = None, as_json: AsJson = False) -> None:
    """Print every setting with its value and what it means."""
    from quern.schemas.settings import describe, group_doc

    loaded = load_settings(settings, override)
    if as_json:
        print_json(loaded.model_dump())
        return
    shown = None
    for group, name, value, description in describe(loaded):
        if group != shown:
            typer.echo(f"{group}:  # {group_doc(group)}")
            shown = group
        typer.echo(f"  {name}: {json.dumps(value)}  # {description}")
