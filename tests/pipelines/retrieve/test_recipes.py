from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from quern.indexes.graph import Keyed, QueryGraph
from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Floats
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.fusion import added, shares, weighted
from quern.pipelines.retrieve.ranking import Reached, chunk_scores
from quern.pipelines.retrieve.recipes import OWN, RECIPES, RecipeError, find_recipes
from quern.pipelines.retrieve.recipes.qcg import rank_qcg
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import Settings
from quern.schemas.settings.reading import load_settings


def scored(rows: list[tuple[int, int, float]]) -> Scored:
    question, chunk, score = zip(*rows, strict=True)
    return in_order(np.array(question), np.array(chunk), np.array(score, dtype=np.float32))


def by_question(found: Scored) -> dict[int, list[int]]:
    ranked: dict[int, list[int]] = {}
    for q, c in zip(found.question.tolist(), found.chunk.tolist(), strict=True):
        ranked.setdefault(q, []).append(c)
    return ranked


class SmallGraph(QueryGraph):
    """A graph that was drawn by hand: 3 chunks, 6 nodes, vectors in a plane."""

    def __init__(self, angles: list[float], owner: list[int], edges: list[tuple[int, int]]) -> None:
        vectors = np.array([[np.cos(a), np.sin(a)] for a in np.radians(angles)], dtype=np.float32)
        source, target = zip(*edges, strict=True)
        size = len(angles)
        self.__dict__["nodes"] = Keyed(pa.array([f"n{i}" for i in range(size)]), vectors, np.array(owner))
        self.__dict__["chunks"] = Keyed(pa.array(["c0", "c1", "c2"]), np.eye(3, 2, dtype=np.float32), np.arange(3))
        self.__dict__["edges"] = sparse.csr_array((np.ones(len(edges)), (source, target)), shape=(size, size))


@dataclass
class Asked(Batch):
    """Questions that are given as vectors."""

    def __init__(self, graph: QueryGraph, vectors: Floats, settings: Settings) -> None:
        searcher = Searcher.__new__(Searcher)
        searcher.graph, searcher.settings = graph, settings
        super().__init__(searcher, [""] * len(vectors))
        self.__dict__["vectors"] = vectors


GRAPH = SmallGraph([0, 10, 50, 55, 90, 120], [0, 0, 1, 1, 2, 2], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 4)])
EAST = np.array([[1.0, 0.0]], dtype=np.float32)


def qcg(*overrides: str, vectors: Floats = EAST) -> tuple[dict[int, list[int]], dict[tuple[int, int], int], Scored]:
    batch = Asked(GRAPH, vectors, load_settings(None, list(overrides)))
    ranking = rank_qcg(batch)
    assert ranking.reached is not None
    reached = ranking.reached
    hops = {(int(q), int(n)): int(h) for q, n, h in zip(reached.question, reached.node, reached.hop, strict=True)}
    return by_question(ranking.chunks), hops, ranking.chunks


@pytest.mark.parametrize(
    ("hops", "reached"),
    [(0, {0: 0}), (1, {0: 0, 1: 1}), (2, {0: 0, 1: 1, 2: 2}), (3, {0: 0, 1: 1, 2: 2, 3: 3})],
)
def test_nodes_are_widened_by_h_hops_along_edges(hops: int, reached: dict[int, int]) -> None:
    assert qcg("graph.n=1", f"graph.hops={hops}")[1] == {(0, n): h for n, h in reached.items()}


def test_a_node_keeps_the_first_hop_at_which_it_was_reached() -> None:
    assert qcg("graph.n=2", "graph.hops=2")[1] == {(0, 0): 0, (0, 1): 0, (0, 2): 1, (0, 3): 2}


def test_gamma_is_a_floor_of_cosine_plus_one() -> None:
    at_least = 1.0 + np.cos(np.radians(52))
    assert set(qcg("graph.n=6", "graph.hops=0", f"graph.gamma={at_least}")[1]) == {(0, 0), (0, 1), (0, 2)}


def test_a_chunk_scores_the_mean_of_its_reached_nodes() -> None:
    _, _, chunks = qcg("graph.n=4", "graph.hops=0", "graph.gamma=0")
    cosines = np.cos(np.radians([0, 10, 50, 55]))
    assert chunks.score.tolist() == pytest.approx([cosines[:2].mean(), cosines[2:].mean()], abs=1e-6)


def test_no_node_above_gamma_finds_nothing() -> None:
    ranked, hops, _ = qcg("graph.gamma=2", vectors=-EAST)
    assert (ranked, hops) == ({}, {})


def test_a_question_gets_the_same_whatever_it_is_asked_with() -> None:
    angles = np.radians([0, 30, 60, 90, 200])
    together = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    ranked = qcg("graph.n=3", vectors=together)[0]
    for n in range(5):
        assert qcg("graph.n=3", vectors=together[n : n + 1])[0].get(0) == ranked.get(n)


@pytest.mark.parametrize(("score", "expected"), [("mean", [0, 1]), ("sum", [1, 0]), ("max", [0, 1])])
def test_chunk_scores(score: str, expected: list[int]) -> None:
    similarity = np.array([0.9, 0.5, 0.5, 0.5], dtype=np.float32)
    reached = Reached(np.zeros(4, np.int64), np.arange(4), np.zeros(4, np.int32), similarity)
    assert chunk_scores(reached, np.array([0, 1, 1, 1]), 2, score).chunk.tolist() == expected


def test_a_sum_ranks_first_what_both_parts_rank_high() -> None:
    one = scored([(0, 0, 0.9), (0, 1, 0.8), (0, 2, 0.1)])
    other = scored([(0, 1, 30.0), (0, 2, 5.0), (0, 3, 1.0)])
    assert by_question(added([(one, 1.0), (other, 1.0)], 1, 4))[0][0] == 1


def test_a_part_with_weight_zero_changes_nothing() -> None:
    one, other = scored([(0, 0, 0.9), (0, 1, 0.8)]), scored([(0, 3, 9.0)])
    assert by_question(added([(one, 1.0), (other, 0.0)], 1, 4)) == {0: [0, 1]}


def test_a_sum_of_nothing_is_nothing() -> None:
    empty = Scored(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    assert len(added([(empty, 1.0)], 3, 4).chunk) == 0


def test_weights_add_chunk_and_document_and_what_was_not_found_gets_the_least() -> None:
    one = scored([(0, 0, 0.9), (0, 1, 0.5)])
    other = scored([(0, 2, 1.0), (0, 1, 0.4)])
    of_chunk = np.array([0, 0, 1])
    found = weighted([(one, 1.0), (other, 0.5)], 1, 3, of_chunk, lift=0.5)
    ranked = dict(zip(found.chunk.tolist(), found.score.tolist(), strict=True))
    assert ranked[0] == pytest.approx(0.9 + 0.5 * 0.4)
    assert ranked[1] == pytest.approx(0.5 * (0.5 + 0.9) + 0.5 * 0.4)
    assert ranked[2] == pytest.approx(0.5 + 0.5 * 1.0)


def test_shares_are_of_the_best_of_each_question() -> None:
    assert shares(scored([(0, 0, 8.0), (0, 1, 2.0), (2, 1, 5.0)]), 3).score.tolist() == [1.0, 0.25, 1.0]


@pytest.mark.long
def test_every_recipe_ranks_the_mini_web_and_most_find_what_is_asked(searcher: Searcher) -> None:
    batch = Batch(searcher, ["Who repaired the suspension bridge?", "", "听澜台在哪里？"])
    for recipe in (RECIPES[name] for name in OWN):
        ranking = recipe.rank(batch)
        found = ranking.chunks
        assert set(found.question.tolist()) <= {0, 1, 2}, recipe.name
        assert 0 in found.question, recipe.name
        pairs = list(zip(found.question.tolist(), found.chunk.tolist(), strict=True))
        assert len(pairs) == len(set(pairs)), recipe.name
        assert (np.diff(found.question) >= 0).all(), recipe.name


def test_an_unknown_recipe_names_the_known_ones() -> None:
    with pytest.raises(RecipeError, match="no recipe 'bm24'; did you mean bm25"):
        find_recipes("dense,bm24")
    assert [r.name for r in find_recipes("qcg,dense,qcg")] == ["qcg", "dense"]
