"""What a recipe is: a way to rank chunks, as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking


@dataclass(frozen=True)
class Recipe:
    """A way to rank chunks.

    Attributes:
        name: Name on the command line.
        citation: Where it comes from.
        rank: Ranks the chunks for a batch of questions.
    """

    name: str
    citation: str
    rank: Callable[[Batch], Ranking]
