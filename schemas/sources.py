"""What a search of sources gives: the sources proposed for a question, each with what its validation found."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ProposedBy = Literal["generator", "found"]


class SourceEvidence(BaseModel):
    """A sentence of a source that answers.

    Attributes:
        chunk_id: The chunk that has it.
        url: Address of its page, if it has one.
        title: Title of the page.
        text: The sentence.
    """

    model_config = ConfigDict(frozen=True)

    chunk_id: str
    doc_id: str
    url: str | None
    title: str | None
    text: str


class RatedSource(BaseModel):
    """A source that was proposed for a question.

    Attributes:
        site: Host name without `www.`, or the key that documents give.
        name: Its name.
        home_url: Its home page.
        proposed_by: What proposed it.
        known: Whether there is a source of that name: the pool has it, or its home page says it.
        accessible: Whether its pages can be had: in the index, or where `sourcing.online` allows it by asking.
        consistent: Whether name and address belong together.
        answers: Whether its evidence is valid.
        score: Of its evidence, `1 + P(yes)` or `1 - P(no)`.
        probability: That its evidence answers.
        why_not: Why it is not taken; None where it is.
        rating: Its rating, where `sources.ratings` has one.
        evidence: The sentences that answer.
    """

    model_config = ConfigDict(frozen=True)

    site: str
    name: str
    home_url: str | None
    proposed_by: list[ProposedBy]
    known: bool
    accessible: bool
    consistent: bool
    answers: bool
    score: float
    probability: float
    why_not: str | None = None
    rating: float | None = None
    evidence: list[SourceEvidence] = Field(default_factory=list)


class FoundSources(BaseModel):
    """The sources of a question.

    Attributes:
        intents: The queries by which they were sought.
        sources: All that were proposed, those that answer first, best first.
        rounds: How often replacements were asked for.
    """

    query_id: str
    question: str
    intents: list[str]
    sources: list[RatedSource]
    rounds: int = 0

    @property
    def valid(self) -> list[RatedSource]:
        """The sources that answer, best first."""
        return [source for source in self.sources if source.answers]
