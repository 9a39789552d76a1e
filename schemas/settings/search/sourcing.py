"""Group `sourcing`: how sources that may answer a question are sought and validated."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class SourcingSettings(Group):
    """How sources that may answer a question are sought and validated (Know Where to Go)."""

    intents: int = Field(2, ge=1, le=5, description="Most intents of a question, each with a query of its own.")
    names: int = Field(1, ge=1, le=5, description="Most sources that the generator names for each intent.")
    found: int = Field(3, ge=0, description="Sites of the best chunks that are proposed beside (online optimizer).")
    rounds: int = Field(
        1,
        ge=0,
        le=5,
        description="Times that replacements are asked for where none is valid (self-critical optimizer).",
    )
    pages: Positive = Field(3, description="Pages of a source that are read for a query, the best first.")
    windows: Positive = Field(5, description="Chunks of these pages that are weighed.")
    valid: float = Field(
        1.7, ge=0, le=2, description="Score above which evidence is valid: 1 + P(yes), or 1 - P(no) where it is no."
    )
    online: bool = Field(
        False, description="Whether home pages are asked for, by the crawler's guarded fetcher and `crawl` settings."
    )
    links: Positive = Field(3, description="Most seeds for one unanswered question.")
    seeds: Positive = Field(1000, description="Most seeds of a run.")
