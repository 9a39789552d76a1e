"""Group `events`: what chunks report to have happened, and when two reports are of one event."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class EventSettings(Group):
    """Events that chunks report, and their merging (Xinyu, section 3.6.2)."""

    by_model: bool = Field(
        False,
        description="Whether what `generator` names finds events too, not queries alone; else the rule does. A model "
        "is asked once more for each chunk.",
    )
    per_chunk: Positive = Field(4, description="Most events of a chunk.")
    title_words: Positive = Field(20, description="Most words of an event's title; of Chinese the characters.")
    same: float = Field(
        0.9,
        gt=0.0,
        lt=1.0,
        description="Cosine of two events above which they are one, where their dates do not contradict (Xinyu, "
        "section 3.6.2).",
    )
