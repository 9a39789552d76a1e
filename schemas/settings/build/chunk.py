"""Group `chunk`: how documents are cut."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class ChunkSettings(Group):
    """Cutting documents into chunks."""

    tokens: Positive = Field(
        350, description="Most tokens of a chunk, of the embedder's tokenizer (Xinyu, section 3.4)."
    )
    overlap: float = Field(
        0.25, ge=0.0, lt=0.9, description="Share of a chunk that repeats the one before (Xinyu, section 3.4)."
    )
    max_characters: Positive = Field(
        4000,
        description="Most characters of a chunk, where its tokens are long, as in text without spaces. Over twice the "
        "longest chunk of 350 tokens in the sample corpus, LiHua-World, MuSiQue and CMRC 2018 (1,781).",
    )
