"""What a search of sources gives: the sources proposed for a question, each with what its validation found."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ProposedBy = Literal["generator", "found"]


class SourceEvidence(BaseModel):
    """A sentence of a source that answers."""

    model_config = ConfigDict(frozen=True)

    chunk_id: str  # The chunk that has it.
    doc_id: str
    url: str | None  # Address of its page, if it has one.
    title: str | None  # Title of the page.
    text: str  # The sentence.


class RatedSource(BaseModel):
    """A source that was proposed for a question."""

    model_config = ConfigDict(frozen=True)

    site: str  # Host name without `www.`, or the key that documents give.
    name: str  # Its name.
    home_url: str | None  # Its home page.
    proposed_by: list[ProposedBy]  # What proposed it.
    known: bool  # Whether there is a source of that name: the pool has it, or its home page says it.
    accessible: bool  # Whether its pages can be had: in the index, or where `sourcing.online` allows it by asking.
    consistent: bool  # Whether name and address belong together.
    answers: bool  # Whether its evidence is valid.
    score: float  # Of its evidence, `1 + P(yes)` or `1 - P(no)`.
    probability: float  # That its evidence answers.
    why_not: str | None = None  # Why it is not taken; None where it is.
    evidence: list[SourceEvidence] = Field(default_factory=list)  # The sentences that answer.


class FoundSources(BaseModel):
    """The sources of a question."""

    query_id: str
    question: str
    intents: list[str]  # The queries by which they were sought.
    sources: list[RatedSource]  # All that were proposed, those that answer first, best first.
    rounds: int = 0  # How often replacements were asked for.

    @property
    def valid(self) -> list[RatedSource]:
        """The sources that answer, best first."""
        return [source for source in self.sources if source.answers]
