"""Naive RAG: chunks by the cosine of their vectors with the question's."""

from __future__ import annotations

from typing import Final

from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.ranking import Ranking


def rank_dense(batch: Batch) -> Ranking:
    """Chunks by cosine with the question."""
    return Ranking(batch.dense)


RECIPES: Final = (Recipe("dense", "Naive RAG: chunk vectors, cosine.", rank_dense),)
