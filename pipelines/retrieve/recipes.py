"""The recipes by name: each a small value with its citation, run over a whole batch of questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from scipy import sparse

from quern.indexes.graph import QueryGraph
from quern.indexes.lexical import Scored
from quern.indexes.vectors import Floats, Positions
from quern.pipelines.retrieve import bridges, texts
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.fusion import Part, added, fuse, reciprocal_ranks, shares, weighted
from quern.pipelines.retrieve.ranking import Ranking, chunk_scores, grouped
from quern.pipelines.retrieve.walk import walk
from quern.schemas.errors import QuernError

# Nodes whose text is added to a question for its second round.
_SECOND_ROUND: Final = 10
_SECOND_WEIGHT: Final = 0.4


@dataclass(frozen=True)
class Recipe:
    """A way to rank chunks.

    Attributes:
        name: Name on the command line.
        citation: Where it comes from.
        rank: Ranks the chunks for a batch of questions.
    """

    name: str
    citation: str
    rank: Callable[[Batch], Ranking]


def rank_dense(batch: Batch) -> Ranking:
    """Chunks by cosine with the question."""
    return Ranking(batch.dense)


def rank_bm25(batch: Batch) -> Ranking:
    """Chunks by BM25."""
    return Ranking(batch.lexical)


def rank_qcg(batch: Batch, hops: int | None = None, score: str | None = None) -> Ranking:
    """Chunks by the similarities of their reached nodes, by default with the hops and the score of the settings.

    QCG-RAG, section 3.4. Ties beyond `n` go to the lower key; edges are followed in their own direction.
    """
    reached = batch.reached if hops is None else batch.widened(hops)
    graph = batch.graph
    chosen = score or batch.settings.graph.score
    return Ranking(chunk_scores(reached, graph.nodes.owner, len(graph.chunks.keys), chosen), reached)


def rank_pairs(batch: Batch, column: str) -> Ranking:
    """Chunks by their nodes' questions alone, or answers alone, without edges; scored as `qcg` is."""
    settings, graph = batch.settings.graph, batch.graph
    vectors = batch.searcher.pair_vectors(column)
    found = texts.ranked_by(
        batch.vectors, vectors, graph.nodes.owner, len(graph.chunks.keys), settings.n, settings.score
    )
    return Ranking(found)


def rank_sentences(batch: Batch) -> Ranking:
    """Chunks by their sentences in place of generated pairs, without edges; scored as `qcg` is."""
    settings, graph = batch.settings.graph, batch.graph
    vectors, owner = batch.searcher.sentence_vectors
    return Ranking(texts.ranked_by(batch.vectors, vectors, owner, len(graph.chunks.keys), settings.n, settings.score))


def rank_expanded(batch: Batch, *, kept: bool) -> Ranking:
    """Chunks by BM25 over their text with their generated questions appended."""
    index = batch.searcher.expanded(kept=kept)
    return Ranking(index.search(batch.terms, batch.settings.retrieve.depth))


def rank_walk(batch: Batch) -> Ranking:
    """Chunks by personalised PageRank from the nodes that the question matches."""
    matched = batch.widened(0)
    return Ranking(walk(matched, len(batch), batch.graph, batch.settings.retrieve.depth), matched)


def _parts(batch: Batch) -> list[Part]:
    weights = batch.settings.retrieve
    return [
        (batch.dense, weights.weight_dense),
        (shares(batch.lexical, len(batch)), weights.weight_bm25),
        (batch.best_nodes, weights.weight_nodes),
    ]


def _weighted(batch: Batch, parts: Sequence[Part]) -> Scored:
    graph = batch.graph
    lift = batch.settings.retrieve.document_share
    return weighted(parts, len(batch), len(graph.chunks.keys), graph.documents.of_chunk, lift)


def _hybrid(batch: Batch, more: Sequence[Part] = ()) -> Scored:
    """The weighted parts, and for questions of several clauses the best that one of these gives to a chunk."""
    whole = _weighted(batch, [*_parts(batch), *more])
    weight, asked = batch.settings.retrieve.weight_clauses, batch.clauses
    if not weight or not len(asked):
        return whole
    found = _weighted(asked, _parts(asked))
    chunks = len(batch.graph.chunks.keys)
    best = grouped(asked.question[found.question], found.chunk, found.score, chunks, "max")
    return added([(whole, 1.0), (best, weight)], len(batch), chunks)


def rank_hybrid(batch: Batch) -> Ranking:
    """Chunk vectors, BM25 and the best node of each chunk, weighted, over the question and its clauses.

    No edge is followed. The nodes told of are those of `qcg`.
    """
    return Ranking(_hybrid(batch), batch.reached)


def rank_bridge(batch: Batch) -> Ranking:
    """`hybrid`, and the documents that its best documents name, over `mention` edges."""
    return _bridged(batch, _hybrid(batch), batch.graph.mentions, batch.settings.retrieve.weight_mentions)


def rank_answer_bridge(batch: Batch) -> Ranking:
    """`hybrid`, and the documents whose questions are near the answers of its best documents' nodes.

    Over `answer_question` edges, which `graph.answers` makes; where there are none it is `hybrid`.
    """
    return _bridged(batch, _hybrid(batch), answer_weights(batch.graph), batch.settings.retrieve.weight_answers)


def answer_weights(graph: QueryGraph) -> sparse.csr_array:
    """The cosines of `answer_question` edges; the graph holds them plus one, so that no stored edge is zero."""
    edges = graph.answers
    return sparse.csr_array((np.maximum(edges.data - 1, 0), edges.indices, edges.indptr), shape=edges.shape)


def _bridged(batch: Batch, scored: Scored, edges: sparse.csr_array, weight: float) -> Ranking:
    if not weight or not edges.nnz:
        return Ranking(scored, batch.reached)
    followed = bridges.crossed(scored, len(batch), batch.graph, edges)
    lifted = bridges.lifted(scored, followed, weight, len(batch), batch.graph)
    return Ranking(lifted, bridges.with_bridges(batch.reached, followed, batch.vectors, batch.graph.nodes.vectors))


def rank_second(batch: Batch) -> Ranking:
    """`hybrid`, and a second round: chunks near the question with the text of each of its 10 best nodes.

    The mean of a chunk's cosines with all these texts is its cosine with their mean, so it is one search.
    """
    matched = batch.widened(0)
    order = np.lexsort((matched.node, -matched.similarity, matched.question))
    rank = np.arange(len(order)) - np.searchsorted(matched.question[order], matched.question[order])
    order = order[rank < _SECOND_ROUND]
    question, node = matched.question[order], matched.node[order]
    told = batch.searcher.node_texts
    asked = [f"{batch.questions[q]} {told[n]}" for q, n in zip(question.tolist(), node.tolist(), strict=True)]
    again = batch.with_vectors(_means(texts.encoded(batch.searcher.embedder, asked), question, batch.vectors.shape))
    return Ranking(_hybrid(batch, [(again.dense, _SECOND_WEIGHT)]), matched)


def _means(vectors: Floats, question: Positions, shape: tuple[int, ...]) -> Floats:
    """The mean of each question's vectors, of length 1; zero where there are none; shape (questions, d)."""
    total = np.zeros(shape)
    np.add.at(total, question, vectors)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.asarray(total / np.where(length > 0, length, 1.0), dtype=np.float32)


def rank_zscore(batch: Batch) -> Ranking:
    """The parts of `hybrid`, each as z-scores over its own candidates, without clauses."""
    return Ranking(fuse(_parts(batch), len(batch), len(batch.graph.chunks.keys)), batch.reached)


def rank_rrf(batch: Batch) -> Ranking:
    """The parts of `hybrid` by reciprocal ranks, without clauses or weights."""
    parts = [(scored, 1.0) for scored, _ in _parts(batch)]
    return Ranking(reciprocal_ranks(parts, len(batch), len(batch.graph.chunks.keys)), batch.reached)


class RecipeError(QuernError):
    """A recipe that does not exist; the message names those that do."""


_QCG: Final = "QCG-RAG, arXiv 2509.21237, section 3.4"
RECIPES: dict[str, Recipe] = {
    r.name: r
    for r in (
        Recipe("dense", "Naive RAG: chunk vectors, cosine.", rank_dense),
        Recipe("bm25", "BM25 (Robertson and Walker 1994), k1 = 1.2, b = 0.75.", rank_bm25),
        Recipe("hybrid", "Chunk vectors, BM25 and query-centric nodes, weighted; by clauses.", rank_hybrid),
        Recipe("bridge", "hybrid, and the documents named by its best ones, over mention edges.", rank_bridge),
        Recipe(
            "bridge-answers",
            "hybrid, and documents that ask what its best ones answer (graph.answers).",
            rank_answer_bridge,
        ),
        Recipe("qcg", f"{_QCG}.", rank_qcg),
        Recipe("qcg-h0", f"{_QCG}, without widening.", partial(rank_qcg, hops=0)),
        Recipe("qcg-h1", f"{_QCG}, one hop.", partial(rank_qcg, hops=1)),
        Recipe("qcg-h2", f"{_QCG}, two hops.", partial(rank_qcg, hops=2)),
        Recipe("qcg-max", f"{_QCG}, a chunk by its best node.", partial(rank_qcg, score="max")),
        Recipe("qcg-sum", f"{_QCG}, a chunk by the sum of its nodes.", partial(rank_qcg, score="sum")),
        Recipe("nodes-q", "Generated questions alone as nodes.", partial(rank_pairs, column="question")),
        Recipe("nodes-a", "Answers alone as nodes.", partial(rank_pairs, column="answer")),
        Recipe("nodes-sentence", "The chunks' sentences as nodes.", rank_sentences),
        Recipe("d2q", "Doc2Query, arXiv 1904.08375: BM25 over text and questions.", partial(rank_expanded, kept=False)),
        Recipe("d2q--", "Doc2Query--, arXiv 2301.03266: with kept questions only.", partial(rank_expanded, kept=True)),
        Recipe("walk", "Personalised PageRank over nodes and chunks.", rank_walk),
        Recipe("second", "hybrid, and a second round with the best nodes' texts.", rank_second),
        Recipe("zscore", "Chunk vectors, BM25 and nodes, fused by z-scores.", rank_zscore),
        Recipe("rrf", "The same by reciprocal ranks (Cormack et al. 2009).", rank_rrf),
    )
}
DEFAULT: Final = "bridge"


def find_recipes(names: str) -> list[Recipe]:
    """Recipes by their names, separated by commas.

    Raises:
        RecipeError: One of them does not exist.
    """
    wanted = [n.strip() for n in names.split(",") if n.strip()]
    unknown = [n for n in wanted if n not in RECIPES]
    if unknown or not wanted:
        raise RecipeError(f"there is no recipe {', '.join(unknown) or names!r}; there are: {', '.join(RECIPES)}")
    return [RECIPES[n] for n in dict.fromkeys(wanted)]
