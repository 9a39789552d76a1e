"""Group `ingest`: how files of pages are read."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import HOW, Group, Positive


class IngestSettings(Group):
    """Reading of folders, JSONL and WARC files."""

    max_page_bytes: Positive = Field(
        10_000_000, description="Largest page in bytes, decompressed; larger ones are rejected."
    )
    max_ratio: Positive = Field(
        200, description="Largest decompressed/compressed ratio of a compressed file over 1 MB."
    )
    task_bytes: Positive = Field(
        64 << 20,
        description="Bytes of files that one task reads; larger archives are split at their records.",
        json_schema_extra=HOW,
    )
