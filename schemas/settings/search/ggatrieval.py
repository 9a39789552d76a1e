"""Group `ggatrieval`: rounds of looking for evidence that fits a question."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive, Share


class GGatrievalSettings(Group):
    """The recipe `ggatrieval` (GGatrieval, the loop of its search)."""

    rounds: Positive = Field(4, description="T: most rounds of a question (GGatrieval).")
    documents: Positive = Field(5, description="N: chunks that each further query is asked for (GGatrieval).")
    candidates: Positive = Field(50, description="Chunks of a question that are aligned in a round (GGatrieval).")
    similar: Share = Field(
        0.66,
        description="tau: from this share of constituents matched on a chunk is itself added to the question of the "
        "next round; below it, a passage is put together (GGatrieval).",
    )
    window: Positive = Field(20, description="Candidates that selection looks at together (GGatrieval).")
    keep: Positive = Field(5, description="k: chunks that selection keeps (GGatrieval).")
    reflection: bool = Field(True, description="Whether matches that do not hold are taken back.")
    compensation: bool = Field(True, description="Whether further queries are made where evidence is missing.")
    selection: bool = Field(
        True, description="Whether chunks are selected together; without, the best by label, then relevance."
    )
