"""Group `graph`: how a question finds its way in the graph."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class GraphSettings(Group):
    """How a question finds chunks in the query-centric graph (QCG-RAG, section 4, defaults of MultiHop-RAG)."""

    hops: int = Field(1, ge=0, le=4, description="h: hops along neighbour edges.")
    n: Positive = Field(15, description="Most nodes that a question is matched to.")
    gamma: float = Field(1.0, ge=0.0, le=2.0, description="Least cos(question, node) + 1 of a matched node.")
    score: Literal["mean", "max", "sum"] = Field(
        "mean", description="How nodes' similarities make a chunk's score; the paper takes the mean."
    )
