"""Baselines: chunks by cosine, by BM25, and by BM25 over text with generated questions appended."""

from __future__ import annotations

from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.keys import positions_in
from quern.indexes.lexical import LexicalIndex
from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.words.terms import search_terms


def rank_expanded(batch: Batch, *, kept: bool) -> Ranking:
    """Chunks by BM25 over their text with their generated questions appended."""
    index = batch.searcher.held(expanded_index, kept=kept)
    return Ranking(index.search(batch.terms, batch.settings.retrieve.depth, batch.allows))


def expanded_index(searcher: Searcher, *, kept: bool) -> LexicalIndex:
    """Full-text search over chunks with their generated questions appended (Doc2Query, arXiv 1904.08375).

    With `kept` only those that the filter kept (Doc2Query--, arXiv 2301.03266).
    """
    graph, queries = searcher.graph, searcher.queries
    rows = queries.filter(queries["kept"]) if kept else queries
    chunk = positions_in(graph.chunks.keys, rows["chunk_id"])
    added: list[list[str]] = [[] for _ in range(len(graph.chunks.keys))]
    for at, question in zip(chunk.tolist(), rows["question"].to_pylist(), strict=True):
        if at >= 0:
            added[at].append(search_terms(searcher.form(question)))
    own = pc.fill_null(graph.chunk_column("terms"), "").to_pylist()
    return LexicalIndex(
        [pa.array([" ".join([text, *more]) for text, more in zip(own, added, strict=True)], pa.string())]
    )


RECIPES: Final = (
    Recipe("bm25", "BM25 (Robertson and Walker 1994), k1 = 1.2, b = 0.75.", lambda batch: Ranking(batch.lexical)),
    Recipe("d2q", "Doc2Query, arXiv 1904.08375: BM25 over text and questions.", partial(rank_expanded, kept=False)),
    Recipe("d2q--", "Doc2Query--, arXiv 2301.03266: with kept questions only.", partial(rank_expanded, kept=True)),
    Recipe("dense", "Naive RAG: chunk vectors, cosine.", lambda batch: Ranking(batch.dense)),
)
