"""Other texts as nodes: generated questions alone, answers alone, the chunks' sentences (QCG-RAG, section 4).

The snapshot keeps the vectors of `question answer`. Those of a variant are made when a recipe first asks for them,
which takes as long as embedding its texts. No edge is followed; chunks are scored as `qcg` scores them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from quern.indexes.graph import Keyed
from quern.indexes.keys import positions_among
from quern.indexes.vectors import Floats, Positions
from quern.jobs.vectors.embedder import Embedder
from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.ranking import Ranking, grouped
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.words.sentences import sentences


def rank_pairs(batch: Batch, column: str) -> Ranking:
    """Chunks by their nodes' questions alone, or answers alone."""
    return _ranked(batch, batch.searcher.held(pair_vectors, column), batch.graph.nodes.owner)


def rank_sentences(batch: Batch) -> Ranking:
    """Chunks by their sentences in place of generated pairs."""
    return _ranked(batch, *batch.searcher.held(sentence_vectors))


def _ranked(batch: Batch, vectors: Floats, owner: Positions) -> Ranking:
    """Chunks by the score of those of their nodes that are among the `n` nearest of the question."""
    settings = batch.settings.graph
    neighbours = batch.nearest_of(Keyed(pa.nulls(len(vectors)), vectors, owner), max(1, min(settings.n, len(vectors))))
    question, rank = np.nonzero(neighbours.positions >= 0)
    node = neighbours.positions[question, rank]
    chunks = len(batch.graph.chunks.keys)
    return Ranking(grouped(question, owner[node], neighbours.similarities[question, rank], chunks, settings.score))


def pair_texts(searcher: Searcher, column: str) -> list[str]:
    """The `question` or `answer` of each node as it is searched, in the order of the nodes."""
    queries = searcher.queries
    at = positions_among(queries["query_id"].combine_chunks(), searcher.graph.nodes.keys)
    return [searcher.form(str(text)) for text in queries[column].take(pa.array(at)).to_pylist()]


def pair_vectors(searcher: Searcher, column: str) -> Floats:
    """Vectors of the nodes' `question` or `answer` alone."""
    return encoded(searcher.embedder, pair_texts(searcher, column))


def sentence_vectors(searcher: Searcher) -> tuple[Floats, Positions]:
    """Vectors of the sentences of all chunks, and the position of each one's chunk."""
    of_chunk = [sentences(t) for t in searcher.graph.chunk_column("text").to_pylist()]
    owner = np.repeat(np.arange(len(of_chunk)), [len(c) for c in of_chunk])
    searched = [searcher.form(sentence) for chunk in of_chunk for sentence in chunk]
    return encoded(searcher.embedder, searched), owner


def encoded(embedder: Embedder, texts: Sequence[str]) -> Floats:
    """Vectors of `texts`, each different text embedded once; shape (texts, d)."""
    column = pa.array(texts, pa.string()).dictionary_encode()
    distinct = embedder.encode(column.dictionary.to_pylist())
    return np.asarray(distinct[column.indices.to_numpy()], dtype=np.float32)


RECIPES: Final = (
    Recipe("nodes-q", "Generated questions alone as nodes.", partial(rank_pairs, column="question")),
    Recipe("nodes-a", "Answers alone as nodes.", partial(rank_pairs, column="answer")),
    Recipe("nodes-sentence", "The chunks' sentences as nodes.", rank_sentences),
)
