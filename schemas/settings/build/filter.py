"""Group `filter`: which synthetic queries become nodes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class FilterSettings(Group):
    """Doc2Query--: which pairs are kept."""

    alpha: float = Field(0.8, gt=0.0, le=1.0, description="Share of pairs kept (QCG-RAG, section 4).")
    scope: Literal["chunk", "corpus", "absolute"] = Field(
        "chunk",
        description="Best share `alpha` of each chunk (QCG-RAG, section 3.3) or of the corpus (Doc2Query--); "
        "`absolute`: all pairs from `min_similarity` on.",
    )
    most_of_document: Positive = Field(
        200,
        description="Most nodes of a document, spread evenly over its chunks, each of which keeps one at least: so "
        "that a long register does not fill the graph. 200 are those of ten chunks of M = 20.",
    )
    min_similarity: float = Field(
        0.5,
        ge=-1.0,
        le=1.0,
        description="With scope `absolute`, the least cosine of a kept pair with its chunk; of rule-made pairs, 0.5 "
        "with MiniLM keeps .74 of chats' and .98 of short articles'.",
    )
