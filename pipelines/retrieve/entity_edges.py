"""`shared_name` and `relation` edges: from a question's best chunks to others that name the same entity.

The graph has them where `link.shared_names` or `link.relations` asks for them. Entities have all forms of their names,
which a search by the words of one form (`shared_names`) has not. What an edge joins by the question may have named
itself, so that a chunk gains nothing by an edge unless it holds words of the question that the other lacks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from quern.indexes.lexical import Scored, ranges
from quern.indexes.vectors import Positions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.joined_chunks import Joined, best_chunks, raised, strongest, weighed
from quern.pipelines.retrieve.ranking import Ranking, with_edges


def with_entity_edges(batch: Batch, ranking: Ranking) -> Ranking:
    """`ranking`, where chunks gain that an edge leads to from one of the best; both ends of it are reached.

    A chunk gains `retrieve.weight_name_edges`, or `retrieve.weight_relation_edges`, x the similarity of the edge / the
    rank of the document that it leaves from x the share of the question's words which that one lacks that it holds.
    """
    settings = batch.settings.retrieve
    if "graph" not in settings.sources or not len(ranking.chunks.question):
        return ranking
    for weight, edges in (
        (settings.weight_name_edges, batch.graph.shared_names),
        (settings.weight_relation_edges, batch.graph.relations),
    ):
        if weight and edges.nnz:
            ranking = _followed(batch, ranking, edges, weight)
    return ranking


@dataclass(frozen=True)
class _Followed(Joined):
    """Chunks that edges lead to; arrays of one length.

    Attributes:
        start: Node that the edge leaves from.
        end: Node that it leads to.
    """

    start: Positions
    end: Positions


def _followed(batch: Batch, ranking: Ranking, edges: sparse.csr_array, weight: float) -> Ranking:
    """`ranking` with what `edges` between nodes add to it."""
    joined = strongest(weighed(batch, _joined(batch, ranking.chunks, edges), 0.0))
    joined = joined.some(np.flatnonzero(joined.strength > 0))
    chunks = raised(batch, ranking.chunks, joined, weight)
    nodes = batch.graph.nodes.vectors
    reached = ranking.reached and with_edges(
        ranking.reached, joined.question, joined.start, joined.end, batch.vectors, nodes
    )
    return Ranking(chunks, reached, ranking.searches)


def _joined(batch: Batch, scored: Scored, edges: sparse.csr_array) -> _Followed:
    """All chunks that edges lead to from nodes of the best chunks."""
    best, owner = best_chunks(batch, scored), batch.graph.nodes.owner
    by_chunk = np.argsort(owner, kind="stable")
    row, place = ranges(
        np.searchsorted(owner[by_chunk], best.chunk), np.searchsorted(owner[by_chunk], best.chunk, side="right")
    )
    start = by_chunk[place]
    again, edge = ranges(edges.indptr[start].astype(np.int64), edges.indptr[start + 1].astype(np.int64))
    row, start, end = row[again], start[again], edges.indices[edge].astype(np.int64)
    allowed = batch.allows(best.question[row], owner[end])
    row, start, end, edge = row[allowed], start[allowed], end[allowed], edge[allowed]
    strength = edges.data[edge].astype(np.float64) / (1.0 + best.rank[row])
    return _Followed(best.question[row], best.chunk[row], owner[end], strength, best.score[row], start, end)
