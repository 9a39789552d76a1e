"""What the query runner gives back: an answer with its citations, its evidence and its path through the graph.

The same models make a line of `answers.jsonl`, a row of `answers.parquet` and a section of the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator

from quern.schemas.arrow_models import Int32, arrow_schema


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

    number: Int32
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

    rank: Int32
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
    hop: Int32
    via: str | None


class Sentence(BaseModel):
    """A sentence of an answer.

    Attributes:
        text: Its words, on one line.
        citations: Numbers of the citations that it rests on.
    """

    text: str
    citations: list[Int32]


NOT_FOUND = "The corpus does not say."


class Answer(BaseModel):
    """The answer to one question.

    Attributes:
        sentences: What it says, in reading order; none where the corpus has no evidence that is strong enough.
        score: Strength of the best evidence, in [0, 1].
        by: What chose the sentences: `rules`, or the kind of generator whose model did.
        recipe: Name of the retrieval recipe.
        path: Nodes that led to the hits; some have no chunk among the hits, being only on the way.
    """

    query_id: str
    question: str
    sentences: list[Sentence]
    score: float
    by: str
    recipe: str
    citations: list[Citation]
    hits: list[Hit]
    path: list[PathNode]

    @computed_field  # type: ignore[prop-decorator] # pydantic's own way to write it
    @property
    def answer(self) -> str:
        """The sentences as text, each followed by the `[n]` of its citations; a fixed sentence where there is none."""
        return " ".join(f"{s.text} {cited(s.citations)}" for s in self.sentences) or NOT_FOUND

    @computed_field  # type: ignore[prop-decorator]
    @property
    def found(self) -> bool:
        """Whether the corpus has an answer."""
        return bool(self.sentences)


def cited(numbers: Sequence[int]) -> str:
    """Numbers of citations as they stand in a text."""
    return "".join(f"[{n}]" for n in numbers)


ANSWERS = arrow_schema(Answer)
