"""What a group of settings is."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]


class Group(BaseModel):
    """A group of settings: closed, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)
