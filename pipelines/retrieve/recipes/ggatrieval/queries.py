"""Further queries of a round: what of a question is missing, asked for in other words (GGatrieval, SCQA)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quern.indexes.vectors import Floats
from quern.jobs.reasoning.alignment.compensation import CompensateInput, Compensation, Near, compensate_task
from quern.jobs.reasoning.runner import Done
from quern.pipelines.retrieve.batch import Batch, Clauses
from quern.pipelines.retrieve.ranking import cut
from quern.pipelines.retrieve.recipes.ggatrieval.labels import Labels
from quern.pipelines.retrieve.recipes.hybrid import weighted_parts
from quern.pipelines.retrieve.recipes.node_texts import pair_texts


@dataclass(frozen=True)
class Query:
    """A further query of a question.

    Attributes:
        question: Position of the question in its batch.
        text: What is looked for.
        sources: Positions of the chunks that its passage was put together from.
        nodes: Positions of the nodes that it was put together from.
        chunk: Position of the chunk whose own words it is; None where it was put together, or written.
    """

    question: int
    text: str
    sources: frozenset[int]
    nodes: tuple[int, ...] = ()
    chunk: int | None = None


def compensated(batch: Batch, labels: Labels, lacking: Sequence[tuple[int, int]]) -> list[Query]:
    """A query for each (question, chunk that does not match all of it); of a question each once."""
    near = _near(batch, {q for q, _ in lacking})
    inputs = [CompensateInput(labels.parsed[q], labels[q, chunk], near.get(q, {}).values()) for q, chunk in lacking]
    done = batch.reasoner.run(compensate_task(batch.settings.ggatrieval), inputs)
    queries = (_query(q, chunk, near.get(q, {}), one) for (q, chunk), one in zip(lacking, done, strict=True))
    return list({(query.question, query.text): query for query in queries}.values())


def _query(question: int, chunk: int, near: Mapping[int, Near], done: Done[Compensation]) -> Query:
    nodes = [*near]
    chosen = tuple(nodes[n] for n in done.output.sources)
    sources = frozenset(near[node].chunk for node in chosen)
    own = chunk if done.by == "rules" and done.output.passage and not chosen else None
    return Query(question, done.output.query, sources, chosen, own)


def _near(batch: Batch, questions: set[int]) -> dict[int, dict[int, Near]]:
    """The nodes near each question by their positions, matched ones first, then their neighbours, by cosine."""
    reached, owner = batch.reached, batch.graph.nodes.owner
    asks, answers = (batch.searcher.held(pair_texts, column) for column in ("question", "answer"))
    near: dict[int, dict[int, Near]] = {}
    for n in np.lexsort((-reached.similarity, reached.hop, reached.question)).tolist():
        q, node = int(reached.question[n]), int(reached.node[n])
        if q in questions:
            near.setdefault(q, {})[node] = Near(asks[node], answers[node], int(owner[node]))
    return near


def brought(batch: Batch, queries: Sequence[Query]) -> list[list[int]]:
    """The chunks that each query brings, best first, all searched together."""
    if not queries:
        return []
    question = np.array([q.question for q in queries], dtype=np.int64)
    where = [batch.where[q] for q in question.tolist()]
    asked = Clauses(batch.searcher, [q.text for q in queries], question, where, batch.reasoner)
    asked.__dict__["vectors"] = _vectors(batch, queries)
    best = cut(weighted_parts(asked), len(asked), batch.settings.ggatrieval.documents)
    rows: list[list[int]] = [[] for _ in queries]
    for query, chunk in zip(best.question.tolist(), best.chunk.tolist(), strict=True):
        rows[query].append(chunk)
    return rows


def _vectors(batch: Batch, queries: Sequence[Query]) -> Floats:
    """The vectors of queries, shape (queries, d).

    A passage of the index has its vector there: the query's is the mean of it and the question's, as a question with
    feedback has it (Rocchio 1971), and spares embedding the text, some 20 ms. What a model wrote is embedded.
    """
    vectors = np.empty((len(queries), batch.vectors.shape[1]), dtype=np.float32)
    written = []
    for n, query in enumerate(queries):  # A few hundred additions of two vectors.
        own = batch.vectors[query.question]
        if query.nodes:
            vectors[n] = own + batch.graph.nodes.vectors[list(query.nodes)].mean(axis=0)
        elif query.chunk is not None:
            vectors[n] = own + batch.graph.chunks.vectors[query.chunk]
        else:
            written.append(n)
    if written:
        texts = [batch.searcher.form(queries[n].text) for n in written]
        vectors[written] = batch.searcher.question_embedder.encode(texts)
    length = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return np.asarray(vectors / length, dtype=np.float32)
