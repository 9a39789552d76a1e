"""Group `align`: how a question's constituents are matched with what was found."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group

ParserName = Literal["auto", "spacy", "lac", "shallow"]
"""What parses questions."""


class AlignSettings(Group):
    """Fine-grained alignment of a question and its evidence (GGatrieval, FGA)."""

    parser: ParserName = Field(
        "auto",
        description="What parses questions: `spacy` (English) or `lac` (Chinese) of the extra `parse`, `shallow` "
        "of our own; `auto` takes LAC for Chinese where it is installed, else the shallow one: spaCy aligns English no "
        "better and costs three seconds.",
    )
    hits: int = Field(
        5, ge=0, description="Chunks of an answer, the best, that its question is aligned with; 0 for none."
    )
    model: bool = Field(
        False,
        description="Whether a model that answers aligns too, by one request more a chunk; else the rule does.",
    )
