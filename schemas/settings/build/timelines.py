"""Group `timelines`: events of one topic in the order of time."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class TimelineSettings(Group):
    """Timelines by entity, community of the query graph and site (Xinyu, section 3.6.2)."""

    least: int = Field(2, ge=2, description="Events below which a topic has no timeline (released code of Xinyu).")
    most: Positive = Field(200, description="Most events of a timeline: those that most sources report stay.")
    keywords: Positive = Field(8, description="Most keywords of a timeline.")
