"""Group `question`: what happens to a question before anything is looked for."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive

Category = Literal[
    "illegal_content",
    "ethical_violations",
    "privacy_breaches",
    "harmful_intent",
    "professional_consultations",
    "human_ai_interactions",
    "misinformation",
    "technical_inquiries",
    "academic_requests",
    "planning_and_consulting",
    "creative_content",
]
"""What a question may be refused as (Xinyu AI Search, section on query preprocessing)."""


class QuestionSettings(Group):
    """What happens to a question before anything is looked for (Xinyu AI Search, query preprocessing)."""

    refused: tuple[Category, ...] = Field(
        ("illegal_content", "ethical_violations", "privacy_breaches", "harmful_intent"),
        description="Categories of questions that are refused, of the eleven of Xinyu AI Search.",
    )
    rewrite: bool = Field(
        True,
        description="Mend spelling by the words of the corpus, name relative times and parts of names in full, "
        "and set a preamble aside.",
    )
    now: date | None = Field(
        None, description="The day that `last month` counts from; none: the day on which the snapshot was built."
    )
    max_characters: Positive = Field(2000, description="A longer question is rejected.")
