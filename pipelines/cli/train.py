"""Training of rerankers, and of the models that Quern packages."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import AsJson, new_app, print_json
from quern.schemas.errors import QuernError
from quern.schemas.extras import MissingExtraError

Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Rate = Annotated[float, typer.Option(min=0, help="The highest learning rate.")]
# Of commands that train a language model.
Model = Annotated[Path, typer.Option("--out", "-o", help="Folder of the model, for generator.model.")]
HeldOutFiles = Annotated[
    list[Path] | None, typer.Option(help="Questions to measure with later; refused in training; repeatable.")
]
Base = Annotated[str, typer.Option(help="Model to begin from: a folder, or a name in the Hugging Face cache.")]
Rank = Annotated[int, typer.Option(min=1, help="Rank of the adapters that are trained.")]
Every = Annotated[int, typer.Option(min=1, help="Steps between two checkpoints.")]
Licence = Annotated[str, typer.Option(help="Licence of the labelled sets, for the model card.")]
Encoder = Annotated[str, typer.Option(help="An encoder, or reader: the packaged model with the reader's layers.")]
Layers = Annotated[int, typer.Option(min=1, help="Layers of the base that are kept, the lowest.")]
Measured = Annotated[int, typer.Option(min=0, help="Held-out questions that the model card measures.")]

app = new_app("Train the models that passages are ranked and answers are read with.")
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
    rate: Rate = 1e-4,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Train the reader, which finds the answering line and words; resumes a killed run.

    Needs the environment of `make install-torch`. `python -m tests.benchmarks reading` measures the packaged reader.
    """
    training = _training("reader")
    run = training.Training(_files(pages), out, steps, begin=begin, rate=rate, device=device)
    _figures(run.run(), out, as_json=as_json)


@app.command(epilog="Example:  quern train lines tests/corpus/reading -o late_interaction.safetensors --steps 1500")
def lines(
    pages: Annotated[list[Path], typer.Argument(help="Files of pages, or folders of them (*.txt); see jobs/training.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the weights go.")],
    steps: Annotated[int, typer.Option(min=1, help="Batches of 16 questions.")] = 1500,
    rate: Annotated[float, typer.Option(min=0, help="The learning rate, which falls evenly.")] = 2e-3,
    as_json: AsJson = False,
) -> None:
    """Train the late interaction that chooses which lines of the evidence the reader reads; it takes minutes.

    Needs the environment of `make install-torch`. `python -m tests.benchmarks lines` measures the packaged weights.
    """
    training = _training("late_interaction")
    _figures(training.Training(_files(pages), out, steps, rate=rate).run(), out, as_json=as_json)


@app.command(
    epilog="Examples:  quern train decomposer graphs.jsonl -o decomposer --base MODEL    "
    "quern train decomposer graphs.jsonl -o better --base decomposer --reward WAREHOUSE --rate 1e-5 --steps 200"
)
def decomposer(
    graphs: Annotated[
        list[Path],
        typer.Argument(
            help="JSON Lines of question, sub_questions, parent_child; StrategyQA, Break, FanOutQA as they are."
        ),
    ],
    out: Model,
    base: Base,
    held_out: HeldOutFiles = None,
    reward: Annotated[
        Path | None,
        typer.Option(
            parser=cli.warehouse_folder,
            help="Warehouse: train by what the graphs' evidence is worth to the gold answers (GRPO).",
        ),
    ] = None,
    judge: Annotated[str, typer.Option(help="Model that says how likely an answer is; the base by default.")] = "",
    recipes: Annotated[str, typer.Option(help="Recipes that retrieve evidence for the reward.")] = "dense,bm25",
    group: Annotated[int, typer.Option(min=2, help="Graphs sampled of each question for the reward.")] = 8,
    size: Annotated[int, typer.Option(min=1, help="Questions of a batch; 4 are enough with --reward.")] = 16,
    rank: Rank = 16,
    steps: Annotated[int, typer.Option(min=1, help="Batches.")] = 400,
    rate: Annotated[float, typer.Option(min=0, help="The highest learning rate; 1e-5 or so with --reward.")] = 5e-4,
    every: Every = 50,
    measured: Measured = 100,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Train a language model that takes questions apart; resumes a killed run.

    One question in ten is held out and measured. Needs the extra `train`.
    """
    from quern.jobs.training.pairs import HeldOut

    training, runs, reading = _training("decomposer"), _training("run"), _training("graphs")
    out = out.absolute()
    runs.check_out(out)
    questions = reading.read_graphs(graphs)
    HeldOut.read(held_out or []).refuse(g.question for g in questions)
    pace = _pace(runs, steps, rate, device, every)
    request = training.Request(out, base, pace, size, rank, measured, _command())
    if reward is None:
        figures = training.train_supervised(questions, request)
    else:
        from quern.pipelines.retrieve.evidence import Passages
        from quern.pipelines.retrieve.recipes import find_recipes

        settings = training.GroupSettings(group=group, questions=size)
        searcher = cli.open_searcher(reward, None, None, None)
        passages, evidence = Passages(searcher), f"{searcher.snapshot.manifest.build_id} by {recipes}"
        by = [passages.by(recipe, settings.passages) for recipe in find_recipes(recipes)]
        figures = training.train_by_reward(questions, request, judge or base, by, passages.embed, settings, evidence)
    _figures(figures, out, as_json=as_json)


@app.command(
    epilog="Example:  quern train aligner cases.jsonl -o aligned --base MODEL, with cases.jsonl of rows like "
    '{"question": "...", "answer": "...", "passages": [{"title": "...", "text": "..."}]}'
)
def aligner(
    cases: Annotated[
        Path, typer.Argument(help="JSON Lines of question, answer, passages; triplets of a teacher if any.")
    ],
    out: Model,
    base: Base,
    held_out: HeldOutFiles = None,
    cold: Annotated[int, typer.Option(min=1, help="Batches of supervised extraction before the alignment.")] = 100,
    steps: Annotated[int, typer.Option(min=1, help="Batches of the alignment.")] = 200,
    samples: Annotated[int, typer.Option(min=2, help="Samples of triplets for each question.")] = 4,
    size: Annotated[int, typer.Option(min=1, help="Questions of a batch.")] = 4,
    rank: Rank = 16,
    rate: Rate = 2e-4,
    every: Every = 50,
    measured: Measured = 50,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Train a language model that extracts triplets and answers with them; resumes a killed run.

    One question in ten is held out and measured. Ask with `--set answer.triplets=4`. Needs the extra `train`.
    """
    from quern.jobs.training.pairs import HeldOut

    training, runs = _training("alignment"), _training("run")
    out = out.absolute()
    runs.check_out(out)
    rows = training.read_cases(cases)
    HeldOut.read(held_out or []).refuse(case.question for case in rows)
    pace = _pace(runs, steps, rate, device, every)
    request = training.Request(out, base, pace, size, rank, measured, _command())
    settings = training.AlignmentSettings(samples=samples, cold=cold)
    _figures(training.train_aligner(rows, cases.name, request, settings), out, as_json=as_json)


def _figures(figures: Mapping[str, float], out: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(figures)
    else:
        typer.echo("\n".join([*(f"{name}: {value:.4g}" for name, value in figures.items()), f"model: {out}"]))


@app.command(
    epilog="Examples:  quern train reranker -w WH -o reranker --held-out questions.jsonl    "
    "quern train reranker --pairs labelled.jsonl --licence Apache-2.0 -o reranker --steps 140 --batch 4"
)
def reranker(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the result; OUT.training holds the checkpoint.")],
    warehouse: Annotated[
        Path | None,
        cli.warehouse_option("Warehouse whose synthetic queries are positives, and whose other chunks are negatives."),
    ] = None,
    pairs: Annotated[
        list[Path] | None,
        typer.Option(help="A labelled set in FlagEmbedding's format: query, pos, neg a line; repeatable."),
    ] = None,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(help="Questions and texts to measure with, which no pair may have; repeatable."),
    ] = None,
    licence: Licence = "not stated",
    base: Encoder = "reader",
    questions: Annotated[int, typer.Option(min=1, help="Most synthetic queries that are taken.")] = 2000,
    steps: Annotated[int, typer.Option(min=1, help="Batches of the run.")] = 600,
    batch: Annotated[int, typer.Option(min=2, help="Questions of a batch.")] = 8,
    hard: Annotated[int, typer.Option(min=0, help="Negatives of its own that a question is read with.")] = 4,
    shared: Annotated[int, typer.Option(min=0, help="Positives of other questions that it is read with.")] = 1,
    layers: Layers = 6,
    rate: Rate = 1e-4,
    every: Annotated[int, typer.Option(min=1, help="Steps between two checkpoints and evaluations.")] = 50,
    device: Device = "cpu",
    snapshot: cli.Snapshot = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Train a reranker for `rerank.model`, on a warehouse without labels, on labelled sets, or both.

    A killed run goes on from its checkpoint. The result folder holds the model, the table of its pairs and a model
    card. A tenth of the questions is not trained on; the model that ranks it best is kept.
    """
    if warehouse is None and not pairs:
        raise TrainingError("name what to train on: a warehouse with -w, or a labelled set with --pairs")
    run, of = _training("run"), _training("reranker")
    from quern.pipelines.train import train_reranker, training_pairs

    searcher = cli.open_searcher(warehouse, snapshot, settings, override) if warehouse else None
    rows = training_pairs(searcher, pairs or [], held_out or [], questions)
    figures = train_reranker(
        rows,
        out.absolute(),
        _pace(run, steps, rate, device, every),
        of.Shape(batch, hard, shared, layers=layers),
        base,
        licence,
        _command(),
    )
    _figures(figures, out, as_json=as_json)


def _command() -> str:
    """The command that makes the model again, for its card."""
    return shlex.join(["quern", *sys.argv[1:]])


def _pace(run: Any, steps: int, rate: float, device: str, every: int) -> Any:
    """Settings of a run whose rate rises over the first tenth of its steps."""
    return run.Settings(steps, rate, warm=max(1, steps // 10), device=device, every=every)


def _training(module: str) -> Any:
    try:
        return import_module(f"quern.jobs.training.{module}")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"training needs {error.name}, which is not installed: pip install '.[train]' in the folder of Quern's "
            "source, or run `make install-torch` and use .venv-torch"
        ) from error


def _files(pages: Sequence[Path]) -> list[Path]:
    files = [file for place in pages for file in (sorted(place.glob("*.txt")) if place.is_dir() else [place])]
    if not files:
        raise TrainingError(f"there are no pages (*.txt) in {', '.join(map(str, pages))}")
    return files
