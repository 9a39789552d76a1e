"""What a question is answered from: its evidence, sentence by sentence, and what was answered before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from quern.jobs.models.late_interaction import LateInteraction
from quern.jobs.tasks.prompts import disarmed, quoted
from quern.jobs.text.dates import When
from quern.jobs.text.stems import content_words
from quern.schemas.digests import text_digest
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.sentences import sentence_spans

if TYPE_CHECKING:
    from quern.jobs.reasoning.answering.reading import Model

_LONGEST_TITLE = 300  # Characters in a prompt.
_MOST_FACTS: Final = 60  # Triplets that a question is handed at most, whatever a setting asks for.
_COURSE: Final = lazy_pattern(
    r"\btime[- ]?lines?\b|\bchronolog(?:y|ies|ical(?:ly)?)\b|\b(?:course|sequence|order) of (?:the )?events\b|"
    r"时间[线轴]|来龙去脉|始末|大事记|历程|的经过|经过(?:是|如何|怎样|怎么)",
    re.IGNORECASE,
)
_EVENTS: Final = lazy_pattern(
    r"\b(?:what(?:\s+(?:else|all|exactly|has|have|events?|things))*|which events)\s+"
    r"(?:happen(?:s|ed)?|occurred|took place|went on)\b|发生了?(?:什么|哪些|过什么)|出了什么事",
    re.IGNORECASE,
)


def asks_course(question: str) -> bool:
    """Whether a question asks for several events in their order."""
    return _COURSE.search(question) is not None


@lru_cache(maxsize=4096)
def asks_events(question: str) -> bool:
    """Whether a question asks what happened."""
    return asks_course(question) or _EVENTS.search(question) is not None


def without_times(text: str, times: Sequence[When]) -> str:
    """`text` with a blank in the place of these times of it, which are in its order."""
    for when in reversed(times):
        text = f"{text[: when.start]} {text[when.end :]}"
    return text


@dataclass(frozen=True)
class Fact:
    """A triplet that a chunk states: the characters `start` to `end` of its text state it (GraTAG, section 3.3)."""

    subject: str  # Of what it is stated.
    relation: str  # How the two are related, as worded there.
    object: str  # To what, or what value it has.
    start: int  # First character of the sentence or row that states it.
    end: int  # One past its last.


@dataclass(frozen=True)
class ReportedEvent:
    """An event that a chunk reports: the characters `start` to `end` of its text tell it."""

    event_id: str  # Its key in the table `events`.
    start: int
    end: int
    timex: str  # When, as a TIMEX value.
    from_day: date  # The first day meant.
    to_day: date  # The last.
    precision: str  # Unit of the date.
    date_from: str  # `text`, or `document` where the report's own date was taken.
    expected: bool  # Whether it was yet to come when it was told.
    title: str  # What happened, in a few words.

    @property
    def days(self) -> tuple[date, date]:
        """Its first and last day."""
        return self.from_day, self.to_day

    @property
    def identity(self) -> object:
        """Everything of it that an answer and what follows from it depend on."""
        return [self.event_id, self.start, self.end, *self.days, self.timex, self.precision, self.title]


# How a prompt shows `evidence` of `AnswerInput.quoted`.
SHOWN_EVIDENCE: Final = """\
{% for e in evidence -%}
<evidence>
{% if e.title %}Document: {{ e.title }}
{% endif %}{% if e.published_at %}Published: {{ e.published_at.date().isoformat() }}
{% endif %}{% if e.header %}Table: {{ e.header }}
{% endif %}{% for number, sentence in e.sentences %}[{{ number }}] {{ sentence }}
{% endfor %}</evidence>

{% endfor -%}
"""


@dataclass(frozen=True)
class Evidence:
    """A chunk that was found for a question."""

    text: str  # The chunk.
    title: str | None  # Title of its document.
    quotes: Sequence[str]  # Texts of its nodes, `question answer`.
    similarities: Sequence[float]  # Cosine of each with the user's question.
    published_at: datetime | None = None  # Publication time of its document, if known.
    chunk_id: str = ""  # The chunk's key, by which the same chunk is known among the evidence of several questions.
    page: str = ""  # The key of its document; chunks without one are taken to be of one page.
    # The events that it reports, but those that a better chunk of the same evidence reports.
    events: Sequence[ReportedEvent] = ()
    facts: Sequence[Fact] = ()  # What it states, in reading order.
    site: str = ""  # Host of its document: a page of a town's site speaks of the town, and seldom names it.
    header: str | None = None  # Header of the table in whose midst it begins.

    @property
    def digest(self) -> str:
        """Digest of all that an answer depends on but for the question's own cosines and what page it is of."""
        return text_digest(self.text, self.title, str(self.published_at), self.site, self.header, *self.quotes)


class Span(NamedTuple):
    """A sentence of the evidence: the characters `start` to `end` of the text of evidence number `evidence`."""

    evidence: int
    start: int
    end: int


@dataclass(frozen=True)
class AskedBefore:
    """A sub-question that was answered on the way, an ancestor's of a sub-question or a leaf's of the whole one."""

    question: str  # As it was asked, the answers of its own parents filled in.
    answer: str  # Its short answer; empty where the evidence had none.
    # Numbers of the sentences that it rests on, among those of the input that it is given to.
    rests_on: Sequence[int] = ()
    said: str = ""  # The whole answer as text, the short answer first; empty where there was none.
    probability: float = 1.0  # Calibrated probability that its own evidence answered it, in [0, 1].


@dataclass(frozen=True)
class AnswerInput:
    """A question and its evidence, best first."""

    question: str  # What is asked, with no reference to other answers left in it.
    evidence: Sequence[Evidence]  # What there is to answer from.
    # The sub-questions that were answered before it, in the order of the DAG (Xinyu AI Search, section 3.4).
    before: Sequence[AskedBefore] = ()
    reader: Model | None = None  # The trained reader of the likeliest lines; None to go by shared words alone.
    windows: int = 1  # Windows of lines that it reads (`answer.windows`).

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences of all evidence; a sentence's number is its place here, counted from 1."""
        return [Span(n, *span) for n, e in enumerate(self.evidence) for span in spans(e.text)]

    def after(self, before: Sequence[AskedBefore]) -> AnswerInput:
        """The same, after the answers `before`."""
        return replace(self, before=before) if before else self

    @property
    def identity(self) -> object:
        """Everything that an answer depends on beside settings and model: under it, an answer is remembered.

        How probable the answers before it are is no part of it: that is judged with the answer, not answered from.
        """
        pages = [e.page for e in self.evidence]
        evidence = [(e.digest, [*e.similarities], pages.index(e.page)) for e in self.evidence]
        events = [(at, event.identity) for at, e in enumerate(self.evidence) for event in e.events]
        # Where the evidence states them is in its digest.
        facts = [(at, f.start, f.subject, f.relation, f.object) for at, e in enumerate(self.evidence) for f in e.facts]
        return [
            self.question,
            evidence,
            *(events if asks_events(self.question) else []),
            *([facts] if facts else []),
            *([self.reader.fingerprint, LateInteraction.load().fingerprint, self.windows] if self.reader else []),
            [(b.question, b.answer, [*b.rests_on], b.said) for b in self.before],
        ]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt, sentences with their numbers."""
        sentences: list[list[tuple[int, str]]] = [[] for _ in self.evidence]
        for number, (n, start, end) in enumerate(self.sentences, 1):
            sentences[n].append((number, quoted(self.evidence[n].text[start:end])))
        documents = [
            {
                "title": quoted(e.title or "", _LONGEST_TITLE),
                "header": quoted(e.header or "", _LONGEST_TITLE),
                "published_at": e.published_at,
                "sentences": rows,
            }
            for e, rows in zip(self.evidence, sentences, strict=True)
        ]
        before = [{"question": disarmed(b.question), "answer": disarmed(b.answer)} for b in self.before]
        # The triplets that share words with the question, those that share most first; each once.
        question_words, overlap = content_words(self.question), dict[tuple[str, str, str], int]()
        for fact in (f for e in self.evidence for f in e.facts):
            triplet = (fact.subject, fact.relation, fact.object)
            if count := len(question_words & content_words(" ".join(triplet))):
                overlap.setdefault(triplet, count)
        names, best = ("subject", "relation", "object"), sorted(overlap, key=lambda triplet: -overlap[triplet])
        facts = [dict(zip(names, map(quoted, triplet), strict=True)) for triplet in best[:_MOST_FACTS]]
        return {"question": disarmed(self.question), "evidence": documents, "before": before, "facts": facts}


@lru_cache(maxsize=4096)
def spans(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a chunk: questions of a batch share chunks."""
    return tuple(sentence_spans(text))


def carried(before: AnswerInput, numbers: Sequence[int], given: AnswerInput) -> list[int]:
    """The numbers in `given` of the sentences `numbers` of `before`; those that it lacks are left out."""
    at = {e.chunk_id: n for n, e in enumerate(given.evidence)}
    number = {span: n for n, span in enumerate(given.sentences, 1)}
    spans = [before.sentences[n - 1] for n in numbers]
    targets = [s._replace(evidence=at.get(before.evidence[s.evidence].chunk_id, -1)) for s in spans]
    return [number[s] for s in targets if s in number]
