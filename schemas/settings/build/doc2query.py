"""Group `doc2query`: the synthetic queries of a chunk."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class Doc2QuerySettings(Group):
    """Synthetic queries."""

    groundedness: float = Field(
        0.8,
        ge=0.0,
        le=1.0,
        description="Least share of an answer's words that must stand together in the chunk, of pairs that a model "
        "wrote (QCG-RAG, prompt C.1: the answer is taken nearly verbatim; the paper names no figure).",
    )
    pairs: Positive = Field(20, description="M: most question-answer pairs of a chunk (QCG-RAG, section 4).")
    near_identical: float = Field(
        0.97,
        gt=0.0,
        le=1.0,
        description="Jaccard similarity of the words of two pairs of a chunk from which the later one is left out "
        "(QCG-RAG, prompt C.1, names no figure; measured: 0.95 lowers recall of `qcg`, 0.97 does not).",
    )
