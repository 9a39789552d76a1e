"""Training of late interaction: it learns, the same twice, and writes what is read."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from quern.jobs.models.bert import token_embeddings
from quern.jobs.models.folders import DEFAULT_MODEL, read_model
from quern.jobs.models.late_interaction import WEIGHT, LateInteraction
from quern.jobs.training.late_interaction import Example, Examples, Net, Training
from tests.jobs.training.test_training_pages import PAGES

pytestmark = pytest.mark.torch


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "ferries-01.txt"
    path.write_text(PAGES, "utf-8")
    return path


def test_steps_lower_the_loss_and_a_run_is_the_same_twice(pages: Path, tmp_path: Path) -> None:
    first = Training([pages], tmp_path / "a.safetensors", 1).run()
    more = Training([pages], tmp_path / "b.safetensors", 15).run()
    again = Training([pages], tmp_path / "c.safetensors", 15).run()
    assert more["loss"] < first["loss"]
    assert more == again
    assert (tmp_path / "b.safetensors").read_bytes() == (tmp_path / "c.safetensors").read_bytes()


def test_the_weights_score_as_the_net_that_was_trained(pages: Path, tmp_path: Path) -> None:
    Training([pages], tmp_path / "a.safetensors", 3).run()
    model, texts = (
        LateInteraction(tmp_path / "a.safetensors"),
        ["The fare is 4 crowns.", "Dogs!", "It was 3 crowns before."],
    )
    question, before = "What is the fare?", [-1, 0, 1]
    split = Examples([])._ids
    example = Example(split(question), [split(t) for t in texts], torch.tensor(before), torch.zeros(3), torch.zeros(3))
    net = Net(token_embeddings(read_model(DEFAULT_MODEL)))
    for name, trained in (("question", net.question), ("line", net.line), ("bias", net.bias)):
        trained.data.copy_(torch.from_numpy(model._weights[name]))
    net.weight.data.copy_(torch.from_numpy(model._weights["weight"]) / 10.0)
    net.before.data.copy_(torch.logit(torch.from_numpy(model._weights["before"])))
    (expected,) = net([example])
    scores = torch.tensor(model.scores(question, model.lines(texts, before))) * WEIGHT
    assert torch.allclose(scores.float(), expected.detach(), atol=0.02)
