"""Training of the models that Quern packages."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from quern.pipelines.cli.common import AsJson, new_app, print_json
from quern.schemas.errors import QuernError

app = new_app("Train the models that answers are read with.")
log = logging.getLogger(__name__)


class TrainingError(QuernError):
    """Nothing can be trained as asked."""


@app.command(
    epilog="Examples:  quern train reader pages/ -o reader.safetensors    "
    "quern train reader tests/corpus/reading -o new.safetensors --begin jobs/models/reader.safetensors --steps 2000"
)
def reader(
    pages: Annotated[list[Path], typer.Argument(help="Files of pages, or folders of them (*.txt); see jobs/training.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the weights go; a checkpoint lies beside them.")],
    begin: Annotated[Path | None, typer.Option(help="A reader to go on from, instead of the embedding model.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Batches of 4,096 tokens.")] = 8000,
    rate: Annotated[float, typer.Option(min=0, help="The highest learning rate.")] = 1e-4,
    seed: Annotated[int, typer.Option(help="Of everything that is left to chance.")] = 0,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    as_json: AsJson = False,
) -> None:
    """Train the reader, which finds the answering line and words; resumes a killed run.

    Needs the environment of `make install-torch`. `python -m tests.benchmarks reading` measures the packaged reader.
    """
    training = _training("reader")
    run = training.Training(_files(pages), out, steps, begin=begin, rate=rate, seed=seed, device=device)
    _report(run.run(), out, as_json=as_json)


@app.command(epilog="Example:  quern train lines tests/corpus/reading -o late_interaction.safetensors --steps 1500")
def lines(
    pages: Annotated[list[Path], typer.Argument(help="Files of pages, or folders of them (*.txt); see jobs/training.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the weights go.")],
    steps: Annotated[int, typer.Option(min=1, help="Batches of 16 questions.")] = 1500,
    rate: Annotated[float, typer.Option(min=0, help="The learning rate, which falls evenly.")] = 2e-3,
    seed: Annotated[int, typer.Option(help="Of everything that is left to chance.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Train the late interaction that chooses which lines of the evidence the reader reads; it takes minutes.

    Needs the environment of `make install-torch`. `python -m tests.benchmarks lines` measures the packaged weights.
    """
    training = _training("late_interaction")
    _report(training.Training(_files(pages), out, steps, rate=rate, seed=seed).run(), out, as_json=as_json)


def _training(module: str) -> Any:
    try:
        return import_module(f"quern.jobs.training.{module}")
    except ModuleNotFoundError as error:
        raise TrainingError(f"training needs {error.name}: run `make install-torch` and use .venv-torch") from error


def _files(pages: Sequence[Path]) -> list[Path]:
    files = [file for place in pages for file in (sorted(place.glob("*.txt")) if place.is_dir() else [place])]
    if not files:
        raise TrainingError(f"there are no pages (*.txt) in {', '.join(map(str, pages))}")
    return files


def _report(figures: Mapping[str, float], out: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(figures)
    else:
        typer.echo(f"trained on {figures['questions']:,} questions, loss {figures['loss']:.3f}: {out}")
