"""Bridges: from the best documents of a question to those that they name, and to those that share a name with them.

A question of several hops is near the documents that it names, and not near those that they name in turn. One-round
similarity gains nothing from neighbours that are scored by similarity again: the bridge must be followed, and it counts
by its own rarity and by the evidence that it leaves from. It is followed in rounds, for what it leads to names others;
then come the names that have no document of their own (`names`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from quern.indexes.graph import QueryGraph
from quern.indexes.lexical import Scored, in_order, ranges
from quern.indexes.vectors import Floats, Positions, pair_similarities
from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.names import below, surfaced, with_shared_names
from quern.pipelines.retrieve.ranking import Ranking, Reached, cut, grouped
from quern.pipelines.retrieve.recipes.hybrid import hybrid

_DECAY: Final = 0.05  # How far behind the best document one counts 1/e.


def rank_bridge(batch: Batch) -> Ranking:
    """`hybrid`, and the documents that its best documents name over `mention` edges, or share a name with."""
    settings = batch.settings.retrieve
    weights = settings.weight_bridges if "graph" in settings.sources else ()
    scored, reached, edges = surfaced(batch, hybrid(batch)), batch.reached, batch.graph.mentions
    for weight in weights if edges.nnz else ():  # One round for each weight.
        bridges = crossed(scored, batch.vectors, batch.graph, edges)
        bridges = bridges.some(batch.allows(bridges.question, batch.graph.nodes.owner[bridges.target]))
        scored = lifted(scored, bridges, weight, len(batch), batch.graph)
        reached = with_edges(reached, bridges, batch.vectors, batch.graph.nodes.vectors)
    return Ranking(surfaced(batch, with_shared_names(batch, scored)), reached)


@dataclass(frozen=True)
class Crossed:
    """Bridges that were followed; arrays of one length, at most one for each question and document reached."""

    question: Positions  # Position of the question.
    source: Positions  # Position of the node that names the document.
    target: Positions  # Position of the node it leads to.
    strength: Floats  # Rarity of what is named, times what the document it leaves from is worth, in [0, 1].
    limit: Floats  # Score of the document it leaves from.

    def some(self, kept: npt.NDArray[np.bool_]) -> Crossed:
        """Some of them."""
        return Crossed(*(column[kept] for column in vars(self).values()))


def crossed(scored: Scored, questions: Floats, graph: QueryGraph, edges: sparse.csr_array) -> Crossed:
    """The strongest bridge over `edges` to each document, from the best documents of each question.

    A bridge counts by the weight of its edge, by how far behind the best document the one is that it leaves from, and
    by the squared cosine of the question and the node that names, as a share of the best such node.

    Args:
        scored: Scores of chunks.
        questions: Vectors of the questions.
        graph: The graph.
        edges: A nodes x nodes matrix of weights in [0, 1].
    """
    of_node = graph.documents.of_chunk[graph.nodes.owner]
    documents = graph.documents.of_chunk[scored.chunk]
    best = grouped(scored.question, documents, scored.score, len(graph.documents.keys), "max")
    best = cut(best, len(questions), 10)  # Bridges leave from the ten best documents, by their best chunk.
    # All edges that leave from nodes of these documents; `row` is the place of the document in `best`.
    by_document = np.argsort(of_node, kind="stable")
    starts = np.searchsorted(of_node[by_document], best.chunk)
    row, place = ranges(starts, np.searchsorted(of_node[by_document], best.chunk, side="right"))
    node = by_document[place]
    again, edge = ranges(edges.indptr[node].astype(np.int64), edges.indptr[node + 1].astype(np.int64))
    row, source, target, rarity = row[again], node[again], edges.indices[edge].astype(np.int64), edges.data[edge]
    question, limit = best.question[row], best.score[row]
    worth = np.exp((limit - _most(best.question, best.score, len(questions))[question]) / _DECAY)
    cosine = np.maximum(pair_similarities(questions, graph.nodes.vectors, question, source), 1e-6)
    near = cosine / _most(question, cosine, len(questions))[question]
    strength = (worth * rarity * near**2).astype(np.float32)
    order = np.lexsort((target, source, -strength, of_node[target], question))
    crossings = Crossed(question[order], source[order], target[order], strength[order], limit[order])
    pair = crossings.question * (len(graph.documents.keys) + 1) + of_node[crossings.target]
    return crossings.some(np.concatenate([[True], pair[1:] != pair[:-1]]) if len(pair) else np.empty(0, np.bool_))


def _most(question: Positions, values: Floats, questions: int) -> Floats:
    """The largest of the values of each question, shape (questions,)."""
    most = np.full(questions, -np.inf, dtype=np.float32)
    np.maximum.at(most, question, values)
    return most


def lifted(scored: Scored, bridges: Crossed, weight: float, questions: int, graph: QueryGraph) -> Scored:
    """`scored`, where all chunks of a document that a bridge leads to gain `weight` times its strength.

    None gets above the document that the bridge leaves from: what is named is no better evidence than what names it. A
    document of which no chunk was found enters by the chunk of the node that the bridge leads to, with the least score
    that its question gave.
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
    order = np.argsort(reached, kind="stable")  # Otherwise the order of equal ones depends on the processor.
    pair = question * documents + of_chunk[chunk]
    at = np.minimum(np.searchsorted(reached[order], pair), max(len(reached) - 1, 0))
    if len(reached):
        hit = np.flatnonzero(reached[order][at] == pair)
        by = order[at[hit]]
        score[hit] = below(score[hit], weight * bridges.strength[by], bridges.limit[by])
    return in_order(question, chunk, score.astype(np.float32))


def with_edges(reached: Reached, followed: Crossed, questions: Floats, nodes: Floats) -> Reached:
    """`reached`, and where they are not among them the nodes at both ends of bridges: hop 0, and hop 1."""
    question = np.concatenate([reached.question, followed.question, followed.question])
    node = np.concatenate([reached.node, followed.source, followed.target])
    hop = np.concatenate([reached.hop, np.repeat(np.array([0, 1], dtype=np.int32), len(followed.question))])
    order = np.lexsort((np.arange(len(node)), node, question))
    question, node, hop = question[order], node[order], hop[order]
    first = np.ones(len(node), dtype=np.bool_)
    first[1:] = (question[1:] != question[:-1]) | (node[1:] != node[:-1])
    question, node, hop = question[first], node[first], hop[first]
    return Reached(question, node, hop, pair_similarities(questions, nodes, question, node))


RECIPES: Final = (
    Recipe(
        "bridge",
        "hybrid, and the documents that its best ones name over mention edges, or share a rare name with.",
        rank_bridge,
    ),
)
