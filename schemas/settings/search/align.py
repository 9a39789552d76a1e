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
        description="What parses questions: `spacy` (English) or `lac` (Chinese) of the extra quern[parse], `shallow` "
        "of our own; `auto` takes the shallow one for a few questions and a parser that is installed for many.",
    )
