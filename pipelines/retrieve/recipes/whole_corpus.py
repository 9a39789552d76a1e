"""Questions about a whole corpus: themes, summaries, changes, comparisons, from the communities of the graph."""

from __future__ import annotations

from typing import Final

from quern.pipelines.retrieve.batch import Recipe
from quern.pipelines.retrieve.overview.answers import answer_global, rank_global

RECIPES: Final = (
    Recipe(
        "global",
        "Communities of the graph, for questions about the whole corpus (From Local to Global, arXiv 2404.16130).",
        rank_global,
        answer_global,
    ),
)
