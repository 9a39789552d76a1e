"""Group `answer`: how an answer is composed."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class AnswerSettings(Group):
    """Answers by rules."""

    sentences: Positive = Field(3, description="Most sentences of an answer.")
    min_score: float = Field(
        0.42, ge=0, le=1, description="Evidence below this is too weak: the answer is that the corpus does not say."
    )
    risk: float = Field(
        0.27,
        ge=0,
        le=1,
        description="Accepted probability that the evidence does not answer; where it is higher, nothing is answered.",
    )
