"""One training loop for every task: checkpoints, resuming, the best weights, and the folder with its model card.

Batches are addressed by step, and each step begins from a seed of its own. So a run is a function of its settings, and
a checkpoint needs no state of random generators: a run that was killed at any moment ends with the weights of one that
was not, bit for bit on a CPU with one thread.

Source: Loshchilov and Hutter, AdamW, arXiv 1711.05101.
"""

from __future__ import annotations

import errno
import logging
import pickle
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, Generic, TypeVar

import torch
from torch import nn

from quern.indexes.storage import sweep, write_whole
from quern.jobs.models.machine import has_bf16
from quern.jobs.models.torch_runtime import find_device
from quern.schemas.digests import settings_digest
from quern.schemas.errors import QuernError

Batch = TypeVar("Batch")
Setting = str | int | float | bool

_AGAIN: Final = "## Make it again"  # Heading of a model card, by which a result is known.
_LOGGED: Final = 50  # Steps between two lines of the log.
_SHOWN: Final = 200  # Characters of a batch in an error.

log = logging.getLogger(__name__)


def autocast(device: torch.device) -> torch.autocast:
    """Products in bf16 where the device has arithmetic for it; a processor without takes many times as long."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda" or has_bf16())


class TrainingError(QuernError):
    """A training that cannot begin or go on; the message says why and what to do."""


@dataclass(frozen=True)
class Settings:
    """How long and how fast a run trains."""

    steps: int  # Batches of the run.
    rate: float  # The highest learning rate; it rises for `warm` steps and falls evenly to 0.
    warm: int = 60
    seed: int = 0  # Of everything that is left to chance.
    device: str = "cpu"  # `cpu` or `cuda`.
    every: int = 250  # Steps between two checkpoints, before each of which the model is evaluated.

    def __post_init__(self) -> None:
        """Raises: TrainingError, ModelError, where there is no such device."""
        if self.device not in ("cpu", "cuda"):
            raise TrainingError(f"--device {self.device}: write cpu or cuda")
        find_device(self.device, "--device")


@dataclass(frozen=True)
class Outcome:
    """What a run ended with."""

    steps: int  # Batches trained on.
    loss: float  # Mean of the last steps.
    best: float | None  # The best evaluation; the weights are those that it was measured with.


@dataclass(frozen=True)
class Run(Generic[Batch]):
    """A run of one task."""

    net: nn.Module  # What is trained: parameters that require a gradient.
    batch: Callable[[int], Batch]  # The batch of a step, counted from 0; the same whenever it is asked for.
    loss: Callable[[nn.Module, Batch], torch.Tensor]  # A scalar.
    settings: Settings
    folder: Path  # A folder of this run alone; its checkpoint lies there, from which a killed run goes on.
    # Whatever else the weights depend on: digests of the data and of the base, settings of the task.
    origin: Mapping[str, Setting]
    evaluate: Callable[[nn.Module], float] | None = None  # Higher is better.
    describe: Callable[[Batch], str] = lambda batch: ""  # Names a batch in errors.

    @property
    def checkpoint(self) -> Path:
        """The file that a killed run goes on from."""
        return self.folder / "checkpoint.pt"

    @property
    def described(self) -> dict[str, Setting]:
        """All that the weights depend on, by name: settings of the run, data, base, settings of the task."""
        return {**asdict(self.settings), **self.origin}

    def train(self) -> Outcome:
        """Train from the checkpoint, if there is one, to the end; the net then holds the best weights.

        Raises:
            TrainingError: The checkpoint is of other settings or damaged, the device is missing, the loss is no number,
                or the disk is full.
        """
        net, settings = self.net, self.settings
        net.to(settings.device)
        trained = [p for p in net.parameters() if p.requires_grad]
        optimiser = torch.optim.AdamW(trained, lr=settings.rate, fused=True)
        state = self._resume(optimiser)
        begun, first = time.monotonic(), state.step
        while state.step < settings.steps:
            step = state.step
            for group in optimiser.param_groups:
                group["lr"] = settings.rate * min((step + 1) / max(1, settings.warm), 1 - step / settings.steps)
            # Neighbouring seeds would give related streams in some generators.
            torch.manual_seed(int(settings_digest([settings.seed, step])[:15], 16))
            net.train()
            batch = self.batch(step)
            loss = self.loss(net, batch)
            optimiser.zero_grad()
            self._check(loss, "loss", step, batch)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(trained, 1.0)
            self._check(norm, "gradient", step, batch)
            optimiser.step()
            state.losses = [*state.losses[1 - _LOGGED :], loss.item()]
            state.step += 1
            if state.step % _LOGGED == 0:
                rate = (state.step - first) / (time.monotonic() - begun)
                log.info("step=%d of=%d loss=%.4f steps_a_second=%.2f", state.step, settings.steps, state.loss, rate)
            if state.step % settings.every == 0 or state.step == settings.steps:
                self._measure(state)
                self._save(optimiser, state)
        if state.best_weights is not None:
            net.load_state_dict(state.best_weights, strict=False)
        net.eval()
        return Outcome(state.step, state.loss, state.best)

    def finish(self) -> None:
        """Delete the folder of the run, once its result is written."""
        shutil.rmtree(self.folder)

    def _check(self, value: torch.Tensor, what: str, step: int, batch: Batch) -> None:
        if not torch.isfinite(value).all():
            named = " ".join(self.describe(batch).split())[:_SHOWN]
            raise TrainingError(
                f"the {what} is {value.item()} at step {step + 1}, batch {step}{f' ({named})' if named else ''}: "
                f"lower --rate or leave these rows out; the last checkpoint is kept"
            )

    def _weights(self) -> dict[str, torch.Tensor]:
        """Copies of what is trained: frozen weights are the base's, which the fingerprint names."""
        frozen = {n for n, p in self.net.named_parameters(remove_duplicate=False) if not p.requires_grad}
        return {n: v.detach().cpu().clone() for n, v in self.net.state_dict().items() if n not in frozen}

    def _measure(self, state: _State) -> None:
        if self.evaluate is None:
            return
        self.net.eval()
        with torch.no_grad():
            figure = self.evaluate(self.net)
        log.info("step=%d evaluation=%.4f best=%s", state.step, figure, state.best)
        if state.best is None or figure > state.best:
            state.best, state.best_weights = figure, self._weights()

    def _resume(self, optimiser: torch.optim.Optimizer) -> _State:
        """The state of a killed run; a new one where there is no checkpoint."""
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep(self.folder)
        if not self.checkpoint.exists():
            return _State()
        again = f"use those, or delete {self.checkpoint} to begin anew"
        try:
            held = torch.load(self.checkpoint, map_location="cpu", weights_only=True)
            described: dict[str, Setting] = held["settings"]
        except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, TypeError, ValueError) as error:
            raise TrainingError(f"checkpoint {self.checkpoint} is damaged: delete it to begin anew") from error
        if described != self.described:
            names = sorted(described.keys() | self.described.keys())
            other = [n for n in names if described.get(n) != self.described.get(n)]
            now = ", ".join(f"{n} {described.get(n)} (now {self.described.get(n)})" for n in other)
            raise TrainingError(f"checkpoint {self.checkpoint} was made with other settings: {now}; {again}")
        try:
            if unknown := self.net.load_state_dict(held["weights"], strict=False).unexpected_keys:
                raise ValueError(f"unknown weights {unknown[:3]}")
            optimiser.load_state_dict(held["optimiser"])
        except (RuntimeError, ValueError) as error:
            raise TrainingError(f"checkpoint {self.checkpoint} is of another model: {again}") from error
        state = _State(**held["state"])
        log.info("resumed=%s step=%d", self.checkpoint, state.step)
        return state

    def _save(self, optimiser: torch.optim.Optimizer, state: _State) -> None:
        """Write a checkpoint, whole or not at all."""
        held = {
            "settings": self.described,
            "weights": self._weights(),
            "optimiser": optimiser.state_dict(),
            "state": vars(state),
        }

        def write(path: Path) -> None:
            # PyTorch hides the number of an error of a file that it opens itself.
            with path.open("wb") as file:
                torch.save(held, file)

        try:
            write_whole(self.checkpoint, write)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            kept = "the one before it is kept" if self.checkpoint.exists() else "there is none before it"
            raise TrainingError(
                f"no space for checkpoint {self.checkpoint} after step {state.step}; {kept}: "
                "make room and run the same command again"
            ) from error


@dataclass
class _State:
    """Where a run stands, beside its weights."""

    step: int = 0  # Steps done.
    losses: list[float] = field(default_factory=list)  # The last ones.
    best: float | None = None
    best_weights: dict[str, torch.Tensor] | None = None

    @property
    def loss(self) -> float:
        return sum(self.losses) / len(self.losses)


@dataclass(frozen=True)
class Card:
    """A model card."""

    title: str  # What the model is.
    task: str  # What it does, in a sentence.
    base: str  # The model that it was trained from, with its licence.
    data: Sequence[tuple[str, str, int]]  # Each source of training data, its licence, and its rows.
    figures: Mapping[str, float]
    settings: Mapping[str, Setting]
    command: str  # Makes the model again.
    tags: Mapping[str, str]  # Metadata that Hugging Face reads, such as `pipeline_tag`.


def training_folder(out: Path) -> Path:
    """The folder beside a result in which its run lies until it is written."""
    return out.with_name(f"{out.name}.training")


def weights_digest(folder: Path) -> str:
    """SHA-256 of the weights in a folder of Hugging Face."""
    digest = sha256()
    for file in sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def check_out(out: Path) -> None:
    """See, before a run begins, that its result may take the place of what is at `out`.

    Raises:
        TrainingError: That is neither empty nor what an earlier run wrote.
    """
    card = out / "README.md"
    if out.exists() and not (
        out.is_dir() and (not any(out.iterdir()) or (card.exists() and _AGAIN in card.read_text("utf-8")))
    ):
        raise TrainingError(f"--out {out} holds something else than the result of a training: name a new folder")


def write_result(out: Path, save: Callable[[Path], None], card: Card) -> str:
    """Let `save` fill a folder, add the model card, and put it at `out` in place of what an earlier run left there.

    Returns the SHA-256 of the weights.

    Raises:
        TrainingError: `out` holds something else than a model.
    """
    check_out(out)
    new, old = (out.with_name(f".{out.name}.{end}") for end in ("new", "old"))
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir(parents=True)
    save(new)
    digest = weights_digest(new)
    tags = "\n".join(f"{name}: {value}" for name, value in card.tags.items())
    data = "\n".join(f"| {name} | {licence} | {rows:,} |" for name, licence, rows in card.data)
    figures = "\n".join(f"| {name} | {value:.4g} |" for name, value in card.figures.items())
    settings = "\n".join(f"| {name} | {value} |" for name, value in card.settings.items())
    (new / "README.md").write_text(
        (
            f"---\n{tags}\n---\n\n# {card.title}\n\n{card.task}\n\n"
            f"Base: {card.base}\n\nSHA-256 of the weights: `{digest}`\n\n"
            f"## Data\n\n| source | licence | rows |\n|---|---|---|\n{data}\n\n"
            f"## Figures\n\n| figure | value |\n|---|---|\n{figures}\n\n"
            f"## Settings\n\n| setting | value |\n|---|---|\n{settings}\n\n"
            f"{_AGAIN}\n\n```sh\n{card.command}\n```\n"
        ),
        "utf-8",
    )
    for file in new.iterdir():
        file.chmod(0o644)  # Libraries write weights for their owner alone.
    if out.exists():
        out.rename(old)
    new.rename(out)
    shutil.rmtree(old, ignore_errors=True)
    return digest
