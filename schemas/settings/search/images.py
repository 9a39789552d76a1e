"""Group `images`: which images stand beside an answer, and where."""

from __future__ import annotations

from pydantic import Field

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
    fetch: bool = Field(
        False,
        description="Whether the images of answers are fetched, as the crawler fetches pages, for the report to show "
        "them; else it names them with a link, and nothing is loaded.",
    )
