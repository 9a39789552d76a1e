"""Rounds of looking for evidence, as an answer tells of them (GGatrieval, the loop of its search)."""

from __future__ import annotations

from pydantic import BaseModel, Field

from quern.schemas.arrow_models import Int32


class SearchRound(BaseModel):
    """One round: what was looked for, what it brought, and whether that answers.

    Attributes:
        queries: What was looked for.
        candidates: Chunks that were compared with the question.
        full: How many of them match every constituent of the question in one place.
        partial: How many match some.
        kept: The `chunk_id` of those that were selected, best first.
    """

    queries: list[str]
    candidates: Int32
    full: Int32
    partial: Int32
    kept: list[str]


class Search(BaseModel):
    """All rounds of a question, and why there were no more.

    Attributes:
        stop: `verified`: what was kept answers; `rounds`: no more are allowed; `same_candidates`: a round brought
            nothing that was not seen before; `no_queries`: nothing was missing that could be looked for, or nothing
            is to be.
        missing: What of the question none of the kept chunks matches.
    """

    rounds: list[SearchRound]
    stop: str
    missing: list[str] = Field(default_factory=list)

    @property
    def verified(self) -> bool:
        """Whether what was kept was found to answer the question."""
        return self.stop == "verified"
