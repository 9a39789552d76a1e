"""Group `rerank`: the model that reads question and chunk together."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator

from quern.schemas.setting_group import HOW, Group, Positive


class RerankSettings(Group):
    """Reranking by a cross-encoder (Xinyu AI Search, section 3.4); without a model the fusion's order stays."""

    model: str = Field(
        "",
        description="Cross-encoder of one score, such as `BAAI/bge-reranker-v2-m3`: a name or a folder; '' for none.",
    )
    device: str = Field(
        "cpu", pattern=r"^(cpu|cuda(:\d+)?)$", description="Where it runs: `cpu`, or a GPU as `cuda` or `cuda:1`."
    )
    depth: Positive = Field(50, description="Chunks of a question that it reads, the best of the fusion.")
    max_tokens: Positive = Field(512, description="Longest pair of question and chunk it is given; chunks are cut.")
    batch: int = Field(
        0, ge=0, description="Most pairs in one call of the model; 0 for 16, on GPUs 256.", json_schema_extra=HOW
    )

    @field_validator("model")
    @classmethod
    def _absolute(cls, model: str) -> str:
        """A path holds from everywhere, also when the snapshot is searched from another directory."""
        return str(Path(model).absolute()) if model and Path(model).is_dir() else model
