"""Looking at what there is: rows, settings, the quality of extraction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from quern.pipelines.cli.common import (
    AsJson,
    Overrides,
    SettingsFile,
    Snapshot,
    Warehouse,
    load_settings,
    new_app,
    print_json,
)

app = new_app("")


@app.command(
    epilog="Examples:  quern show document DOC_ID -w WH    quern show node QUERY_ID -w WH --json    "
    "quern show page URL -w WH --raw"
)
def show(
    kind: Annotated[str, typer.Argument(help="What a row is called: page, document, chunk, query, node...")],
    key: Annotated[str, typer.Argument(metavar="ID", help="Its key: a URL for a page, else its id.")],
    warehouse: Warehouse,
    snapshot: Snapshot = None,
    as_json: AsJson = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Of a page: write its archived record, byte for byte, to standard output.")
    ] = False,
) -> None:
    """Show any row, what it came from and what it led to."""
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.inspect.show import NotInSnapshotError, original_of
    from quern.pipelines.inspect.show import show as find
    from quern.schemas.words.lines import plain

    opened = Catalog.open(warehouse).snapshot(snapshot)
    if raw:
        if kind != "page":
            raise NotInSnapshotError(f"--raw writes a page, and a {kind} is none")
        record = original_of(opened, key)
        typer.echo(record.head + record.block, nl=False)
        return
    found = find(opened, kind, key)
    if as_json:
        print_json(found)
        return
    for part in ("row", "from", "to"):
        typer.echo(f"{part}:")
        for name, value in found[part].items():
            for shown in (value or ["none"]) if isinstance(value, list) else [value]:
                typer.echo(f"  {name}: {plain(str(shown))}")


@app.command("recipes", epilog="Example:  quern recipes")
def list_recipes(as_json: AsJson = False) -> None:
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
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Measure main text against gold text: F1, precision and recall over 4-gram shingles."""
    from quern.pipelines.evaluation.extraction import evaluate_extraction as measure

    figures = measure(folder, load_settings(settings, override).clean)
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        typer.echo(f"{name:<12} {value:.4f}" if isinstance(value, float) else f"{name:<12} {value}")


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
