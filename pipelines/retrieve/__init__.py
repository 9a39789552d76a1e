"""Retrieval recipes, run over a whole batch of questions.

No recipe loops over questions or nodes: search is one matrix product per batch, widening and walking are sparse
products, chunk scores segmented reductions.
"""

from quern.pipelines.retrieve.batch import Batch, Searcher
from quern.pipelines.retrieve.fusion import fuse
from quern.pipelines.retrieve.ranking import Ranking, Reached, chunk_scores, cut
from quern.pipelines.retrieve.recipes import DEFAULT, RECIPES, Recipe, RecipeError, find_recipes, rank_qcg

__all__ = [
    "DEFAULT",
    "RECIPES",
    "Batch",
    "Ranking",
    "Reached",
    "Recipe",
    "RecipeError",
    "Searcher",
    "chunk_scores",
    "cut",
    "find_recipes",
    "fuse",
    "rank_qcg",
]
