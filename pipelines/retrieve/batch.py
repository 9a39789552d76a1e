"""A batch of questions against a snapshot; what several recipes need of it is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from quern.indexes.catalog import Snapshot
from quern.indexes.graph import QueryGraph
from quern.indexes.lexical import LexicalIndex, Scored
from quern.indexes.vectors import Floats, Positions, nearest, pair_similarities
from quern.jobs.models.folders import ModelError, model_fingerprint, read_model
from quern.jobs.vectors.embed import Embedder
from quern.pipelines.retrieve import texts
from quern.pipelines.retrieve.clauses import clauses
from quern.pipelines.retrieve.ranking import Reached, chunk_scores, cut
from quern.schemas.settings import Settings
from quern.schemas.words.terms import search_terms

_NODES_PER_CHUNK = 5


class Searcher:
    """A snapshot, the embedder that its vectors were made with, and the settings to search it by."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self.snapshot = snapshot
        self.settings = settings
        self.graph = QueryGraph(snapshot)
        self._pair_vectors: dict[str, Floats] = {}
        self._expanded: dict[bool, LexicalIndex] = {}

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

    @cached_property
    def queries(self) -> pa.Table:
        """The generated pairs, with `query_id`, `chunk_id`, `question`, `answer` and `kept`."""
        columns = ["query_id", "chunk_id", "question", "answer", "kept"]
        stage = self.snapshot.stage("queries")
        schema = pa.schema([stage.table.schema.field(c) for c in columns])
        return pa.Table.from_batches(stage.batches(columns), schema=schema)

    @cached_property
    def node_texts(self) -> list[str]:
        """`question answer` of each node, in the order of the nodes."""
        pairs = (texts.pair_texts(self.queries, self.graph.nodes, column) for column in ("question", "answer"))
        return [f"{question} {answer}" for question, answer in zip(*pairs, strict=True)]

    def pair_vectors(self, column: str) -> Floats:
        """Vectors of the nodes' `question` or `answer` alone; made when first asked for."""
        if column not in self._pair_vectors:
            told = texts.pair_texts(self.queries, self.graph.nodes, column)
            self._pair_vectors[column] = texts.encoded(self.embedder, told)
        return self._pair_vectors[column]

    @cached_property
    def sentence_vectors(self) -> tuple[Floats, Positions]:
        """Vectors of the chunks' sentences, and the position of each one's chunk; made when first asked for."""
        told, owner = texts.sentence_nodes(self.graph)
        return texts.encoded(self.embedder, told), owner

    def expanded(self, *, kept: bool) -> LexicalIndex:
        """Full-text search over chunks with their generated questions."""
        if kept not in self._expanded:
            self._expanded[kept] = texts.expanded(self.graph, self.queries, kept=kept)
        return self._expanded[kept]

    def batch(self, questions: Sequence[str]) -> Batch:
        """Questions, ready to be searched for."""
        return Batch(self, list(questions))


class Batch:
    """A batch of questions; rankings in it are computed at most once."""

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
        return self.searcher.embedder.for_questions().encode(self.questions)

    @cached_property
    def terms(self) -> list[str]:
        """The words of each question, separated by single spaces."""
        return [search_terms(q) for q in self.questions]

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

    def __init__(self, searcher: Searcher, questions: list[str], question: Positions) -> None:
        super().__init__(searcher, questions)
        self.question = question
