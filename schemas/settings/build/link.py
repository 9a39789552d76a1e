"""Group `link`: which edges the query-centric graph has."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class LinkSettings(Group):
    """The edges of the query-centric graph (QCG-RAG, section 3.3, defaults of MultiHop-RAG)."""

    k: Positive = Field(3, description="Nearest neighbours that a node is joined to.")
    direction: Literal["directed", "symmetric", "mutual"] = Field(
        "directed",
        description="Neighbour edges: each node to its k nearest; the same both ways; or where both are among the k.",
    )
    min_similarity: float = Field(
        -1.0, ge=-1.0, le=1.0, description="Least cosine of neighbours; -1 for none, as in the paper."
    )
    same_chunk: bool = Field(True, description="Whether neighbour edges may join nodes of one chunk.")
    mentions: int = Field(
        5, ge=0, description="Edges of kind `mention` of a node: to documents whose title its text names; 0 for none."
    )
    mention_documents: Positive = Field(
        20, description="A title that more documents share is of none in particular and joins none."
    )
