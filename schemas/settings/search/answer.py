"""Group `answer`: how an answer is composed."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class AnswerSettings(Group):
    """Answers by rules."""

    sentences: Positive = Field(3, description="Most sentences that carry the short answer.")
    risk: float = Field(
        0.31,
        ge=0,
        le=1,
        description="Accepted probability that the evidence does not answer; where it is higher, nothing is answered.",
    )
    reading: float = Field(
        0.6,
        ge=0,
        description="Weight, as log odds, of what the trained reader says of the likeliest sentences beside the rules; "
        "0 for the rules alone, which spares its loading (some half a second) and some 40 ms of one core a question.",
    )
    verified: float = Field(
        0.5,
        ge=0,
        description="Weight, as log odds, of what of a question the first chunk of a search with verification matches "
        "(recipe `ggatrieval`), in judging whether it is answered; 0 for none.",
    )
    compared: int = Field(
        3,
        ge=0,
        description="Sentences of the evidence, the likeliest of each question, whose vectors are compared with the "
        "question's to judge it; 0 spares their embedding, some 3 ms each, and tells answerable questions less well.",
    )
    triplets: int = Field(
        0,
        ge=0,
        description="Most triplets that a model is given beside the passages, those nearest to the question first "
        "(TAG: GraTAG, section 3.3); 0 for none. The paper weighs them by a net that is trained for it, which is not.",
    )
