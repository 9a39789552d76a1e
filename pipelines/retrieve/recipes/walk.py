"""Personalised PageRank over the two-layer graph, for a batch of questions at once.

A walker starts at the nodes that match the question, in proportion to their similarity. From a node it goes to its
neighbours in proportion to their cosine, or to its chunk; from a chunk to one of its nodes. With the probability
1 - `DAMPING` it starts anew (Page et al. 1999; on passage graphs HippoRAG, arXiv 2405.14831, section 2.3).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from quern.indexes.graph import QueryGraph
from quern.indexes.lexical import Scored, in_order
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking, Reached
from quern.pipelines.retrieve.recipe import Recipe

DAMPING: Final = 0.5
# A fixed number, so that no walker depends on the others of its batch: what is left has half a chance each step, 1e-6.
_STEPS: Final = 20
# Questions that walk at a time: each holds two numbers for every node and chunk.
_QUESTIONS: Final = 64


def rank_walk(batch: Batch) -> Ranking:
    """Chunks by personalised PageRank from the nodes that the question matches."""
    matched = batch.widened(0)
    masks = None if batch.allowed is None else batch.allowed.masks[batch.allowed.of_question]
    return Ranking(walk(matched, len(batch), batch.graph, batch.settings.retrieve.depth, masks), matched)


def walk(
    matched: Reached, questions: int, graph: QueryGraph, depth: int, masks: npt.NDArray[np.bool_] | None = None
) -> Scored:
    """The `depth` chunks of each question where its walker is most often.

    Args:
        matched: The nodes that the questions match, all of hop 0.
        questions: Number of questions.
        graph: The graph.
        depth: Most chunks of a question.
        masks: Which chunks may be found for each question, shape (questions, chunks); by default all.
    """
    nodes = len(graph.nodes.keys)
    steps = transitions(graph)
    weight = np.maximum(matched.similarity.astype(np.float64), 1e-9)
    starts = sparse.csr_array((weight, (matched.question, matched.node)), shape=(questions, steps.shape[0]))
    found = []
    for first in range(0, questions, _QUESTIONS):
        block = starts[first : first + _QUESTIONS].toarray()
        total = block.sum(axis=1, keepdims=True)
        block /= np.where(total > 0, total, 1.0)
        visits = _visits(block, steps)[:, nodes:]
        found.append(_best(visits if masks is None else visits * masks[first : first + _QUESTIONS], first, depth))
    parts = found or [in_order(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))]
    return Scored(*(np.concatenate([getattr(p, f) for p in parts]) for f in ("question", "chunk", "score")))


def transitions(graph: QueryGraph) -> sparse.csr_array:
    """Probabilities of a step, nodes before chunks; each row sums to 1, or to 0 for a chunk without nodes."""
    nodes, chunks = len(graph.nodes.keys), len(graph.chunks.keys)
    belongs = sparse.csr_array((np.ones(nodes), (np.arange(nodes), graph.nodes.owner)), shape=(nodes, chunks))
    matrix = sparse.block_array([[graph.edges, belongs], [belongs.T, None]], format="csr")
    total = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)) @ matrix)


def _visits(start: npt.NDArray[np.float64], steps: sparse.csr_array) -> npt.NDArray[np.float64]:
    """How often each walker is where, shape (questions, nodes + chunks); one that cannot go on starts anew."""
    back = sparse.csr_array(steps.T)
    stuck = np.asarray(steps.sum(axis=1)).ravel() == 0
    at = start
    for _ in range(_STEPS):
        moved = np.asarray((back @ at.T).T)
        lost = at[:, stuck].sum(axis=1, keepdims=True)
        at = DAMPING * (moved + lost * start) + (1.0 - DAMPING) * start
    return at


def _best(visits: npt.NDArray[np.float64], first: int, depth: int) -> Scored:
    """The `depth` places of each question that are visited most, and those visited as often as the last of them."""
    least = np.partition(visits, -depth, axis=1)[:, -depth, None] if visits.shape[1] > depth else 0.0
    question, place = np.nonzero((visits >= least) & (visits > 0))
    return in_order(question + first, place, visits[question, place].astype(np.float32))


RECIPES: Final = (Recipe("walk", "Personalised PageRank over nodes and chunks.", rank_walk),)
