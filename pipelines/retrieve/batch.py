"""A batch of questions against a snapshot; what several recipes need of it is computed once."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict
from scipy import sparse

from quern.indexes.graph import Keyed, QueryGraph
from quern.indexes.lexical import Scored
from quern.indexes.vectors import Floats, Neighbours, Part, Positions, nearest, pair_similarities
from quern.jobs.reasoning.questions.plan import clauses
from quern.jobs.tasks.remembered import Kept
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.retrieve.filters import Allowed, allowed, known_by
from quern.pipelines.retrieve.ranking import Doubles, Ranking, Reached, cut, grouped
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Citation, Hit, Sentence
from quern.schemas.settings import Settings
from quern.schemas.words.terms import search_terms, without_asking


class Batch:
    """A batch of questions; rankings in it are computed at most once.

    Attributes:
        searcher: The snapshot, and the settings to search it by.
        questions: The questions.
        where: Conditions that chunks must meet, for each question, beside those of `retrieve`.
        reasoner: What carries out the tasks of recipes that reason; by default the rules.
    """

    def __init__(
        self,
        searcher: Searcher,
        questions: Sequence[str],
        where: Sequence[Sequence[str]] | None = None,
        reasoner: Reasoner | None = None,
    ) -> None:
        self.searcher = searcher
        self.questions = list(questions)
        self.where = [list(w) for w in where] if where is not None else [[] for _ in questions]
        self.reasoner = reasoner or Reasoner()

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
        embedder, texts = self.searcher.question_embedder, self.searched
        if not texts:
            return embedder.encode(texts)

        def embed(places: Sequence[int]) -> list[_QuestionVector]:
            vectors = embedder.encode([texts[n] for n in places]).astype("<f4", copy=False)
            return [_QuestionVector(vector=b64encode(row.tobytes()).decode("ascii")) for row in vectors]

        step = Kept("question_vectors", _QuestionVector, self.searcher.question_model)
        outputs = self.reasoner.kept(step, texts, embed)
        return np.stack([np.frombuffer(b64decode(one.vector), dtype="<f4") for one in outputs]).astype(np.float32)

    @cached_property
    def terms(self) -> list[str]:
        """The words of each question, separated by single spaces, without those that it is asked with."""
        return [search_terms(without_asking(q)) for q in self.searched]

    @cached_property
    def asked(self) -> sparse.csr_array:
        """Which terms of the full-text index each question has, shape (questions, terms)."""
        return self.graph.lexical.asked(self.terms)

    @cached_property
    def readable(self) -> Doubles:
        """Share of each question that the embedding model can read, by its scripts; shape (questions,)."""
        return self.searcher.question_embedder.readable(self.searched)

    @cached_property
    def allowed(self) -> Allowed | None:
        """Which chunks may be found for each question; None where all may."""
        retrieve = self.settings.retrieve
        of_all = [*retrieve.where, *known_by(retrieve.as_of)]
        return allowed(self.searcher, [[*of_all, *w] for w in self.where])

    def allows(self, question: Positions, chunk: Positions) -> npt.NDArray[np.bool_]:
        """Whether `chunk[n]` may be found for `question[n]`, shape as these."""
        if self.allowed is None:
            return np.ones(len(question), dtype=np.bool_)
        return self.allowed.masks[self.allowed.of_question[question], chunk]

    def nearest_of(self, sought: Keyed, most: int) -> Neighbours:
        """The `most` of the vectors `sought` that are nearest to each question, of those whose chunk may be found."""
        if self.allowed is None:
            if sought.index:
                return sought.index.nearest(self.vectors, most)
            return nearest(self.vectors, sought.vectors, most, scan=True)
        positions = np.full((len(self), most), -1, dtype=np.int64)
        similarities = np.full((len(self), most), -np.inf, dtype=np.float32)
        for questions, mask in self.allowed.each():
            rows = np.flatnonzero(mask[sought.owner])
            hits = nearest(self.vectors[questions], Part(sought.vectors, rows), most)
            known = hits.positions >= 0
            positions[questions] = np.where(known, rows[np.where(known, hits.positions, 0)] if len(rows) else -1, -1)
            similarities[questions] = hits.similarities
        return Neighbours(positions, similarities)

    @cached_property
    def dense(self) -> Scored:
        """The `retrieve.depth` nearest chunks of each question by cosine."""
        neighbours = self.nearest_of(self.graph.chunks, self._depth(len(self.graph.chunks.keys)))
        question, rank = np.nonzero(neighbours.similarities > 0)
        return Scored(question, neighbours.positions[question, rank], neighbours.similarities[question, rank])

    @cached_property
    def lexical(self) -> Scored:
        """The `retrieve.depth` best chunks of each question by BM25."""
        return self.graph.lexical.search(self.terms, self.settings.retrieve.depth, self.allows)

    @cached_property
    def best_nodes(self) -> Scored:
        """The `retrieve.depth` chunks of each question whose best node is nearest to it.

        Sought among the nearest nodes, five times as many as chunks: a chunk has some 16 nodes, and those of
        one chunk come together.
        """
        nodes = self.graph.nodes
        neighbours = self.nearest_of(nodes, self._depth(len(nodes.keys), times=5))
        question, rank = np.nonzero(neighbours.similarities > 0)
        chunk, near = nodes.owner[neighbours.positions[question, rank]], neighbours.similarities[question, rank]
        best = grouped(question, chunk, near, len(self.graph.chunks.keys), "max")
        return cut(best, len(self), self.settings.retrieve.depth)

    @cached_property
    def reached(self) -> Reached:
        """Nodes with `cos + 1 >= gamma`, at most `n`, widened by `h` hops (QCG-RAG, section 3.4)."""
        return self.widened(self.settings.graph.hops)

    def widened(self, hops: int) -> Reached:
        """Nodes with `cos + 1 >= gamma`, at most `n`, widened by `hops` (QCG-RAG, section 3.4)."""
        settings, nodes = self.settings.graph, self.graph.nodes
        best = self.nearest_of(nodes, max(1, min(settings.n, len(nodes.keys))))
        question, rank = np.nonzero(
            (best.positions >= 0) & (best.similarities.astype(np.float64) + 1.0 >= settings.gamma)
        )
        wide = self.graph.widen(question, best.positions[question, rank], len(self), hops)
        kept = self.allows(wide.question, nodes.owner[wide.node])
        question, node, hop = wide.question[kept], wide.node[kept], wide.hop[kept]
        return Reached(question, node, hop, pair_similarities(self.vectors, nodes.vectors, question, node))

    def with_vectors(self, vectors: Floats) -> Batch:
        """The same questions with other vectors, shape (questions, d)."""
        other = Batch(self.searcher, self.questions, self.where, self.reasoner)
        other.__dict__["vectors"] = vectors
        return other

    @cached_property
    def clauses(self) -> Clauses:
        """The clauses that questions fall into."""
        return Clauses(self, [clauses(q) for q in self.questions])

    def _depth(self, rows: int, times: int = 1) -> int:
        return max(1, min(self.settings.retrieve.depth * times, rows))


class Clauses(Batch):
    """Texts that are asked beside a batch's questions, such as their clauses, themselves a batch.

    Attributes:
        question: Position of each text's question, shape (texts,), never decreasing.
    """

    def __init__(self, batch: Batch, texts: Sequence[Sequence[str]]) -> None:
        """`texts` are those of each question, and must meet its conditions."""
        self.question: Positions = np.repeat(np.arange(len(batch)), [len(own) for own in texts])
        where = [batch.where[q] for q in self.question.tolist()]
        super().__init__(batch.searcher, [text for own in texts for text in own], where, batch.reasoner)


@dataclass(frozen=True)
class Overview:
    """An answer about a whole corpus."""

    sentences: list[Sentence]  # Its sentences; none where there is no answer.
    citations: list[Citation]  # What they rest on.
    hits: list[Hit]  # The chunks that they quote; without an answer those that were read.
    reason: str | None  # Why there is no answer.
    notes: list[str]  # What a reader should know.
    by: str  # What wrote it.
    probability: float  # Calibrated probability that these chunks answer.


@dataclass(frozen=True)
class Recipe:
    """A way to rank chunks."""

    name: str  # Name on the command line.
    citation: str  # Where it comes from.
    rank: Callable[[Batch], Ranking]  # Ranks the chunks for a batch of questions.
    # Answers a batch of questions itself; None where they are answered from the best chunks.
    answer: Callable[[Batch], list[Overview]] | None = None


class _QuestionVector(BaseModel):
    """The vector of a question: its numbers as little-endian float32, in base64."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    vector: str
