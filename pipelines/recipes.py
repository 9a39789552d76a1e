"""Retrieval recipes: each a small value with its citation, run over a whole batch of questions.

No recipe loops over questions or nodes: search is one matrix product per batch, widening a sparse product,
chunk scores segmented reductions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from indexes.catalog import Snapshot
from indexes.graph import QueryGraph
from indexes.lexical import Scored, bm25, in_order
from indexes.vectors import Floats, Positions, nearest, pair_similarities
from jobs.embed import Embedder
from jobs.models import ModelError, model_fingerprint, read_model
from schemas.settings import Settings
from schemas.words import search_terms

_NODES_PER_CHUNK = 5


@dataclass(frozen=True)
class Reached:
    """The nodes that a recipe reached, sorted by question and node; arrays of one length.

    Attributes:
        question: Position of the question.
        node: Position of the node.
        hop: 0 where the question matched the node, else hops along neighbour edges.
        similarity: Cosine of question and node.
    """

    question: Positions
    node: Positions
    hop: npt.NDArray[np.int32]
    similarity: Floats


@dataclass(frozen=True)
class Ranking:
    """Chunks per question, best first, and the nodes that led there, where nodes were used."""

    chunks: Scored
    reached: Reached | None = None


class Searcher:
    """A snapshot, the embedder that its vectors were made with, and the settings to search it by."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self.snapshot = snapshot
        self.settings = settings
        self.graph = QueryGraph(snapshot)

    @cached_property
    def embedder(self) -> Embedder:
        """The model of the snapshot.

        Raises:
            ModelError: The settings name another model than the snapshot's vectors were made with.
        """
        manifest, wanted = self.snapshot.manifest, self.settings.embed
        if model_fingerprint(read_model(wanted.model)) != manifest.model:
            raise ModelError(
                f"the vectors of snapshot {manifest.build_id} were made with another model than {wanted.model} is now; "
                "vectors of two models do not compare: build again, or name the model it was built with"
            )
        return Embedder.load(wanted)

    def batch(self, questions: Sequence[str]) -> Batch:
        """Questions, ready to be searched for."""
        return Batch(self, list(questions))


class Batch:
    """A batch of questions; what several recipes need of it is computed once."""

    def __init__(self, searcher: Searcher, questions: list[str]) -> None:
        self.searcher = searcher
        self.questions = questions

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.questions)

    @property
    def graph(self) -> QueryGraph:
        """The graph that is searched."""
        return self.searcher.graph

    @property
    def settings(self) -> Settings:
        """Settings of the search."""
        return self.searcher.settings

    @cached_property
    def vectors(self) -> Floats:
        """Embeddings of the questions, shape (questions, d)."""
        return self.searcher.embedder.encode(self.questions)

    @cached_property
    def dense(self) -> Scored:
        """The `retrieve.depth` nearest chunks of each question by cosine."""
        found = nearest(self.vectors, self.graph.chunks.vectors, self._depth(len(self.graph.chunks.keys)))
        question, rank = np.nonzero(found.similarities > 0)
        return Scored(question, found.positions[question, rank], found.similarities[question, rank])

    @cached_property
    def lexical(self) -> Scored:
        """The `retrieve.depth` best chunks of each question by BM25."""
        terms = [search_terms(q) for q in self.questions]
        table = self.searcher.snapshot.table("chunks")
        return bm25(table, terms, self.graph.chunks.keys, self.settings.retrieve.depth)

    @cached_property
    def best_nodes(self) -> Scored:
        """The `retrieve.depth` chunks of each question whose best node is nearest to it.

        Sought among the nearest nodes, five times as many as chunks: a chunk has some 16 nodes, and those of
        one chunk come together.
        """
        nodes = self.graph.nodes
        found = nearest(self.vectors, nodes.vectors, self._depth(len(nodes.keys), _NODES_PER_CHUNK))
        question, rank = np.nonzero(found.similarities > 0)
        node = found.positions[question, rank]
        reached = Reached(question, node, np.zeros(len(node), dtype=np.int32), found.similarities[question, rank])
        chunks = chunk_scores(reached, nodes.owner, len(self.graph.chunks.keys), "max")
        return cut(chunks, len(self), self.settings.retrieve.depth)

    @cached_property
    def reached(self) -> Reached:
        """Nodes with `cos + 1 >= gamma`, at most `n`, widened by `h` hops (QCG-RAG, section 3.4)."""
        settings, nodes = self.settings.graph, self.graph.nodes
        best = nearest(self.vectors, nodes.vectors, max(1, min(settings.n, len(nodes.keys))))
        question, rank = np.nonzero((best.positions >= 0) & (best.similarities + 1.0 >= settings.gamma))
        wide = self.graph.widen(question, best.positions[question, rank], len(self), settings.hops)
        cosines = pair_similarities(self.vectors, nodes.vectors, wide.question, wide.node)
        return Reached(wide.question, wide.node, wide.hop, cosines)

    def _depth(self, rows: int, times: int = 1) -> int:
        return max(1, min(self.settings.retrieve.depth * times, rows))


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


def _segments(question: Positions, chunk: Positions, chunks: int) -> tuple[Positions, Positions, Positions]:
    """The distinct (question, chunk) pairs, and for each input pair which of them it is."""
    distinct, inverse = np.unique(question * chunks + chunk, return_inverse=True)
    return distinct // chunks, distinct % chunks, inverse


def chunk_scores(reached: Reached, owner: Positions, chunks: int, score: str) -> Scored:
    """One score per (question, chunk) from the similarities of its reached nodes: `mean`, `max` or `sum`."""
    question, chunk, segment = _segments(reached.question, owner[reached.node], max(chunks, 1))
    values = reached.similarity.astype(np.float64)
    if score == "max":
        total = np.full(len(question), -np.inf)
        np.maximum.at(total, segment, values)
    else:
        total = np.bincount(segment, weights=values, minlength=len(question))
        if score == "mean":
            total = total / np.bincount(segment, minlength=len(question))
    return in_order(question, chunk, total.astype(np.float32))


def cut(scored: Scored, questions: int, depth: int) -> Scored:
    """The best `depth` chunks of each question."""
    kept = np.flatnonzero(ranks(scored, questions) < depth)
    return Scored(scored.question[kept], scored.chunk[kept], scored.score[kept])


def ranks(scored: Scored, questions: int) -> Positions:
    """Rank of each triple within its question, from 0, shape (triples,)."""
    first = np.searchsorted(scored.question, np.arange(questions))
    return np.asarray(np.arange(len(scored.question)) - first[scored.question], dtype=np.int64)


def rank_dense(batch: Batch) -> Ranking:
    """Chunks by cosine with the question."""
    return Ranking(batch.dense)


def rank_bm25(batch: Batch) -> Ranking:
    """Chunks by BM25."""
    return Ranking(batch.lexical)


def rank_qcg(batch: Batch) -> Ranking:
    """Chunks by the mean similarity of their reached nodes.

    QCG-RAG, section 3.4. Ties beyond `n` go to the lower key; edges are followed in their own direction.
    """
    graph, score = batch.graph, batch.settings.graph.score
    return Ranking(chunk_scores(batch.reached, graph.nodes.owner, len(graph.chunks.keys), score), batch.reached)


def fuse(parts: Sequence[tuple[Scored, float]], questions: int, chunks: int) -> Scored:
    """Weighted sum of the parts' z-scores, each taken over the part's own candidates of a question.

    A chunk that a part did not find gets the least z-score that the part gave for that question, at most 0.
    """
    width = max(chunks, 1)
    used = [(s, w) for s, w in parts if w > 0]
    pairs = np.unique(np.concatenate([s.question * width + s.chunk for s, _ in used] or [np.empty(0, np.int64)]))
    total = np.zeros(len(pairs))
    for scored, weight in used:
        standard = _z_scores(scored, questions)
        floor = np.zeros(questions)
        np.minimum.at(floor, scored.question, standard)
        values = floor[pairs // width]
        values[np.searchsorted(pairs, scored.question * width + scored.chunk)] = standard
        total += weight * values
    return in_order(pairs // width, pairs % width, total.astype(np.float32))


def _z_scores(scored: Scored, questions: int) -> npt.NDArray[np.float64]:
    score = scored.score.astype(np.float64)
    count = np.maximum(np.bincount(scored.question, minlength=questions), 1)
    mean = np.bincount(scored.question, weights=score, minlength=questions) / count
    centred = score - mean[scored.question]
    deviation = np.sqrt(np.bincount(scored.question, weights=centred**2, minlength=questions) / count)
    return centred / np.where(deviation > 0, deviation, 1.0)[scored.question]


def rank_hybrid(batch: Batch) -> Ranking:
    """Chunk vectors, BM25 and the best node of each chunk, fused by z-scores.

    The nodes told of are those of `qcg`. A neighbour counts here by its own similarity alone, like every node.
    """
    weights = batch.settings.retrieve
    parts = [
        (batch.dense, weights.weight_dense),
        (batch.lexical, weights.weight_bm25),
        (batch.best_nodes, weights.weight_nodes),
    ]
    return Ranking(fuse(parts, len(batch), len(batch.graph.chunks.keys)), batch.reached)


class RecipeError(ValueError):
    """A recipe that does not exist; the message names those that do."""


RECIPES: dict[str, Recipe] = {
    r.name: r
    for r in (
        Recipe("dense", "Naive RAG: chunk vectors, cosine.", rank_dense),
        Recipe("bm25", "BM25 (Robertson and Walker 1994), k1 = 1.2, b = 0.75.", rank_bm25),
        Recipe("hybrid", "Chunk vectors, BM25 and query-centric nodes, fused by z-scores.", rank_hybrid),
        Recipe("qcg", "QCG-RAG, arXiv 2509.21237, section 3.4.", rank_qcg),
    )
}


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
