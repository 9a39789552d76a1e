"""What a group of settings is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
Folder = Annotated[str, AfterValidator(lambda folder: str(Path(folder).absolute()) if folder else folder)]
"""A folder, or none: its path holds from everywhere, also when the snapshot is searched from another directory."""
HOW: dict[str, Any] = {"changes_results": False}
"""Said of a setting of how work is done (`json_schema_extra=HOW`): no result depends on it, so no fingerprint does."""


class Group(BaseModel):
    """A group of settings: closed, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def no_result_of(cls, name: str) -> bool:
        """Whether the setting changes no result."""
        return cls.model_fields[name].json_schema_extra == HOW

    def results(self) -> dict[str, Any]:
        """The settings that results depend on: what fingerprints are made of."""
        return self.model_dump(
            mode="json", exclude={name for name in type(self).model_fields if self.no_result_of(name)}
        )
