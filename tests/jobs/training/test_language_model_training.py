"""Language models as they are trained: prompts that share their beginning are read once, with the same result."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

import torch

from quern.jobs.training.language_model import Example, LanguageModel, batch_at, completion_loss, read
from quern.jobs.training.run import TrainingError
from tests.tiny_models import write_tiny_llama

pytestmark = pytest.mark.torch

SCHEMA = {"type": "object", "properties": {"word": {"type": "string", "maxLength": 8}}, "required": ["word"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("model"))


@pytest.fixture
def model(folder: Path) -> LanguageModel:
    model = LanguageModel(str(folder), 4, 0)
    # Adapters begin as zeros, which would hide a fault in them.
    for name, weights in model.net.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights, std=0.05)
    return model


def prompts(model: LanguageModel) -> list[list[int]]:
    beginning = "You write the questions under which readers will later find a passage. "
    texts = ("rye", "What does the mill grind?", "")
    return [model.chat([{"role": "user", "content": beginning * 2 + text}]) for text in texts]


def test_a_shared_beginning_changes_neither_log_probabilities_nor_gradients(model: LanguageModel) -> None:
    examples = [Example(p, p[40 : 44 + 3 * n]) for n, p in enumerate(prompts(model))]
    together = read(model.net, examples)
    loss = completion_loss(model.net, examples)
    loss.backward()
    gradients = {n: p.grad.clone() for n, p in model.net.named_parameters() if p.grad is not None}
    model.net.zero_grad()
    alone = [read(model.net, [example]) for example in examples]
    total = sum(len(e.completion) for e in examples)
    (-sum(reading.chances.sum() for reading in alone) / total).backward()
    for n, reading in enumerate(alone):
        many = len(examples[n].completion)
        assert torch.allclose(together.chances[n, :many], reading.chances[0], atol=1e-5)
        assert torch.allclose(together.hidden[n, :many], reading.hidden[0], atol=1e-4)
        assert not together.mask[n, many:].any()
    assert gradients
    for name, parameter in model.net.named_parameters():
        if parameter.grad is not None:
            assert torch.allclose(parameter.grad, gradients[name], atol=1e-5), name


def test_samples_of_a_batch_are_those_of_each_prompt_alone(model: LanguageModel) -> None:
    rows = model.sample(prompts(model), SCHEMA, most=40)
    for row, prompt in zip(rows, prompts(model), strict=True):
        assert row.tokens == model.sample([prompt], SCHEMA, most=40)[0].tokens
    drawn = model.sample([prompts(model)[0]] * 4, SCHEMA, most=40, temperature=1.0)
    assert len({tuple(row.tokens) for row in drawn}) > 1


def test_a_saved_folder_holds_the_adapted_model(model: LanguageModel, tmp_path: Path) -> None:
    example = Example(prompts(model)[0], prompts(model)[1][:9])
    expected = read(model.net, [example]).chances
    model.save(tmp_path / "saved")
    saved = LanguageModel(str(tmp_path / "saved"), 1, 0)
    assert torch.allclose(read(saved.net, [example]).chances, expected, atol=1e-4)


def test_an_epoch_has_each_example_at_most_once_and_epochs_differ() -> None:
    epochs = [[n for step in range(3) for n in batch_at(first + step, 10, 3, 7)] for first in (0, 3)]
    assert all(len(set(epoch)) == 9 for epoch in epochs)
    assert epochs[0] != epochs[1]


def test_a_folder_of_another_kind_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "vit"}')
    with pytest.raises(TrainingError, match="is no causal language model that can be trained"):
        LanguageModel(str(tmp_path), 4, 0)
