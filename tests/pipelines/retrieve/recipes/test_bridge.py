"""Bridges to the documents that a question's best documents name."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from quern.indexes.graph import Documents, Keyed, QueryGraph
from quern.indexes.lexical import Scored, in_order
from quern.pipelines.retrieve.ranking import Reached
from quern.pipelines.retrieve.recipes.bridge import Crossed, crossed, lifted, with_edges

# Four documents of a chunk each, the last of two; a node per chunk.
OWNER = np.array([0, 1, 2, 3, 4])
OF_CHUNK = np.array([0, 1, 2, 3, 3])
# Questions that are equally near to all nodes.
ALIKE = np.full((2, 5), 5**-0.5, dtype=np.float32)


def graph(*mentions: tuple[int, int, float]) -> QueryGraph:
    drawn = QueryGraph.__new__(QueryGraph)
    vectors = np.eye(5, dtype=np.float32)
    drawn.__dict__["nodes"] = Keyed(pa.array([f"n{i}" for i in range(5)]), vectors, OWNER)
    drawn.__dict__["chunks"] = Keyed(pa.array([f"c{i}" for i in range(5)]), vectors, np.arange(5))
    drawn.__dict__["documents"] = Documents(pa.array([f"d{i}" for i in range(4)]), OF_CHUNK)
    source, target, weight = zip(*mentions, strict=True) if mentions else ((), (), ())
    drawn.__dict__["mentions"] = sparse.csr_array(
        (np.array(weight, np.float32), (np.array(source, int), np.array(target, int))), shape=(5, 5)
    )
    return drawn


def scores(*rows: tuple[int, int, float]) -> Scored:
    question, chunk, score = zip(*rows, strict=True)
    return in_order(np.array(question), np.array(chunk), np.array(score, np.float32))


def followed_in(found: Scored, questions: int, drawn: QueryGraph) -> Crossed:
    return crossed(found, ALIKE[:questions], drawn, drawn.mentions)


def as_dict(found: Scored) -> dict[tuple[int, int], float]:
    return {(int(q), int(c)): float(s) for q, c, s in zip(found.question, found.chunk, found.score, strict=True)}


def test_the_document_named_by_the_best_one_is_lifted_with_all_its_chunks() -> None:
    drawn = graph((0, 3, 0.8), (1, 2, 0.8))
    found = scores((0, 0, 0.9), (0, 1, 0.2), (0, 3, 0.3), (0, 4, 0.4))
    lift = as_dict(lifted(found, followed_in(found, 1, drawn), 0.5, 1, drawn))
    assert lift[0, 3] == pytest.approx(0.3 + 0.5 * 0.8, abs=1e-5)
    assert lift[0, 4] == pytest.approx(0.4 + 0.5 * 0.8, abs=1e-5)
    assert lift[0, 0] == pytest.approx(0.9)


def test_what_is_named_does_not_get_above_what_names_it() -> None:
    drawn = graph((0, 2, 1.0), (0, 3, 0.9))
    found = scores((0, 0, 0.9), (0, 2, 0.8), (0, 3, 0.8), (0, 1, 0.85))
    lift = lifted(found, followed_in(found, 1, drawn), 0.5, 1, drawn)
    assert lift.chunk.tolist() == [0, 2, 3, 1]


def test_of_several_bridges_to_a_document_the_strongest_is_kept() -> None:
    found = scores((0, 0, 0.9), (0, 1, 0.9), (1, 1, 0.3))
    kept = followed_in(found, 2, graph((0, 3, 0.5), (1, 4, 0.7)))
    assert list(zip(kept.question.tolist(), kept.source.tolist(), kept.target.tolist(), strict=True)) == [
        (0, 1, 4),
        (1, 1, 4),
    ]


def test_the_path_has_both_ends_of_a_bridge_and_keeps_what_was_reached() -> None:
    drawn = graph((0, 3, 0.5))
    followed = followed_in(scores((0, 0, 0.9)), 1, drawn)
    reached = Reached(np.array([0]), np.array([3]), np.array([0], np.int32), np.array([0.5], np.float32))
    questions = np.array([[0.6, 0, 0, 0.8, 0]], np.float32)
    both = with_edges(reached, followed, questions, drawn.nodes.vectors)
    assert list(zip(both.node.tolist(), both.hop.tolist(), strict=True)) == [(0, 0), (3, 0)]
    assert both.similarity.tolist() == pytest.approx([0.6, 0.8])
