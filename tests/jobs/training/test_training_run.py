"""The training loop: a killed run ends with the weights of one that was not, and faults are told in a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional

from quern.jobs.training.run import Card, Run, Settings, TrainingError, write_result
from tests.disks import small_disk

pytestmark = pytest.mark.torch

STEPS, EVERY = 60, 4


class Tiny(nn.Module):  # type: ignore[misc]
    """Dropout, so that a step draws from the random generator."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.body = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, 1))
        self.frozen = nn.Parameter(torch.ones(1), requires_grad=False)

    def forward(self, x: Any) -> Any:
        return self.body(x)[:, 0] * self.frozen


def batch(step: int) -> Any:
    x = torch.randn(16, 8, generator=torch.Generator().manual_seed(step))
    return x, x[:, 0] - 2 * x[:, 3]


def loss(net: Any, of: Any) -> Any:
    return functional.mse_loss(net(of[0]), of[1])


def tiny_run(folder: Path, net: Any = None, **more: Any) -> Run[Any]:
    settings = Settings(**{"steps": STEPS, "rate": 0.01, "warm": 3, "every": EVERY} | more.pop("settings", {}))
    given: dict[str, Any] = {"origin": {"data": "a"}, "batch": batch, "loss": loss} | more
    return Run(net or Tiny(), settings=settings, folder=folder / "run", **given)


def evaluate(net: Any) -> float:
    return -loss(net, batch(10_000)).item()


def main(folder: str) -> None:
    """A run in a process of its own, slow enough to be killed within a step, an evaluation or a checkpoint."""
    torch.set_num_threads(1)

    def slow(step: int) -> Any:
        time.sleep(0.02)
        return batch(step)

    run = tiny_run(Path(folder), batch=slow, evaluate=evaluate)
    outcome = run.train()
    torch.save({"net": run.net.state_dict(), "outcome": vars(outcome)}, Path(folder) / "end.pt")


def start(folder: Path) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p or str(Path.cwd()) for p in sys.path)}
    code = f"from tests.jobs.training.test_training_run import main; main({str(folder)!r})"
    return subprocess.Popen([sys.executable, "-c", code], env=environment)


@pytest.mark.slow
def test_a_run_killed_at_five_moments_ends_with_the_weights_of_an_uninterrupted_one(tmp_path: Path) -> None:
    assert start(tmp_path / "whole").wait() == 0
    whole = torch.load(tmp_path / "whole" / "end.pt", weights_only=True)
    killed, checkpoint = tmp_path / "killed", tmp_path / "killed" / "run" / "checkpoint.pt"
    for moment in range(5):
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        process = start(killed)
        # Some time after the next checkpoint: within a step, another one in each round.
        while process.poll() is None and (not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before):
            time.sleep(0.001)
        time.sleep(0.013 * moment)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert start(killed).wait() == 0
    resumed = torch.load(killed / "end.pt", weights_only=True)
    assert resumed["outcome"] == whole["outcome"]
    assert all(torch.equal(resumed["net"][name], values) for name, values in whole["net"].items())


def test_the_best_weights_are_kept_and_a_run_that_ended_stays_so(tmp_path: Path) -> None:
    figures = iter([0.1, 0.5, *[0.4] * (STEPS // EVERY - 2)])
    weights: list[Any] = []

    def falling(net: Any) -> float:
        weights.append({n: v.clone() for n, v in net.state_dict().items()})
        return next(figures)

    run = tiny_run(tmp_path, evaluate=falling)
    outcome = run.train()
    assert (outcome.steps, outcome.best) == (STEPS, 0.5)
    again = tiny_run(tmp_path, evaluate=falling)
    assert again.train() == outcome
    for net in (run.net, again.net):
        assert all(torch.equal(v, weights[1][n]) for n, v in net.state_dict().items())


def test_the_loss_falls_and_frozen_weights_stay(tmp_path: Path) -> None:
    run = tiny_run(tmp_path)
    before = evaluate(run.net.eval())
    run.train()
    assert evaluate(run.net) > before + 1.0
    assert run.net.frozen.item() == 1.0
    run.finish()
    assert not run.folder.exists()


def test_a_loss_that_is_no_number_names_step_and_batch(tmp_path: Path) -> None:
    def broken(net: Any, of: Any) -> Any:
        return loss(net, of) * (float("nan") if torch.equal(of[0], batch(6)[0]) else 1.0)

    with pytest.raises(TrainingError, match=r"the loss is nan at step 7, batch 6 \(row-6\)"):
        tiny_run(tmp_path, loss=broken, describe=lambda of: "row-6").train()
    held = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)
    assert held["state"]["step"] == EVERY


def test_a_gradient_that_is_no_number_changes_no_weights(tmp_path: Path) -> None:
    run = tiny_run(tmp_path, loss=lambda net, of: torch.sqrt(net(of[0]) * 0.0).sum())
    before = {n: v.clone() for n, v in run.net.state_dict().items()}
    with pytest.raises(TrainingError, match="the gradient is nan at step 1, batch 0"):
        run.train()
    assert all(torch.equal(v, before[n]) for n, v in run.net.state_dict().items())


def test_a_checkpoint_of_other_settings_another_model_or_damage_is_refused(tmp_path: Path) -> None:
    tiny_run(tmp_path).train()
    with pytest.raises(TrainingError, match=r"made with other settings: data a \(now b\), rate 0.01 \(now 0.1\)"):
        tiny_run(tmp_path, origin={"data": "b"}, settings={"rate": 0.1}).train()
    with pytest.raises(TrainingError, match="is of another model"):
        tiny_run(tmp_path, Tiny(width=5)).train()
    (tmp_path / "run" / "checkpoint.pt").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(TrainingError, match="is damaged: delete it"):
        tiny_run(tmp_path).train()


def test_a_full_disk_at_a_checkpoint_keeps_the_one_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save = Run._save
    with small_disk(tmp_path / "disk", 1024) as disk:

        def save_and_fill(self: Run[Any], *rest: Any) -> None:
            save(self, *rest)
            disk.fill()

        monkeypatch.setattr(Run, "_save", save_and_fill)
        run = tiny_run(disk.path, Tiny(2000))
        with pytest.raises(TrainingError, match=f"after step {2 * EVERY}; the one before it is kept: make room"):
            run.train()
        assert [p.name for p in run.folder.iterdir()] == ["checkpoint.pt"]
        monkeypatch.undo()
        disk.empty()
        resumed, whole = tiny_run(disk.path, Tiny(2000)), tiny_run(tmp_path / "whole", Tiny(2000))
        assert resumed.train() == whole.train()


def test_a_result_is_a_folder_with_a_model_card(tmp_path: Path) -> None:
    def save(folder: Path) -> None:
        (folder / "config.json").write_text("{}", "utf-8")
        (folder / "model.safetensors").write_bytes(b"weights")

    card = Card(
        title="Reranker",
        task="Scores pairs.",
        base="MiniLM (Apache-2.0)",
        data=[("fairytaleqa", "Apache-2.0", 1200)],
        figures={"loss": 0.25},
        settings={"steps": 3},
        command="quern train reranker -w WH",
        tags={"license": "apache-2.0"},
    )
    for _ in range(2):
        digest = write_result(tmp_path / "out", save, card)
    text = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert digest == sha256(b"weights").hexdigest()
    assert all(part in text for part in (digest, "| fairytaleqa | Apache-2.0 | 1,200 |", "quern train reranker -w WH"))
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "diary.txt").write_text("mine", "utf-8")
    (tmp_path / "notes" / "config.json").write_text("{}", "utf-8")
    with pytest.raises(TrainingError, match="holds something else than the result of a training"):
        write_result(tmp_path / "notes", save, card)
    assert (tmp_path / "notes" / "diary.txt").read_text("utf-8") == "mine"
