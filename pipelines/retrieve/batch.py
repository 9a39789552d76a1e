"""A batch of questions against a snapshot; what several recipes need of it is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from quern.indexes.graph import QueryGraph
from quern.indexes.lexical import Scored
from quern.indexes.vectors import Floats, Positions, nearest, pair_similarities
from quern.jobs.reasoning.questions.clauses import clauses
from quern.pipelines.retrieve.ranking import Reached, chunk_scores, cut
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import Settings
from quern.schemas.words.terms import search_terms

_NODES_PER_CHUNK = 5


class Batch:
    """A batch of questions; rankings in it are computed at most once."""

    def __init__(self, searcher: Searcher, questions: Sequence[str]) -> None:
        self.searcher = searcher
        self.questions = list(questions)

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
    def searched(self) -> list[str]:
        """The questions in the form in which texts are searched."""
        return [self.searcher.form(q) for q in self.questions]

    @cached_property
    def vectors(self) -> Floats:
        """Embeddings of the questions, shape (questions, d)."""
        return self.searcher.question_embedder.encode(self.searched)

    @cached_property
    def terms(self) -> list[str]:
        """The words of each question, separated by single spaces."""
        return [search_terms(q) for q in self.searched]

    @cached_property
    def dense(self) -> Scored:
        """The `retrieve.depth` nearest chunks of each question by cosine."""
        found = nearest(self.vectors, self.graph.chunks.vectors, self._depth(len(self.graph.chunks.keys)))
        question, rank = np.nonzero(found.similarities > 0)
        return Scored(question, found.positions[question, rank], found.similarities[question, rank])

    @cached_property
    def lexical(self) -> Scored:
        """The `retrieve.depth` best chunks of each question by BM25."""
        return self.graph.lexical.search(self.terms, self.settings.retrieve.depth)

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
        return self.widened(self.settings.graph.hops)

    def widened(self, hops: int) -> Reached:
        """Nodes with `cos + 1 >= gamma`, at most `n`, widened by `hops` (QCG-RAG, section 3.4)."""
        settings, nodes = self.settings.graph, self.graph.nodes
        best = nearest(self.vectors, nodes.vectors, max(1, min(settings.n, len(nodes.keys))))
        question, rank = np.nonzero(
            (best.positions >= 0) & (best.similarities.astype(np.float64) + 1.0 >= settings.gamma)
        )
        wide = self.graph.widen(question, best.positions[question, rank], len(self), hops)
        cosines = pair_similarities(self.vectors, nodes.vectors, wide.question, wide.node)
        return Reached(wide.question, wide.node, wide.hop, cosines)

    def with_vectors(self, vectors: Floats) -> Batch:
        """The same questions with other vectors, shape (questions, d)."""
        other = Batch(self.searcher, self.questions)
        other.__dict__["vectors"] = vectors
        return other

    @cached_property
    def clauses(self) -> Clauses:
        """The clauses that questions fall into."""
        cut_up = [clauses(q) for q in self.questions]
        question = np.repeat(np.arange(len(self)), [len(c) for c in cut_up])
        return Clauses(self.searcher, [c for parts in cut_up for c in parts], question)

    def _depth(self, rows: int, times: int = 1) -> int:
        return max(1, min(self.settings.retrieve.depth * times, rows))


class Clauses(Batch):
    """The clauses of a batch's questions, themselves a batch.

    Attributes:
        question: Position of each clause's question, shape (clauses,), never decreasing.
    """

    def __init__(self, searcher: Searcher, questions: Sequence[str], question: Positions) -> None:
        super().__init__(searcher, questions)
        self.question = question
