"""What comes of aligning: matches, what reflection took back, a label and a share."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from quern.jobs.reasoning.alignment.roles import MOST_CONSTITUENTS

How = Literal["stem", "synonym", "entity", "number", "date", "kind", "title", "vector", "model"]
Why = Literal["negated", "other_entity", "other_time"]
Label = Literal["full", "partial", "none"]


class Match(BaseModel):
    """A segment that matches a constituent.

    A model names constituent and sentence; the characters of the segment are found in that sentence.

    Attributes:
        constituent: Place of the constituent in the question, from 0.
        sentence: Number of the sentence that the segment begins in, from 1; 0 where only the title matches.
        start: First character in the chunk; that of the window where only the title matches.
        end: Character after the last; `start` where only the title matches.
        how: What of the segment matches.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    constituent: int = Field(ge=0, description="Number of the constituent.")
    sentence: int = Field(ge=0, description="Number of the sentence that matches it; 0 for the title.")
    start: SkipJsonSchema[int] = Field(0, ge=0)
    end: SkipJsonSchema[int] = Field(0, ge=0)
    how: SkipJsonSchema[How] = "model"


class Dropped(BaseModel):
    """A match that reflection took back, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    constituent: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    why: Why


class Alignment(BaseModel):
    """What of a question one window of a chunk matches (GGatrieval, FGA).

    Attributes:
        matches: In the order of the constituents, at most one each.
        dropped: What was matched at first.
        constituents: How many the question has, |Q|.
        window: First character of the window and the one after its last; None where nothing but a title matches.
        graded: The share, each constituent counting what its match tells; see `task.WEIGHT_ASKED`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    matches: list[Match] = Field(json_schema_extra={"maxItems": MOST_CONSTITUENTS})
    dropped: SkipJsonSchema[list[Dropped]] = []
    constituents: SkipJsonSchema[int] = Field(0, ge=0)
    window: SkipJsonSchema[tuple[int, int] | None] = None
    graded: SkipJsonSchema[float] = Field(0.0, ge=0, le=1)

    @property
    def label(self) -> Label:
        """Full where every constituent has a match, none where none has."""
        if not self.matches:
            return "none"
        return "full" if len(self.matches) >= self.constituents else "partial"

    @property
    def share(self) -> float:
        """Share of the constituents that have a match, |L| / |Q|, in [0, 1]."""
        return len(self.matches) / self.constituents if self.constituents else 0.0
