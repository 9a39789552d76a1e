"""Group `neighbours`: how the nearest nodes of each node are found."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import HOW, Group, Positive


class NeighbourSettings(Group):
    """How neighbours are found."""

    exact_below: int = Field(
        200_000, ge=0, description="Fewer different vectors than this are compared all with all; more by partitions."
    )
    recall: float = Field(
        0.99,
        ge=0.5,
        le=1.0,
        description="Share of true neighbours that partitions are to find; sets how many each node is sought in.",
    )
    partitions: int = Field(0, ge=0, description="Partitions beyond `exact_below`; 0 for the root of the vectors.")
    sample: Positive = Field(1000, description="Nodes whose true neighbours are sought, to know the recall.")
    spare: int = Field(
        4,
        ge=0,
        description="Further neighbours kept of a node, so that a deleted one is replaced; changes no edge.",
        json_schema_extra=HOW,
    )
