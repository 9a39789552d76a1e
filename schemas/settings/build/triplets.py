"""Group `triplets`: what chunks state, as subject, relation and object."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class TripletSettings(Group):
    """Triplets that chunks state, and the entities that they name (GraTAG, section 3.3)."""

    by_model: bool = Field(
        False,
        description="Whether what `generator` names finds triplets too; else the rule does. A model is asked once more "
        "for each chunk.",
    )
    parser: Literal["none", "spacy"] = Field(
        "none",
        description="How the rule reads English sentences: by patterns, or by spaCy's small model (extra "
        "`parse`), which takes some twenty times as long.",
    )
    per_chunk: Positive = Field(40, description="Most triplets of a chunk, in reading order.")
