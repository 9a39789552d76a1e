"""What the query runner gives back: an answer with its citations, its evidence and its path through the graph.

The same models make a line of `answers.jsonl`, a row of `answers.parquet` and a section of the report.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date, datetime

from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator

from quern.schemas.arrow_models import Int32, arrow_schema


class SearchRound(BaseModel):
    """One round: what was looked for, what it brought, and whether that answers."""

    queries: list[str]  # What was looked for.
    candidates: Int32  # Chunks that were compared with the question.
    full: Int32  # How many of them match every constituent of the question in one place.
    partial: Int32  # How many match some.
    kept: list[str]  # The `chunk_id` of those that were selected, best first.


class Search(BaseModel):
    """All rounds of a question, and why there were no more."""

    rounds: list[SearchRound]
    # `verified`: what was kept answers; `rounds`: no more are allowed; `same_candidates`: a round brought nothing that
    # was not seen before; `no_queries`: nothing was missing that could be looked for, or nothing is to be.
    stop: str
    missing: list[str] = Field(default_factory=list)  # What of the question none of the kept chunks matches.


class Question(BaseModel):
    """A user's question; only `query_id` and `question` are needed to answer it, the others to measure answers."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    query_id: str
    question: str = Field(min_length=1)
    type: str | None = None  # Kind of question, by which figures are told; `null` where the corpus has no answer.
    answer: str | None = None  # The gold answer; empty where the corpus has none.
    answer_aliases: list[str] = Field(default_factory=list)  # Other forms of the gold answer that are as right.
    evidence_doc_ids: list[str] = Field(default_factory=list)  # Documents that hold the answer.
    evidence_urls: list[str] = Field(default_factory=list)  # The same by the address of their pages.
    # Further pages that hold the answer or part of it: to cite them is right, to miss them no fault.
    also_urls: list[str] = Field(default_factory=list)
    # Conditions that what is found must meet, such as `site=example.org` or `published_at>=2024-05-01`.
    where: list[str] = Field(default_factory=list)
    as_of: date | None = None  # Only what was published until this day is evidence, and relative times count from it.

    @field_validator("question")
    @classmethod
    def _not_blank(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is blank")
        return question


class Citation(BaseModel):
    """Where a sentence of the answer stands in the corpus."""

    number: Int32  # The n of `[n]` in the answer, counted from 1.
    doc_id: str
    chunk_id: str
    url: str | None
    title: str | None
    published_at: datetime | None
    start: int  # First character of the quote in `documents.text`.
    end: int  # One past its last character.
    quote: str  # `documents.text[start:end]`.
    page: Int32 | None = None  # Number of the page of a PDF or DOCX file that it begins on, from 1.


class Hit(BaseModel):
    """A chunk that was found."""

    rank: Int32  # 1 for the best.
    chunk_id: str
    doc_id: str
    url: str | None
    title: str | None
    published_at: datetime | None
    score: float  # Score of the recipe; comparable within one question only.
    start: int  # First character of the chunk in `documents.text`.
    end: int
    text: str
    # Header of the table in whose midst the chunk begins, as the document has it above the chunk.
    header: str | None = None
    metadata: dict[str, str] = {}  # What was given of its document beside the fields of `documents`, by name.
    page: Int32 | None = None  # Number of the page of a PDF or DOCX file that it begins on, from 1.
    page_starts: list[int] = Field(default=[], exclude=True)  # First character of each page in `documents.text`.

    def page_at(self, character: int) -> int | None:
        """The page that has a character of `documents.text`; None where the document has no pages."""
        return bisect_right(self.page_starts, character) or None

    @field_validator("metadata", mode="before")
    @classmethod
    def _of_pairs(cls, value: object) -> object:
        """A row of a table has it as pairs."""
        return dict(value) if isinstance(value, list) else value


class PathNode(BaseModel):
    """A node on the way from the question to a hit."""

    query_id: str  # The node.
    chunk_id: str  # The chunk it belongs to, one of the hits.
    text: str  # Its question and answer.
    similarity: float  # Cosine with the user's question, in [-1, 1].
    hop: Int32  # 0 where the question matched it, else hops along edges.
    via: str | None  # The node of the hop before, through which it was reached; None at hop 0.
    # Kind of the edge from that node, as the table `edges` has it; None where there is no such node.
    edge: str | None = None


class Sentence(BaseModel):
    """A sentence of an answer."""

    text: str  # Its words, on one line.
    citations: list[Int32]  # Numbers of the citations that it rests on.
    topic: str | None = None  # What of the corpus it is about, in an overview of it.


class SubAnswer(BaseModel):
    """A sub-question of a question that was taken apart, and what came of it."""

    number: Int32  # From 1, in the order of the DAG: parents come first.
    parents: list[Int32]  # Numbers of the sub-questions whose answers it needed.
    question: str  # As it was asked, the answers of its parents filled in.
    answer: str | None  # Its short answer; None where the evidence had none.
    citations: list[Int32]  # Numbers of the answer's citations that it rests on.


class AnswerEvent(BaseModel):
    """An event of an answer's timeline, as a chunk of its evidence reports it."""

    event_id: str  # Its key in the table `events`.
    timex: str  # When, as a TIMEX value.
    from_day: date  # The first day meant.
    to_day: date  # The last.
    precision: str  # Unit of the date: `day` is precise, others are vague.
    date_from: str  # `text`, or `document` where the report's own date was taken.
    expected: bool  # Whether it was yet to come when it was told.
    title: str  # What happened, in a few words.
    doc_id: str
    chunk_id: str
    start: int  # First character of the sentence that tells it in `documents.text`.
    end: int  # One past its last character.
    quote: str  # `documents.text[start:end]`.
    rank: Int32  # Of the hit that reports it.
    citation: Int32 | None  # Number of the citation of that sentence; None where the answer does not cite it.


class QuestionPart(BaseModel):
    """A constituent of the question, as it was understood."""

    number: Int32  # From 1.
    text: str  # Its words.
    start: Int32  # First character in the question: in `asked`, where there is one.
    end: Int32  # One past its last character.


class AlignedSegment(BaseModel):
    """Words of a document that match a constituent of the question."""

    part: Int32  # Number of the constituent.
    start: int  # First character in `documents.text`.
    end: int  # One past its last; `start` where it is the title of the document that matches.
    quote: str  # `documents.text[start:end]`.
    how: str  # `words`, `title`, or `model` where a model named the sentence.


class AlignedHit(BaseModel):
    """What of the question one window of a chunk matches (GGatrieval, FGA)."""

    rank: Int32  # Of the hit.
    chunk_id: str
    doc_id: str
    label: str  # `full` where every constituent has a match, `partial`, `none`.
    share: float  # Share of the constituents that have one, in [0, 1].
    segments: list[AlignedSegment]


class AnswerImage(BaseModel):
    """An image of a page of the evidence, beside a sentence of the answer; its words are those of that page."""

    image_id: str  # Its key in the table `images`.
    sentence: Int32  # Number of the sentence that it stands beside, from 1.
    score: float  # Likeness of the two, in [0, 1].
    relevance: float  # Likeness of the question and what is said of it, in [0, 1].
    why: str  # Why it stands there, in words for a reader.
    image_url: str  # Address of the image.
    alt: str | None  # Its alternative text.
    caption: str | None  # Its caption.
    width: Int32 | None  # Pixels, where they are told.
    height: Int32 | None  # Pixels, where they are told.
    doc_id: str
    url: str | None  # Address of the page that shows it.
    title: str | None  # Title of that page.
    citation: Int32 | None  # Number of the citation that shows the same page; None where the answer cites another.


NOT_FOUND = "The corpus does not say."
NOT_ANSWERED = "This question is not answered."


class Answer(BaseModel):
    """The answer to one question."""

    query_id: str
    question: str  # As it was given.
    # As it was understood, where that differs: relative times as ranges, by a model full names.
    asked: str | None = None
    # What is asked for, by the reader: `span`, `verdict` (yes or no), `list`; `other` where it read nothing.
    kind: str = "other"
    sentences: list[Sentence]  # The short answer, then what carries it; none where the question was refused.
    probability: float  # Calibrated probability that the evidence answers, in [0, 1].
    # Why there is no answer: `nothing_found`, `nothing_passes` (the filters), `other_entity`, `other_time`,
    # `only_related`, or `refused` where the question itself is of a category that is not answered; None where there is
    # one.
    reason: str | None = None
    # What a reader should know: what was rewritten, which readings there are, what was refused and why.
    notes: list[str] = Field(default_factory=list)
    by: str  # What answered: `rules`, or the kind of generator whose model did.
    recipe: str  # Name of the retrieval recipe.
    # What the question was taken apart into; none where it is one question.
    sub_questions: list[SubAnswer] = Field(default_factory=list)
    citations: list[Citation]
    hits: list[Hit]
    path: list[PathNode]  # Nodes that led to the hits; some have no chunk among the hits, being only on the way.
    search: Search | None = None  # The rounds that found the hits; None where one ranking did.
    # The events of the hits that bear on the question, in the order of time; two at least, or none.
    timeline: list[AnswerEvent] = Field(default_factory=list)
    # Images of the evidence's pages, each beside a sentence; in the order of the sentences.
    images: list[AnswerImage] = Field(default_factory=list)
    # Constituents of the question, which its evidence is aligned with.
    parts: list[QuestionPart] = Field(default_factory=list)
    # Which words of the best hits match which constituents, in the order of the hits.
    alignments: list[AlignedHit] = Field(default_factory=list)
    as_of: date | None = None  # The day until which evidence was published; None where all of the snapshot was.
    type: str | None = None  # Type of the question, where its file gives one.
    expected: str | None = None  # The gold answer, where the question's file gives one.

    @computed_field  # type: ignore[prop-decorator] # pydantic's own way to write it
    @property
    def answer(self) -> str:
        """The sentences as text, each followed by the `[n]` of its citations; a fixed sentence where there is none."""
        nothing = NOT_ANSWERED if self.reason == "refused" else NOT_FOUND
        return " ".join(f"{s.text} {cited(s.citations)}".rstrip() for s in self.sentences) or nothing

    @computed_field  # type: ignore[prop-decorator]
    @property
    def found(self) -> bool:
        """Whether the corpus has an answer."""
        return bool(self.sentences)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def short(self) -> str | None:
        """The short answer; None where there is none."""
        return self.sentences[0].text if self.sentences else None


def cited(numbers: Sequence[int]) -> str:
    """Numbers of citations as they stand in a text."""
    return "".join(f"[{n}]" for n in numbers)


ANSWERS = arrow_schema(Answer)


# ---- what judges say of answers: a line of `judgements.jsonl` an answer


class Judgement(BaseModel):
    """What one judge says of one answer, or of two."""

    model_config = ConfigDict(frozen=True)

    # 0 or 1; a score from 0 to 10; of two answers from -2, the other is far better, to 2, the answer is. None where the
    # judge had nothing to go by.
    value: float | None
    by: str  # `rules`, or the kind of generator whose model judged.
    reason: str = ""  # How the value came about.
    issues: list[str] = Field(default_factory=list)  # The faults that were found.
    # Of two answers, what was said of them in either order, the second turned round.
    orders: list[float] = Field(default_factory=list)
    # Codes of what was wrong with a model's replies, where the rule stood in or nothing did.
    rejected: list[str] = Field(default_factory=list)


class JudgedAnswer(BaseModel):
    """An answer with what was said of it, judge by judge."""

    model_config = ConfigDict(frozen=True)

    query_id: str
    question: str
    judgements: dict[str, Judgement]
