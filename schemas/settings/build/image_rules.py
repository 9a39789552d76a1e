"""Group `image_rules`: which images of documents may stand beside an answer."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class ImageRuleSettings(Group):
    """What is no picture of anything: too small, or furniture of its site (Xinyu, section 3.6.3)."""

    least_side: Positive = Field(
        250, description="Pixels that each side has, where its size is told (released code of Xinyu)."
    )
    repeated: int = Field(
        4,
        ge=2,
        description="Documents of one site that use an image from which on it belongs to the site: a picture of a "
        "story that goes on stands in two or three.",
    )
