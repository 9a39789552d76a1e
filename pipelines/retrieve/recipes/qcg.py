"""Retrieval in the query-centric graph (QCG-RAG, arXiv 2509.21237, section 3.4), and its published variants."""

from __future__ import annotations

from functools import partial
from typing import Final

from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.ranking import Ranking, grouped

_PAPER: Final = "QCG-RAG, arXiv 2509.21237, section 3.4"


def rank_qcg(batch: Batch, hops: int | None = None, score: str | None = None) -> Ranking:
    """Chunks by the similarities of their reached nodes, by default with the hops and the score of the settings.

    Ties beyond `n` go to the lower key; edges are followed in their own direction.
    """
    reached = batch.reached if hops is None else batch.widened(hops)
    owner, chunks = batch.graph.nodes.owner[reached.node], len(batch.graph.chunks.keys)
    chosen = score or batch.settings.graph.score
    return Ranking(grouped(reached.question, owner, reached.similarity, chunks, chosen), reached)


RECIPES: Final = (
    Recipe("qcg", f"{_PAPER}.", rank_qcg),
    Recipe("qcg-h0", f"{_PAPER}, without widening.", partial(rank_qcg, hops=0)),
    Recipe("qcg-h1", f"{_PAPER}, one hop.", partial(rank_qcg, hops=1)),
    Recipe("qcg-h2", f"{_PAPER}, two hops.", partial(rank_qcg, hops=2)),
    Recipe("qcg-max", f"{_PAPER}, a chunk by its best node.", partial(rank_qcg, score="max")),
    Recipe("qcg-sum", f"{_PAPER}, a chunk by the sum of its nodes.", partial(rank_qcg, score="sum")),
)
