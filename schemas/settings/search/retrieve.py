"""Group `retrieve`: what a question gets back."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive, Share


class RetrieveSettings(Group):
    """What a question gets back.

    The weights were chosen on LiHua-World and MuSiQue, as round numbers in the middle of a plateau.
    """

    sources: tuple[Literal["graph", "vectors", "text"], ...] = Field(
        ("graph", "vectors", "text"),
        description="What is searched in `hybrid` and `bridge`: the nodes and edges of the graph, the vectors of "
        "chunks, full text; one that is left out has no weight.",
    )
    where: tuple[str, ...] = Field(
        (),
        description="Conditions that all found chunks meet, on columns of documents and chunks: `site=example.org`, "
        "`published_at>=2024-05-01`, `language!=en`.",
    )
    as_of: date | None = Field(
        None,
        description="Only what was published until this day, and not modified after it, is evidence; relative times "
        "count from it. A document without any date is left out: when it was known cannot be said.",
    )
    top_k: Positive = Field(5, description="K: chunks given to the answer (QCG-RAG, section 4).")
    depth: Positive = Field(200, description="Chunks that each part of a fusion is asked for.")
    weight_dense: float = Field(0.3, ge=0, description="Weight of the cosine of a chunk in `hybrid`.")
    weight_bm25: float = Field(
        0.4, ge=0, description="Weight of BM25 in `hybrid`, as a share of the best score of the question."
    )
    weight_nodes: float = Field(0.7, ge=0, description="Weight of the cosine of a chunk's best node in `hybrid`.")
    deduplicate_above: Share = Field(
        0.98,
        description="Greatest cosine of two chunks that are given to the answer: of two more alike the better is kept; "
        "1 for any. The paper's .8 is of bge-large: with MiniLM it loses gold documents, see docs/howto/models.md.",
    )
    document_share: Share = Field(
        0.5, description="Share of its document in the score of a chunk: the best that each part found in it."
    )
    weight_clauses: float = Field(
        0.5, ge=0, description="Weight of the best clause of a question that falls into several (`A before B`)."
    )
    weight_expansions: float = Field(
        0.0,
        ge=0,
        description="Weight of the best expansion of a question in `hybrid`: its words of content, its names, and what "
        "the index asks near it. At .1 and .3 recall fell on LiHua-World and MuSiQue, so none is made by default.",
    )
    weight_bridges: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        (0.4, 0.3, 0.3),
        description="Weights of `mention` edges from a question's best documents in `bridge`, one for each round in "
        "which they are followed; `[]` for none.",
    )
    weight_names: float = Field(
        0.3, ge=0, description="Weight of a rare name in `bridge` that a chunk shares with one of the best documents."
    )
    weight_name_edges: float = Field(
        0.3,
        ge=0,
        description="Weight of `shared_name` edges from a question's best documents in `bridge`, where "
        "`link.shared_names` makes any.",
    )
    weight_relation_edges: float = Field(
        0.3,
        ge=0,
        description="Weight of `relation` edges from a question's best documents in `bridge`, where "
        "`link.relations` makes any.",
    )
    weight_answers: float = Field(
        0.3, ge=0, description="Weight of `answer_question` edges from a question's best documents in `bridge-answers`."
    )
