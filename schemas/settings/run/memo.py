"""Group `memo`: how long results of jobs are remembered that no build uses any more."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class MemoSettings(Group):
    """How long results of jobs are remembered that no build uses any more; changes no result."""

    keep_nights: Positive = Field(
        14,
        description="Results that none of so many published builds, the newest, used are forgotten; what was committed "
        "or asked for since stays. `quern vacuum` and each build that is published see to it.",
    )
    max_bytes: int = Field(
        0,
        ge=0,
        description="Bytes of the memo beyond which the least recently used results are forgotten earlier, but for "
        "those of the published snapshot; 0 for no limit.",
    )
