"""Variants of the nodes' text: questions alone, answers alone, the chunks' sentences, and chunks with questions added.

The snapshot keeps the vectors of `question answer`. Those of a variant are made when a recipe first asks for them,
which takes as long as embedding its texts, and are held by the searcher.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.graph import Keyed, QueryGraph, positions_in
from quern.indexes.lexical import LexicalIndex, Scored
from quern.indexes.vectors import Floats, Positions, nearest
from quern.jobs.vectors.embed import Embedder
from quern.pipelines.retrieve.ranking import Reached, chunk_scores
from quern.schemas.words.sentences import sentences
from quern.schemas.words.terms import search_terms


def pair_texts(queries: pa.Table, nodes: Keyed, column: str) -> list[str]:
    """The `question` or `answer` of each node, in the order of the nodes."""
    at = positions_in(queries["query_id"].combine_chunks(), nodes.keys)
    return [str(text) for text in queries[column].take(pa.array(at)).to_pylist()]


def sentence_nodes(graph: QueryGraph) -> tuple[list[str], Positions]:
    """The sentences of all chunks, and the position of each one's chunk."""
    cut = [sentences(t) for t in graph.chunk_column("text").to_pylist()]
    owner = np.repeat(np.arange(len(cut)), [len(c) for c in cut])
    return [sentence for parts in cut for sentence in parts], owner


def ranked_by(vectors: Floats, nodes: Floats, owner: Positions, chunks: int, n: int, score: str) -> Scored:
    """Chunks by the score of those of their nodes that are among the `n` nearest of the question."""
    found = nearest(vectors, nodes, max(1, min(n, len(nodes))))
    question, rank = np.nonzero(found.positions >= 0)
    node = found.positions[question, rank]
    reached = Reached(question, node, np.zeros(len(node), np.int32), found.similarities[question, rank])
    return chunk_scores(reached, owner, chunks, score)


def encoded(embedder: Embedder, texts: Sequence[str]) -> Floats:
    """Vectors of `texts`, each different text embedded once; shape (texts, d)."""
    column = pa.array(texts, pa.string()).dictionary_encode()
    distinct = embedder.encode(column.dictionary.to_pylist())
    return np.asarray(distinct[column.indices.to_numpy()], dtype=np.float32)


def expanded(graph: QueryGraph, queries: pa.Table, *, kept: bool) -> LexicalIndex:
    """Full-text search over chunks with their generated questions appended (Doc2Query, arXiv 1904.08375).

    With `kept` only those that the filter kept (Doc2Query--, arXiv 2301.03266).
    """
    rows = queries.filter(queries["kept"]) if kept else queries
    chunk = positions_in(graph.chunks.keys, rows["chunk_id"])
    added: list[list[str]] = [[] for _ in range(len(graph.chunks.keys))]
    for at, question in zip(chunk.tolist(), rows["question"].to_pylist(), strict=True):
        if at >= 0:
            added[at].append(search_terms(question))
    own = pc.fill_null(graph.chunk_column("terms"), "").to_pylist()
    return LexicalIndex(
        [pa.array([" ".join([text, *more]) for text, more in zip(own, added, strict=True)], pa.string())]
    )
