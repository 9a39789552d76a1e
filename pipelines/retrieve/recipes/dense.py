"""Naive RAG: chunks by the cosine of their vectors with the question's."""

from __future__ import annotations

from typing import Final

from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.recipe import Recipe


def rank_dense(batch: Batch) -> Ranking:
    """Chunks by cosine with the question."""
    return Ranking(batch.dense)


RECIPES: Final = (Recipe("dense", "Naive RAG: chunk vectors, cosine.", rank_dense),)
