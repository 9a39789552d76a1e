"""Text-triplet alignment: each formula on small tensors, its data, and a run of a tiny model to the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")
pytest.importorskip("peft")

import torch

from quern.jobs.training.alignment import (
    AlignmentSettings,
    Fusion,
    answer_loss,
    policy_loss,
    read_cases,
    rewards,
    train_aligner,
)
from quern.jobs.training.language_model import Request
from quern.jobs.training.run import Settings
from tests.tiny_models import write_tiny_llama

pytestmark = pytest.mark.torch

SEEDS = st.integers(0, 2**32)


def test_a_weight_of_float32_is_neither_0_nor_1_and_weighs_the_two_losses() -> None:
    weight = Fusion(8)(torch.randn(3, 5, 8) * 1e4, torch.randn(3, 5, 8) * 1e4)
    assert ((weight > 0) & (weight < 1)).all()
    base, triplet = torch.tensor([[1.0, 2.0, 9.0]]), torch.tensor([[3.0, 4.0, 9.0]])
    loss = answer_loss(torch.tensor([[0.5, 0.0, 0.5]]), base, triplet, torch.tensor([[True, True, False]]))
    assert loss.item() == pytest.approx(3.0)


@given(SEEDS)
def test_a_reward_is_that_of_its_formula(seed: int) -> None:
    dice = torch.Generator().manual_seed(seed)
    base, triplet = torch.rand(2, 1, generator=dice), torch.rand(2, 4, generator=dice)
    length, mask = torch.randint(1, 90, (2, 4), generator=dice), torch.rand(2, 4, generator=dice) < 0.7
    result = rewards(base, triplet, length, mask, 0.01)
    for n in range(2):
        used = [k for k in range(4) if mask[n, k]]
        for k in range(4):
            expected = 0.0
            if k in used:
                gains = [float(base[n, 0] - triplet[n, j]) for j in used]
                mean = sum(float(length[n, j]) for j in used) / len(used)
                gain = float(base[n, 0] - triplet[n, k]) - sum(gains) / len(gains)
                expected = max(0.0, gain) + 0.01 * (mean - float(length[n, k]))
            assert result[n, k].item() == pytest.approx(expected, abs=1e-4)


def test_the_policy_is_drawn_to_what_is_rewarded_and_the_reward_gets_no_gradient() -> None:
    chance = torch.tensor([-1.0, -1.0, -1.0], requires_grad=True)
    reward = torch.tensor([0.5, -0.2, 9.0], requires_grad=True)
    policy_loss(reward, chance, torch.tensor([True, True, False])).backward()
    assert chance.grad is not None
    assert chance.grad.tolist() == pytest.approx([-0.25, 0.1, 0.0])
    assert reward.grad is None


def write_cases(path: Path, count: int = 24) -> Path:
    rows = [
        {
            "question": f"What does mill {n} grind?",
            "answer": "rye",
            "passages": [{"title": f"Mill {n}", "text": f"Mill {n} grinds rye."}],
            "triplets": [[{"sentence": 1, "subject": f"Mill {n}", "relation": "grinds", "object": "rye"}]],
        }
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def align(tmp_path: Path, out: str, file: Path, base: Path) -> dict[str, float]:
    settings = Settings(steps=4, rate=5e-3, warm=1, every=2)
    request = Request(tmp_path / out, str(base), settings, 2, 8, 2, "quern train aligner cases.jsonl")
    alignment = AlignmentSettings(samples=2, triplets=1, tokens=120, cold=4)
    return train_aligner(read_cases(file), file.name, request, alignment)


def test_a_run_that_was_interrupted_ends_with_the_same_weights_and_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, file = write_tiny_llama(tmp_path / "tiny"), write_cases(tmp_path / "cases.jsonl")
    figures = align(tmp_path, "whole", file, base)
    assert "held-out, likelier with triplets" in figures
    steps: list[Any] = []

    def interrupted(*given: Any) -> Any:
        steps.append(given)
        if len(steps) == 4:
            raise KeyboardInterrupt
        return policy_loss(*given)

    with monkeypatch.context() as patch:
        patch.setattr("quern.jobs.training.alignment.policy_loss", interrupted)
        with pytest.raises(KeyboardInterrupt):
            align(tmp_path, "resumed", file, base)
    assert (tmp_path / "resumed.training" / "checkpoint.pt").exists()
    assert align(tmp_path, "resumed", file, base) == figures
    whole, resumed = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "resumed"))
    assert whole == resumed
