"""Listing recipes."""

from __future__ import annotations

import typer

from quern.pipelines.cli.common import (
    AsJson,
    new_app,
    print_json,
)

app = new_app("")


@app.command("recipes", epilog="Example:  quern recipes")
def list_recipes(as_json: AsJson = False) -> None:
    """List the ways to rank chunks, for --recipe and --recipes."""
    from quern.pipelines.retrieve.recipes import DEFAULT, RECIPES

    if as_json:
        print_json({name: recipe.citation for name, recipe in RECIPES.items()})
        return
    for name, recipe in RECIPES.items():
        typer.echo(f"{name:<15} {recipe.citation}{' (default)' if name == DEFAULT else ''}")
