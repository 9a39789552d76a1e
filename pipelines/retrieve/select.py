"""Selection: of what was ranked, what is given to the answer (Xinyu AI Search: deduplication and reranking)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Floats
from quern.jobs.models.cross_encoder import CrossEncoder
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking, cut, ranks


def selected(batch: Batch, ranking: Ranking) -> Ranking:
    """`ranking` without chunks that repeat a better one, in the order of the cross-encoder where there is one.

    Of a question's chunks, best first, one is left out whose cosine with one that was kept is above
    `retrieve.deduplicate_above`. With `rerank.model` the `rerank.depth` best that are left are ranked by it, and the
    others left out.
    """
    retrieve, rerank = batch.settings.retrieve, batch.settings.rerank
    # What is left must fill `top_k` places where some are left out.
    depth = max(4 * retrieve.top_k, 2 * rerank.depth if rerank.model else 0)
    chunks = deduplicated(ranking.chunks, batch.graph.chunks.vectors, len(batch), depth, retrieve.deduplicate_above)
    return replace(ranking, chunks=_reranked(batch, cut(chunks, len(batch), rerank.depth)) if rerank.model else chunks)


def deduplicated(scored: Scored, vectors: Floats, questions: int, depth: int, above: float) -> Scored:
    """`scored` without chunks whose cosine with a better one that is kept is over `above`.

    The largest set without such pairs is NP-hard to find (maximum independent set); this is the greedy one. It is
    looked for among the `depth` best chunks of a question; the others stay.

    Args:
        scored: Scores of chunks.
        vectors: Vectors of the chunks.
        questions: Number of questions.
        depth: Chunks of each question that are compared.
        above: Greatest cosine of two chunks that are kept; 1 for any.
    """
    if above >= 1.0 or not len(scored.question):
        return scored
    rank = ranks(scored, questions)
    head = np.flatnonzero(rank < depth)
    chunk = np.full((questions, depth), -1, dtype=np.int64)
    chunk[scored.question[head], rank[head]] = scored.chunk[head]
    kept = chunk >= 0
    for question in np.flatnonzero(kept.any(axis=1)).tolist():  # A product of a few vectors each.
        mine = vectors[chunk[question][chunk[question] >= 0]]
        alike = mine @ mine.T > above
        for place in np.flatnonzero(np.tril(alike, -1).any(axis=1)).tolist():
            kept[question, place] = not (alike[place, :place] & kept[question, :place]).any()
    stays = np.ones(len(scored.question), dtype=np.bool_)
    stays[head] = kept[scored.question[head], rank[head]]
    return Scored(scored.question[stays], scored.chunk[stays], scored.score[stays])


def _reranked(batch: Batch, scored: Scored) -> Scored:
    """`scored` by the cross-encoder's score of each question with the title and text of each chunk."""
    keys = batch.graph.chunks.keys.take(pa.array(scored.chunk)).to_pylist()
    rows = batch.searcher.snapshot.table("chunks").lookup("chunk_id", sorted(set(keys)), ["chunk_id", "title", "text"])
    text = {r["chunk_id"]: f"{r['title']}\n{r['text']}" if r["title"] else r["text"] for r in rows.to_pylist()}
    model = CrossEncoder.load(batch.settings.rerank)
    scores = model.scores([batch.questions[q] for q in scored.question.tolist()], [text[key] for key in keys])
    return in_order(scored.question, scored.chunk, scores)
