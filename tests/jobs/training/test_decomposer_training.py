"""Training of the decomposer: the forms of its data, the formulas of GRPO, and runs of a tiny model to the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")
pytest.importorskip("peft")

import torch

from quern.jobs.training.decomposer import (
    GroupSettings,
    advantages,
    batches,
    decompose,
    group_loss,
    merged,
    reused,
    train_by_reward,
    train_supervised,
)
from quern.jobs.training.graphs import Graph, edge_f1, graph_of, measures
from quern.jobs.training.language_model import LanguageModel, Request, completion_loss
from quern.jobs.training.run import Settings, TrainingError
from tests.tiny_models import write_tiny_llama

pytestmark = pytest.mark.torch

CHAIN = {"question": "Who founded the mill's owner?", "sub_questions": ["Who owns the mill?", "Who founded #1?"]}


def test_each_form_of_data_gives_its_graph() -> None:
    own = graph_of(CHAIN | {"parent_child": [[1, 2]], "answer": "Ada"})
    assert [s.parents for s in own.sub_questions] == [(), (1,)]
    assert own.decomposition.parent_child[0].child == 2
    strategyqa = graph_of(CHAIN | {"answer": True, "facts": ["Ada founded it."]})
    assert strategyqa.answer == "Yes. Ada founded it."
    whole = graph_of(
        {"question": "Old mills?", "steps": ["mills", "#1 that are old"], "operators": "['select', 'filter']"}
    )
    assert (whole.sub_questions, whole.steps, whole.fault) == ((), 1, None)
    mixed = {"question": "q", "steps": ["a", "b of #1", "#2 that is c"], "operators": "['select', 'project', 'filter']"}
    assert graph_of(mixed).fault == "looks nothing up"
    parts = [{"id": "x", "question": "Who?", "depends_on": []}, {"id": "y", "question": "When?", "depends_on": ["x"]}]
    assert [s.parents for s in graph_of({"question": "q", "decomposition": parts}).sub_questions] == [(), (1,)]
    assert graph_of(CHAIN | {"sub_questions": ["Who founded #2?", "Who owns the mill?"]}).fault == "late parent"


def test_edges_are_compared_under_the_best_match_of_sub_questions() -> None:
    gold = graph_of(CHAIN)
    turned = graph_of(CHAIN | {"sub_questions": ["Who owns the mill?", "Where is it?", "Who founded #1?"]})
    assert edge_f1(measures([gold], [gold.plan])["edges"]) == 1.0
    assert edge_f1(measures([gold], [turned.plan])["edges"]) == 1.0
    assert measures([gold], [turned.plan])["within one"].all()
    assert edge_f1(measures([gold], [graph_of(CHAIN | {"sub_questions": []}).plan])["edges"]) == 0.0


def test_advantages_are_normalised_in_each_group_and_0_where_left_out() -> None:
    mask = torch.tensor([[True, True, True, False], [False, False, False, False]])
    result = advantages(torch.tensor([[1.0, 2.0, 3.0, 9.0], [1.0, 2.0, 3.0, 4.0]]), mask)
    assert result[0].tolist() == pytest.approx([-1.2247, 0.0, 1.2247, 0.0], abs=1e-3)
    assert (result[1] == 0).all()


@given(st.integers(0, 2**32))
def test_the_loss_is_that_of_its_formula(seed: int) -> None:
    dice = torch.Generator().manual_seed(seed)
    new, old, first = (-torch.rand(3, 4, generator=dice) for _ in range(3))
    mask = torch.arange(4) < torch.randint(1, 5, (3, 1), generator=dice)
    advantage = torch.randn(3, generator=dice)
    total = 0.0
    for n in range(3):
        terms = []
        for t in range(int(mask[n].sum())):
            ratio, gap = float((new[n, t] - old[n, t]).exp()), float(first[n, t] - new[n, t])
            a = float(advantage[n])
            terms.append(0.1 * (np.exp(gap) - gap - 1) - min(ratio * a, min(max(ratio, 0.8), 1.2) * a))
        total += sum(terms) / len(terms) / 3
    assert group_loss(new, old, first, mask, advantage, clip=0.2, beta=0.1).item() == pytest.approx(total, abs=1e-5)


def test_a_ratio_beyond_the_clip_and_a_graph_that_was_cut_off_get_no_gradient() -> None:
    new = torch.tensor([[-0.1, -0.1], [-1.0, -1.0], [-1.0, -1.0]], requires_grad=True)
    old = torch.full((3, 2), -1.0)
    mask = torch.tensor([[True, True], [True, True], [False, False]])
    group_loss(new, old, new.detach(), mask, torch.ones(3), clip=0.2, beta=0.0).backward()
    assert new.grad is not None
    assert (new.grad[0] == 0).all()
    assert (new.grad[1] < 0).all()
    assert (new.grad[2] == 0).all()


def test_evidence_is_used_again_above_the_similarity_alone() -> None:
    asked: list[str] = []

    def retrieve(texts: Sequence[str]) -> list[list[str]]:
        asked.extend(texts)
        return [[f"passage of {text}"] for text in texts]

    vectors = np.array([[1.0, 0.0], [0.96, 0.28], [0.94, 0.341]])
    evidence = reused(["a", "b", "c"], vectors, retrieve, 0.95)
    assert asked == ["a", "c"]
    assert evidence["b"] == ["passage of a"]
    assert merged([["x", "y"], ["x", "z"]], 2) == ["x", "y"]


def graphs() -> list[Graph]:
    """Questions of two forms that a tiny model can learn to tell apart."""
    rows = [{"question": f"Who made {n}?", "sub_questions": [], "answer": "rye"} for n in range(60)]
    rows += [
        {"question": f"Rye {n} find", "sub_questions": [f"rye {n}", f"find {n} #1"], "answer": "rye"} for n in range(60)
    ]
    return [graph_of(row) for row in rows]


def request(tmp_path: Path, out: str, base: Path, **changed: Any) -> Request:
    settings = Settings(**{"steps": 12, "rate": 2e-3, "warm": 2, "every": 6} | changed)
    return Request(tmp_path / out, str(base), settings, 8, 8, 6, "quern train decomposer graphs.jsonl")


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decomposer")
    # Adapters teach a model of random weights little: all weights are trained first, until it writes such graphs.
    model = LanguageModel(str(write_tiny_llama(folder / "tiny")), 8, 0)
    optimiser = torch.optim.AdamW(model.net.requires_grad_(requires_grad=True).parameters(), lr=3e-3)
    batch = batches(model, graphs(), 8, 0)
    for step in range(40):
        optimiser.zero_grad()
        loss = completion_loss(model.net, batch(step))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.net.parameters(), 1.0)
        optimiser.step()
    model.save(folder / "base")
    figures = train_supervised(graphs(), request(folder, "taught", folder / "base"))
    assert figures["loss"] < loss.item()
    return folder / "taught"


def test_a_taught_model_takes_questions_apart_and_its_card_says_how_it_was_made(taught: Path) -> None:
    plans, reasons = decompose(LanguageModel(str(taught), 1, 0), ["Who made 7?"])
    assert not plans[0].is_complex
    assert not reasons
    card = (taught / "README.md").read_text()
    assert "quern train decomposer graphs.jsonl" in card
    assert "held-out, edge F1" in card


def passages(texts: Sequence[str]) -> list[list[str]]:
    return [[f"{text} The mill grinds rye."] for text in texts]


def embed(texts: Sequence[str]) -> Any:
    return np.eye(len(texts))


def by_reward(
    of: Request, judge: Path, retrieve: Any = passages, learnt: list[Graph] | None = None
) -> dict[str, float]:
    settings = GroupSettings(group=3, questions=2, temperature=1.5, floor=-30.0)
    return train_by_reward(learnt or graphs(), of, str(judge), [retrieve], embed, settings, "a test")


def test_a_run_by_reward_that_was_interrupted_ends_with_the_same_weights(taught: Path, tmp_path: Path) -> None:
    few = {"steps": 6, "rate": 1e-3, "warm": 1, "every": 1}  # Raised to 2, the steps that use the same samples.
    figures = by_reward(request(tmp_path, "whole", taught, **few), taught)
    calls = 0

    def failing(texts: Sequence[str]) -> list[list[str]]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return passages(texts)

    with pytest.raises(KeyboardInterrupt):
        by_reward(request(tmp_path, "resumed", taught, **few), taught, failing)
    assert (tmp_path / "resumed.training" / "checkpoint.pt").exists()
    assert by_reward(request(tmp_path, "resumed", taught, **few), taught) == figures
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "resumed")]
    assert weights[0] == weights[1]
    assert weights[0] != (taught / "model.safetensors").read_bytes()


def test_too_few_answers_are_refused_with_the_number_needed(taught: Path, tmp_path: Path) -> None:
    bare = [graph_of({"question": f"Who made {n}?", "sub_questions": []}) for n in range(40)]
    with pytest.raises(TrainingError, match="0 questions with an `answer` to learn from: 2 are needed"):
        by_reward(request(tmp_path, "none", taught), taught, learnt=bare)
