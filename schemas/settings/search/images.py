"""Group `images`: which images stand beside an answer, and where."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator

from quern.schemas.setting_group import Group, Share


class ImageSettings(Group):
    """Images beside answers (Xinyu, section 3.6.3)."""

    most: int = Field(4, ge=0, description="Most images of an answer; 0 for none.")
    relevance: Share = Field(
        0.3, description="Likeness of question and description below which an image is left out (Xinyu)."
    )
    threshold: Share = Field(
        0.3, description="Likeness of sentence and image below which the image has no place (Xinyu's tables: .1 to .5)."
    )
    clip: str = Field(
        "",
        description="Folder of a CLIP model that compares sentences with images that were fetched (`images.fetch`); "
        "'' for none: then what is said of them is compared.",
    )
    fetch: bool = Field(
        False,
        description="Whether the images of answers are fetched, as the crawler fetches pages, for the report to show "
        "them; else it names them with a link, and nothing is loaded.",
    )

    @field_validator("clip")
    @classmethod
    def _absolute(cls, clip: str) -> str:
        """A path holds from everywhere, also when the snapshot is searched from another directory."""
        return str(Path(clip).absolute()) if clip else clip
