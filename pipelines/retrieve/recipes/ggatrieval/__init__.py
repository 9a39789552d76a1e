"""GGatrieval: rounds that look for chunks which match every constituent of a question in one place.

The rounds begin with what `bridge` finds, whose order is the relevance by which equal labels are sorted.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from quern.indexes.lexical import Scored
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.recipe import Recipe
from quern.pipelines.retrieve.recipes.bridge import rank_bridge
from quern.pipelines.retrieve.recipes.ggatrieval.rounds import Loop, Seeking


def rank_ggatrieval(batch: Batch) -> Ranking:
    """What the last round of each question kept, before what `bridge` ranks."""
    base = rank_bridge(batch)
    loop = Loop(batch)
    sought = loop.sought(base.chunks)
    return Ranking(kept_first(sought), base.reached, [loop.told(s) for s in sought])


def kept_first(sought: list[Seeking]) -> Scored:
    """What was kept of each question in its order, then what its first ranking has in its own.

    A chunk has the score of the place that it comes to, for scores are told, and sub-questions' chunks merged by them.
    """
    question, chunk, score = [], [], []
    for s in sought:
        scores = list(s.relevance.values())
        order = [*dict.fromkeys([*s.kept, *s.relevance])]
        question += [s.question] * len(order)
        chunk += order
        score += scores + [s.least] * (len(order) - len(scores))
    return Scored(
        np.array(question, dtype=np.int64), np.array(chunk, dtype=np.int64), np.array(score, dtype=np.float32)
    )


RECIPES: Final = (
    Recipe("ggatrieval", "GGatrieval: rounds that select chunks which match a question's parts.", rank_ggatrieval),
)
