"""Bridges: from the best documents of a question over `mention` edges to the documents that these name.

A question of several hops is near the documents that it names, and not near those that they name in turn. One-round
similarity gains nothing from neighbours that are scored by similarity again: the bridge must be followed, and it counts
by its own rarity and by the evidence that it leaves from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse

from quern.indexes.graph import QueryGraph
from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Floats, Positions, pair_similarities
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking, Reached, cut, grouped
from quern.pipelines.retrieve.recipe import Recipe
from quern.pipelines.retrieve.recipes.hybrid import hybrid

# Documents of a question that bridges leave from, and how far behind the best one a document counts 1/e.
_DOCUMENTS: Final = 10
_DECAY: Final = 0.05


def rank_bridge(batch: Batch) -> Ranking:
    """`hybrid`, and the documents that its best documents name, over `mention` edges."""
    return _bridged(batch, batch.graph.mentions, batch.settings.retrieve.weight_mentions)


def rank_answer_bridge(batch: Batch) -> Ranking:
    """`hybrid`, and the documents whose questions are near the answers of its best documents' nodes.

    Over `answer_question` edges, which `link.answers` makes; where there are none it is `hybrid`.
    """
    return _bridged(batch, answer_weights(batch.graph), batch.settings.retrieve.weight_answers)


def answer_weights(graph: QueryGraph) -> sparse.csr_array:
    """The cosines of `answer_question` edges; the graph holds them plus one, so that no stored edge is zero."""
    edges = graph.answers
    return sparse.csr_array((np.maximum(edges.data - 1, 0), edges.indices, edges.indptr), shape=edges.shape)


def _bridged(batch: Batch, edges: sparse.csr_array, weight: float) -> Ranking:
    scored = hybrid(batch)
    if not weight or not edges.nnz:
        return Ranking(scored, batch.reached)
    bridges = crossed(scored, len(batch), batch.graph, edges)
    gained = lifted(scored, bridges, weight, len(batch), batch.graph)
    return Ranking(gained, with_bridges(batch.reached, bridges, batch.vectors, batch.graph.nodes.vectors))


@dataclass(frozen=True)
class Crossed:
    """Bridges that were followed; arrays of one length, at most one for each question and document reached.

    Attributes:
        question: Position of the question.
        source: Position of the node that names the document.
        target: Position of the node it leads to.
        strength: Rarity of what is named, times what the document it leaves from is worth, in [0, 1].
    """

    question: Positions
    source: Positions
    target: Positions
    strength: Floats


def crossed(scored: Scored, questions: int, graph: QueryGraph, edges: sparse.csr_array) -> Crossed:
    """The strongest bridge over `edges` to each document, from the best documents of each question.

    `edges` is a nodes x nodes matrix of weights in [0, 1].
    """
    of_node = graph.documents.of_chunk[graph.nodes.owner]
    best = _best_documents(scored, questions, graph)
    row, source, target, rarity = _expand(best.chunk, of_node, edges)
    top = np.full(questions, -np.inf, dtype=np.float64)
    np.maximum.at(top, best.question, best.score)
    worth = np.exp((best.score - top[best.question]) / _DECAY)
    question, strength = best.question[row], (worth[row] * rarity).astype(np.float32)
    order = np.lexsort((target, source, -strength, of_node[target], question))
    question, source, target, strength = question[order], source[order], target[order], strength[order]
    pair = question * (len(graph.documents.keys) + 1) + of_node[target]
    first = np.concatenate([[True], pair[1:] != pair[:-1]]) if len(pair) else np.empty(0, np.bool_)
    return Crossed(question[first], source[first], target[first], strength[first])


def lifted(scored: Scored, bridges: Crossed, weight: float, questions: int, graph: QueryGraph) -> Scored:
    """`scored`, where all chunks of a document that a bridge leads to gain `weight` times its strength.

    A document of which no chunk was found enters by the chunk of the node that the bridge leads to, with the least
    score that its question gave.
    """
    of_chunk = graph.documents.of_chunk
    documents = len(graph.documents.keys) + 1
    to_chunk = graph.nodes.owner[bridges.target]
    least = np.zeros(questions, dtype=np.float32)
    np.minimum.at(least, scored.question, scored.score)
    reached = bridges.question * documents + of_chunk[to_chunk]
    absent = ~np.isin(reached, scored.question * documents + of_chunk[scored.chunk])
    question = np.concatenate([scored.question, bridges.question[absent]])
    chunk = np.concatenate([scored.chunk, to_chunk[absent]])
    score = np.concatenate([scored.score, least[bridges.question[absent]]]).astype(np.float64)
    order = np.argsort(reached)
    pair = question * documents + of_chunk[chunk]
    at = np.minimum(np.searchsorted(reached[order], pair), max(len(reached) - 1, 0))
    if len(reached):
        hit = reached[order][at] == pair
        score += np.where(hit, weight * bridges.strength[order][at], 0.0)
    return in_order(question, chunk, score.astype(np.float32))


def with_bridges(reached: Reached, bridges: Crossed, questions: Floats, nodes: Floats) -> Reached:
    """`reached`, and where they are not among them the nodes at both ends of the bridges: hop 0, and hop 1."""
    question = np.concatenate([reached.question, bridges.question, bridges.question])
    node = np.concatenate([reached.node, bridges.source, bridges.target])
    ends = np.repeat(np.array([0, 1], dtype=np.int32), len(bridges.question))
    hop = np.concatenate([reached.hop, ends])
    order = np.lexsort((np.arange(len(node)), node, question))
    question, node, hop = question[order], node[order], hop[order]
    first = np.ones(len(node), dtype=np.bool_)
    first[1:] = (question[1:] != question[:-1]) | (node[1:] != node[:-1])
    question, node, hop = question[first], node[first], hop[first]
    return Reached(question, node, hop, pair_similarities(questions, nodes, question, node))


def _best_documents(scored: Scored, questions: int, graph: QueryGraph) -> Scored:
    """The best documents of each question, by their best chunk; `chunk` holds positions of documents."""
    documents = graph.documents.of_chunk[scored.chunk]
    best = grouped(scored.question, documents, scored.score, len(graph.documents.keys), "max")
    return cut(best, questions, _DOCUMENTS)


def _expand(
    documents: Positions, of_node: Positions, edges: sparse.csr_array
) -> tuple[Positions, Positions, Positions, Floats]:
    """(row of `documents`, source, target, weight) of all edges that leave from nodes of these documents."""
    by_document = np.argsort(of_node, kind="stable")
    starts = np.searchsorted(of_node[by_document], documents)
    stops = np.searchsorted(of_node[by_document], documents, side="right")
    row, place = _ranges(starts, stops)
    node = by_document[place]
    edge_row, edge = _ranges(edges.indptr[node].astype(np.int64), edges.indptr[node + 1].astype(np.int64))
    return row[edge_row], node[edge_row], edges.indices[edge].astype(np.int64), edges.data[edge]


def _ranges(starts: Positions, stops: Positions) -> tuple[Positions, Positions]:
    """All numbers of the ranges from `starts` to `stops`, each with the number of its range."""
    lengths = stops - starts
    row = np.repeat(np.arange(len(starts)), lengths)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + starts[row]


RECIPES: Final = (
    Recipe("bridge", "hybrid, and the documents named by its best ones, over mention edges.", rank_bridge),
    Recipe(
        "bridge-answers",
        "hybrid, and documents that ask what its best ones answer (link.answers).",
        rank_answer_bridge,
    ),
)
