"""Group `ingest`: how files of pages are read."""

from __future__ import annotations

from typing import Final

from pydantic import Field, field_validator

from quern.schemas.setting_group import HOW, Group, Positive
from quern.schemas.words.fields import names_of_fields

DOCUMENT_FIELDS: Final = (
    *("doc_id", "text", "url", "title", "author", "site", "site_name", "language"),
    *("published_at", "modified_at"),
)
"""What a document can be given with."""


class IngestSettings(Group):
    """Reading of folders, JSONL and WARC files."""

    max_page_bytes: Positive = Field(
        10_000_000, description="Largest page in bytes, decompressed; larger ones are rejected."
    )
    max_file_bytes: Positive = Field(
        50_000_000, description="Largest PDF or DOCX file in bytes; larger ones are rejected."
    )
    max_ratio: Positive = Field(
        200, description="Largest decompressed/compressed ratio of a compressed file over 1 MB."
    )
    map: tuple[str, ...] = Field(
        (),
        description="What files call the fields of documents: text=body, doc_id=id (`--map text=body,doc_id=id`); "
        "text=subject+body joins two columns by a blank line, other fields are joined by a space; text=document.body "
        'is a field within a field; a column whose name has a comma stands in quotes: doc_id="id, internal".',
    )
    csv_escape: str = Field(
        "",
        pattern=r"^[^\w\s\",;|]?$",
        description="The character before a quote within a cell of CSV (`--csv-escape`), which Spark writes as a "
        "backslash. Unset, a backslash is told from the first rows; quotes may always be doubled.",
    )
    skip_lines: int | None = Field(
        None,
        ge=0,
        description="Lines of CSV and TSV before the header (`--skip-lines`). Unset, the header is the first of 50 "
        "lines that names the fields of documents.",
    )
    day_first: bool | None = Field(
        None,
        description="Whether the day is before the month in 03/05/2024 (`--day-first`, `--month-first`). Unset, such a "
        "day is left out with a warning, unless one of its numbers is over 12. With dots the day is always first.",
    )
    task_bytes: Positive = Field(
        64 << 20,
        description="Bytes of files that one task reads; larger archives are split at their records.",
        json_schema_extra=HOW,
    )

    @field_validator("map")
    @classmethod
    def _known(cls, pairs: tuple[str, ...]) -> tuple[str, ...]:
        """Each names a field of documents, and no name or field stands twice."""
        names_of_fields(pairs, DOCUMENT_FIELDS, "documents")
        return pairs

    @property
    def names(self) -> dict[str, str]:
        """What files call fields, by the names of these; `+` joins several columns, which may stand in quotes."""
        return {name.strip(): called.strip() for name, _, called in (pair.partition("=") for pair in self.map)}
