"""Group `embed`: the model that makes vectors of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from quern.schemas.setting_group import HOW, Group, Positive


class EmbedSettings(Group):
    """The embedding model."""

    model: str = Field(
        "all-MiniLM-L6-v2", description="sentence-transformers model: the packaged default, a name or a path."
    )
    engine: Literal["openvino", "torch", "flag"] = Field(
        "openvino", description="What runs the model; `flag` is FlagEmbedding, for BGE and the dense vectors of BGE-M3."
    )
    device: str = Field(
        "cpu",
        pattern=r"^(cpu|cuda(:\d+)?)$",
        description="Where torch and flag run: `cpu`, or a GPU as `cuda` or `cuda:1`.",
    )
    precision: Literal["f32", "bf16", "f16", "int8", "int8_f32"] = Field(
        "f32",
        description="`f32` runs on every processor. The others are faster where the processor has arithmetic for them, "
        "see docs/howto/models.md; `f16` is for GPUs.",
    )
    max_tokens: Positive = Field(512, description="Longest text the model is given, raised from MiniLM's 256.")
    batch: int = Field(
        0, ge=0, description="Most texts in one call of the model; 0 for 32, on GPUs 1,024.", json_schema_extra=HOW
    )
    threads: int = Field(0, ge=0, description="Threads of one worker; 0 for all cores.")

    @field_validator("model")
    @classmethod
    def _absolute(cls, model: str) -> str:
        """A path holds from everywhere, also when the snapshot is searched from another directory."""
        return str(Path(model).absolute()) if Path(model).is_dir() else model
