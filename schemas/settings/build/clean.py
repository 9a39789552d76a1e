"""Group `clean`: how main text and metadata are taken from pages."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class CleanSettings(Group):
    """Main text and metadata of pages."""

    seconds_per_page: float = Field(20.0, gt=0, description="Time limit of one page in its child process, seconds.")
    memory_per_page: Positive = Field(
        2048, description="Address space that the child process may add while parsing, MiB."
    )
    seconds_per_file: float = Field(
        120.0, gt=0, description="Time limit of one PDF or DOCX file in its child process, seconds."
    )
    max_pages: Positive = Field(5_000, description="A PDF file of more pages is rejected as `too_long`.")
    min_characters: int = Field(
        60,
        ge=0,
        description="A page whose main text is shorter is rejected as `no_text`; a Chinese, Japanese or Korean "
        "character counts four.",
    )
    max_characters: Positive = Field(5_000_000, description="A longer main text is rejected as `too_long`.")
