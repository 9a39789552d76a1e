"""What a group of settings is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Cosine = Annotated[float, Field(ge=-1.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
Device = Annotated[str, Field(pattern=r"^(cpu|cuda(:\d+)?)$")]
ModelName = Annotated[
    str, AfterValidator(lambda name: str(Path(name).absolute()) if name and Path(name).is_dir() else name)
]
"""A name of a model, or its folder, whose path holds from everywhere."""
Folder = Annotated[str, AfterValidator(lambda folder: str(Path(folder).absolute()) if folder else folder)]
"""A folder, or none: its path holds from everywhere, also when the snapshot is searched from another directory."""
HOW: dict[str, Any] = {"changes_results": False}
"""Said of a setting of how work is done: no result depends on it, so no fingerprint does."""


def setting(default: Any, meaning: str, *, how: bool = False, **limits: Any) -> Any:
    """A setting with its default and meaning; on one of `how` no result depends; `limits` are those of pydantic."""
    return Field(default, description=meaning, json_schema_extra=HOW if how else None, **limits)


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
