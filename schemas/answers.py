"""What the query runner gives back: an answer with its citations, its evidence and its path through the graph.

The same models make a line of `answers.jsonl`, a row of `answers.parquet` and a section of the report.
"""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, field_validator

from quern.schemas.tables import TIMESTAMP


class Question(BaseModel):
    """A user's question; only `query_id` and `question` are needed to answer it."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    query_id: str
    question: str = Field(min_length=1)
    type: str | None = None
    answer: str | None = None
    evidence_doc_ids: list[str] = Field(default_factory=list)

    @field_validator("question")
    @classmethod
    def _not_blank(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is blank")
        return question


class Citation(BaseModel):
    """Where a sentence of the answer stands in the corpus.

    Attributes:
        number: The n of `[n]` in the answer, counted from 1.
        start: First character of the quote in `documents.text`.
        end: One past its last character.
        quote: `documents.text[start:end]`.
    """

    number: int
    doc_id: str
    chunk_id: str
    url: str | None
    title: str | None
    published_at: datetime | None
    start: int
    end: int
    quote: str


class Hit(BaseModel):
    """A chunk that was found.

    Attributes:
        rank: 1 for the best.
        score: Score of the recipe; comparable within one question only.
        start: First character of the chunk in `documents.text`.
    """

    rank: int
    chunk_id: str
    doc_id: str
    url: str | None
    title: str | None
    published_at: datetime | None
    score: float
    start: int
    end: int
    text: str


class PathNode(BaseModel):
    """A node on the way from the question to a hit.

    Attributes:
        query_id: The node.
        chunk_id: The chunk it belongs to, one of the hits.
        text: Its question and answer.
        similarity: Cosine with the user's question, in [-1, 1].
        hop: 0 where the question matched it, else hops along neighbour edges.
        via: The node of the hop before, through which it was reached; None at hop 0.
    """

    query_id: str
    chunk_id: str
    text: str
    similarity: float
    hop: int
    via: str | None


class Answer(BaseModel):
    """The answer to one question.

    Attributes:
        answer: Sentences of the corpus, each followed by its `[n]`; a fixed sentence where `found` is false.
        found: Whether the corpus has evidence that is strong enough.
        score: Strength of the best evidence, in [0, 1].
        recipe: Name of the retrieval recipe.
        path: Nodes that led to the hits; some have no chunk among the hits, being only on the way.
    """

    query_id: str
    question: str
    answer: str
    found: bool
    score: float
    recipe: str
    citations: list[Citation]
    hits: list[Hit]
    path: list[PathNode]


_CITATION = pa.struct(
    [
        ("number", pa.int32()),
        ("doc_id", pa.string()),
        ("chunk_id", pa.string()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("published_at", TIMESTAMP),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("quote", pa.string()),
    ]
)
_HIT = pa.struct(
    [
        ("rank", pa.int32()),
        ("chunk_id", pa.string()),
        ("doc_id", pa.string()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("published_at", TIMESTAMP),
        ("score", pa.float64()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("text", pa.string()),
    ]
)
_PATH_NODE = pa.struct(
    [
        ("query_id", pa.string()),
        ("chunk_id", pa.string()),
        ("text", pa.string()),
        ("similarity", pa.float64()),
        ("hop", pa.int32()),
        ("via", pa.string()),
    ]
)
ANSWERS = pa.schema(
    [
        ("query_id", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("found", pa.bool_()),
        ("score", pa.float64()),
        ("recipe", pa.string()),
        ("citations", pa.list_(_CITATION)),
        ("hits", pa.list_(_HIT)),
        ("path", pa.list_(_PATH_NODE)),
    ]
)
