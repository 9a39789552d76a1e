"""Group `answer`: how an answer is composed."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class AnswerSettings(Group):
    """Answers by the reader or a language model."""

    sentences: Positive = Field(3, description="Most sentences that carry the short answer.")
    risk: float = Field(
        0.45,
        ge=0,
        le=1,
        description="Accepted probability that the evidence does not answer; where it is higher, nothing is answered.",
    )
    windows: int = Field(
        2,
        ge=0,
        le=8,
        description="Windows of likely lines that the trained reader reads of each question; with more than one the "
        "best lines are read once more together. A window takes some 0.1 s of one core. 0 for none: then the lines "
        "that share the most words with the question answer, and the reader is not loaded.",
    )
    shown: int = Field(
        0,
        ge=0,
        description="Sentences of the evidence that a language model is shown, the likeliest, each with the one before "
        "it; 0 for all.",
    )
    verified: float = Field(
        0.5,
        ge=0,
        description="Weight, as log odds, of what of a question the first chunk of a search with verification matches "
        "(recipe `ggatrieval`), in judging whether it is answered; 0 for none.",
    )
    triplets: int = Field(
        0,
        ge=0,
        description="Most triplets that a model is given beside the passages, those nearest to the question first "
        "(TAG: GraTAG, section 3.3); 0 for none. The paper weighs them by a net that is trained for it, which is not.",
    )
