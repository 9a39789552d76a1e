"""Group `audit`: what a build must pass before it is published."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive, Share


class AuditSettings(Group):
    """What a build must pass before it is published."""

    engine: Literal["arrow", "spark"] = Field(
        "arrow", description="What computes: `arrow` streams in this process, `spark` for tables too large for that."
    )
    max_reject_share: Share = Field(
        0.5,
        description="Largest share of a job's input, and of all pages, that may be rejected; a warning. Critical where "
        "all is rejected, or where the share that is kept fell by more than this against the published snapshot.",
    )
    max_shrink: Share = Field(
        0.5, description="Largest share of documents that a build may lose against the published snapshot; critical."
    )
    max_row_change: Share = Field(
        0.5, description="Largest change of a table's rows against the published snapshot, as a share; a warning."
    )
    max_duplicates: Share = Field(
        0.5, description="Largest share of documents that repeat another; a warning (web crawls have 20 to 40 %)."
    )
    max_unknown_language: Share = Field(
        0.2, description="Largest share of documents whose language is not known; a warning."
    )
    languages: tuple[str, ...] = Field((), description="Languages that documents should have, ISO 639-1; empty: any.")
    max_other_language: Share = Field(
        0.1, description="Largest share of documents in none of `languages`, where those are given; a warning."
    )
    min_median_characters: int = Field(100, ge=0, description="Least median length of documents; a warning.")
    max_median_characters: Positive = Field(50_000, description="Largest median length of documents; a warning.")
    max_p95_characters: Positive = Field(
        500_000, description="Largest length that 95 % of documents do not exceed; a warning."
    )
    min_link_recall: Share = Field(
        0.98,
        description="Least share of true neighbours that a graph built by partitions may find, on a sample; critical.",
    )
    earliest_year: int = Field(
        1, ge=1, le=9999, description="Dates before this year are doubtful, as are those after tomorrow; a warning."
    )
    keep_snapshots: Positive = Field(7, description="Snapshots kept; older ones are pruned after a build.")
