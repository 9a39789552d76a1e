"""Neighbours by PyTorch are those of a full search by the processor, list for list; on a GPU where there is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quern.jobs.core.work import EngineError
from quern.jobs.graph.link import Link
from quern.jobs.graph.neighbours import gpu
from quern.jobs.graph.neighbours.plan import Plan
from quern.jobs.graph.neighbours.ranking import vector_prints
from quern.jobs.graph.neighbours.search import change, find_neighbours
from quern.schemas.settings import LinkSettings, NeighbourSettings
from tests.jobs.graph.neighbours.test_change import first, vectors

pytestmark = pytest.mark.torch


def a_device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize(("rows", "coarse"), [(700, False), (700, True), (5, False), (2, False), (1, False)])
def test_lists_are_those_of_the_processor(rows: int, coarse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Blocks so small that lists are merged from several; coarse vectors have more equals than are nominated at first.
    monkeypatch.setattr(gpu, "_ROWS", 64)
    monkeypatch.setattr(gpu, "_COLUMNS", 100)
    made = vectors(rows, 6, 3, coarse)
    plan = Plan(k=5)
    expected = find_neighbours(made, vector_prints(made), plan).lists
    lists = gpu.exact_neighbours(made, plan.depth, a_device())
    assert lists.positions.tolist() == expected.positions.tolist()
    assert lists.scores.tolist() == expected.scores.tolist()


def test_a_night_on_a_gpu_ends_with_those_of_a_full_search(monkeypatch: pytest.MonkeyPatch) -> None:
    found = gpu.exact_neighbours
    monkeypatch.setattr(
        "quern.jobs.graph.neighbours.search.exact_neighbours", lambda v, k, _, t: found(v, k, a_device(), t)
    )
    made = vectors(300, 8, 4)
    plan = Plan(k=5, exact_below=100, device="cuda")
    before = find_neighbours(made[:250], vector_prints(made[:250]), plan)
    tonight = made[20:]
    after = change(before, tonight, vector_prints(tonight), plan)
    exact = find_neighbours(tonight, vector_prints(tonight), replace(plan, device="cpu", exact_below=10**6))
    assert first(after, 5) == first(exact, 5)


def test_a_gpu_that_is_not_there_is_told_before_the_build() -> None:
    if a_device() == "cuda":
        pytest.skip("there is one")
    with pytest.raises(EngineError, match=r"neighbours\.device=cuda: this machine has no GPU"):
        Link(LinkSettings(), NeighbourSettings(device="cuda")).prepare()


def test_a_product_is_off_by_less_than_is_allowed_for() -> None:
    import torch

    made = vectors(2000, 384, 5)
    products = (torch.from_numpy(made).to(a_device()) @ torch.from_numpy(made).to(a_device()).T).cpu().numpy()
    exact = made.astype(np.float64) @ made.astype(np.float64).T
    assert np.abs(products - exact).max() < gpu._ERROR / 10
