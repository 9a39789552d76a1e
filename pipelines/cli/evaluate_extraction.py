"""Measuring main text against gold text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
