"""Group `sources`: what is kept of the sites that documents come from."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class SourceSettings(Group):
    """What is kept of the sites that documents come from (Know Where to Go)."""

    topics: Positive = Field(12, description="Most topics of a source.")
    ratings: str = Field(
        "", description="CSV file of domains and their ratings from 0 to 1, with a header; none where it is empty."
    )
