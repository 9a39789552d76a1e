"""Training of the reranker: its loss, its batches, and that it learns to rank what it was not trained on."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from quern.jobs.models.cross_encoder import CrossEncoder, OpenVinoCrossEncoder, TorchCrossEncoder
from quern.jobs.training.pairs import Group
from quern.jobs.training.reranker import MINIMUM, Batches, Shape, info_nce, train
from quern.jobs.training.run import Settings, TrainingError
from quern.schemas.settings import RerankSettings
from tests.tiny_models import write_tiny_cross_encoder

pytestmark = pytest.mark.torch

# Whether a text answers is told by one word: what a tiny model of random weights can learn in seconds.
GROUPS = [
    Group(f"Where is ship {n}?", [f"Ship {n} lies in the harbour."], [f"Ship {n} costs {k} crowns." for k in range(4)])
    for n in range(MINIMUM + 40)
]
SHAPE = Shape(questions=8, hard=2, shared=1, max_tokens=32, layers=2)


def test_the_loss_is_that_of_the_formula() -> None:
    scores = torch.tensor([[2.0, 1.0, -1.0], [0.5, 0.5, 9.0]])
    present = torch.tensor([[True, True, True], [True, True, False]])
    first = -math.log(math.exp(2) / (math.exp(2) + math.exp(1) + math.exp(-1)))
    assert info_nce(scores, present).item() == pytest.approx((first + math.log(2)) / 2)


def test_a_batch_is_the_same_whenever_it_is_drawn_and_an_epoch_has_every_question_once() -> None:
    batches = Batches(GROUPS[:40], SHAPE, seed=3)
    drawn = [batches(step) for step in range(5)]
    assert [Batches(GROUPS[:40], SHAPE, seed=3)(step) for step in (4, 2)] == [drawn[4], drawn[2]]
    assert sorted(q for lists in drawn for q in lists.questions) == sorted(g.question for g in GROUPS[:40])
    assert all(len(texts) == 4 and "harbour" in texts[0] for lists in drawn for texts in lists.texts)


def test_questions_without_negatives_of_their_own_take_positives_of_others() -> None:
    lists = Batches([Group(g.question, g.positives) for g in GROUPS[:8]], SHAPE, seed=0)(0)
    assert all(len(texts) == 4 and len(set(texts)) == 4 for texts in lists.texts)


def test_training_ranks_held_out_questions_better_and_the_folder_loads_everywhere(tmp_path: Path) -> None:
    base, out = write_tiny_cross_encoder(tmp_path / "base"), tmp_path / "reranker"
    settings = Settings(steps=100, rate=3e-3, warm=5, every=25)
    # Positives of other questions differ by a number alone, which so small a model does not learn.
    shape = replace(SHAPE, hard=3, shared=0)
    figures = train(GROUPS, out, settings, shape, str(base), [("ships", "CC0", 1)], "quern train reranker")
    assert figures["loss"] < 0.7 * math.log(4)
    assert figures["MRR of development questions"] > figures["MRR of development questions before"] + 0.2
    assert {"README.md", "config.json", "model.safetensors", "tokenizer.json"} <= {p.name for p in out.iterdir()}
    assert not (tmp_path / "reranker.training").exists()
    questions, texts = ["Where is ship 9?"] * 2, ["Ship 9 lies in the harbour.", "Ship 9 costs 3 crowns."]
    chosen = RerankSettings(model=str(out))
    ours, theirs = CrossEncoder.load(chosen), TorchCrossEncoder(out, chosen)
    assert isinstance(ours, OpenVinoCrossEncoder)
    scores = ours.scores(questions, texts)
    assert scores[0] > scores[1]
    assert scores.tolist() == pytest.approx(theirs.scores(questions, texts).tolist(), abs=1e-5)
    sentence_transformers = pytest.importorskip("sentence_transformers")
    peers = sentence_transformers.CrossEncoder(str(out), device="cpu").predict(list(zip(questions, texts, strict=True)))
    assert scores.tolist() == pytest.approx(peers.tolist(), abs=1e-5)
    flag = pytest.importorskip("FlagEmbedding").FlagReranker(str(out), use_fp16=False, devices=["cpu"])
    by_flag = flag.compute_score(
        [[question, text] for question, text in zip(questions, texts, strict=True)], normalize=True
    )
    assert scores.tolist() == pytest.approx(by_flag, abs=1e-5)


def test_layers_that_the_base_lacks_are_refused(tmp_path: Path) -> None:
    base = write_tiny_cross_encoder(tmp_path / "tiny")
    with pytest.raises(TrainingError, match=r"--layers 3: --base .*tiny has 2"):
        train(GROUPS, tmp_path / "out", Settings(1, 1e-3), replace(SHAPE, layers=3), str(base), [], "")


def test_a_base_of_another_kind_is_refused(tmp_path: Path) -> None:
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    folder = tmp_path / "llama"
    LlamaForCausalLM(
        LlamaConfig(vocab_size=99, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2)
    ).save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(write_tiny_cross_encoder(tmp_path / "tiny"))
    tokenizer.cls_token = None
    tokenizer.save_pretrained(folder)
    for base in (folder, tmp_path):
        with pytest.raises(TrainingError, match=f"--base {base} is no encoder"):
            train(GROUPS, tmp_path / "out", Settings(1, 1e-3), SHAPE, str(base), [], "")
