"""Group `retrieve`: what a question gets back."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive, Share


class RetrieveSettings(Group):
    """What a question gets back.

    The weights were chosen on LiHua-World and MuSiQue, as round numbers in the middle of a plateau.
    """

    top_k: Positive = Field(5, description="K: chunks given to the answer (QCG-RAG, section 4).")
    depth: Positive = Field(200, description="Chunks that each part of a fusion is asked for.")
    weight_dense: float = Field(0.3, ge=0, description="Weight of the cosine of a chunk in `hybrid`.")
    weight_bm25: float = Field(
        0.4, ge=0, description="Weight of BM25 in `hybrid`, as a share of the best score of the question."
    )
    weight_nodes: float = Field(0.7, ge=0, description="Weight of the cosine of a chunk's best node in `hybrid`.")
    document_share: Share = Field(
        0.5, description="Share of its document in the score of a chunk: the best that each part found in it."
    )
    weight_clauses: float = Field(
        0.5, ge=0, description="Weight of the best clause of a question that falls into several (`A before B`)."
    )
    weight_mentions: float = Field(
        0.3, ge=0, description="Weight of `mention` edges from a question's best documents in `bridge`."
    )
    weight_answers: float = Field(
        0.3, ge=0, description="Weight of `answer_question` edges from a question's best documents in `bridge-answers`."
    )
