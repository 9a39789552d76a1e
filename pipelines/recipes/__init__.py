"""Retrieval recipes, run over a whole batch of questions.

No recipe loops over questions or nodes: search is one matrix product per batch, widening and walking are sparse
products, chunk scores segmented reductions.
"""

from pipelines.recipes.batch import Batch, Searcher
from pipelines.recipes.fusion import fuse
from pipelines.recipes.ranking import Ranking, Reached, chunk_scores, cut
from pipelines.recipes.registry import DEFAULT, RECIPES, Recipe, RecipeError, find_recipes, rank_qcg

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
