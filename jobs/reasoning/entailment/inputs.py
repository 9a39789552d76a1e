"""A statement and the texts that are to entail it, as answers, benchmarks and files of claims give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final

from quern.jobs.reasoning.citing.search import PARTS
from quern.jobs.tasks.prompts import disarmed, quoted
from quern.jobs.text.stems import content_words
from quern.schemas.words.sentences import sentence_spans
from quern.schemas.words.terms import search_terms

# A statement of so few words of content, or one that does not end as a sentence does and has at most twice as many, is
# a short answer, which says something only together with its question (ALCE does the same with the items of a list).
_FRAGMENT_WORDS: Final = 3
_MARKS: Final = re.compile(r"\s?\[\d+(?:\s*,\s*\d+)*\]")
_MARKDOWN: Final = re.compile(r"\*\*|__|^[^\S\n]*(?:#{1,6}\s+|[-*•]\s+)", re.MULTILINE)
_NUMBERED: Final = re.compile(r"\s*\[\d+\]\s*")
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S+")
_ENDS: Final = tuple(".!?。！？…")
_VERDICT: Final = frozenset({"yes", "no", "是", "否", "是的", "不是", "没有"})


@dataclass(frozen=True)
class Passage:
    """A text that may entail a statement."""

    text: str  # Its words.
    title: str = ""  # Title of its document, which says what its pronouns stand for.
    published_at: datetime | None = None  # Publication time of the document, which its relative times are counted from.

    @classmethod
    def read(cls, written: str) -> Passage:
        """A passage as people copy it: a mark `[3]` and an address before the text are no part of what it says.

        Where nothing but the address is there, the passage is blank: what stands on the page is not known.
        """
        text = written[mark.end() :] if (mark := _NUMBERED.match(written)) else written.lstrip()
        if address := _ADDRESS.match(text):
            text = text[address.end() :]
        return cls(text.strip())

    @cached_property
    def sentences(self) -> list[str]:
        """Its sentences."""
        return [self.text[start:end] for start, end in sentence_spans(self.text)]


@dataclass(frozen=True)
class EntailmentInput:
    """A statement and what may entail it."""

    statement: str  # A claim, or a sentence of an answer; marks of citations in it are ignored.
    passages: Sequence[Passage]  # The texts that together should entail it.
    question: str = ""  # What was asked; it completes a statement that is a short answer.
    # Cosine of the statement with the nearest of the texts; None where no vectors are at hand.
    near: float | None = None
    # Cosine of the question with the nearest of the texts; None likewise, or where nothing was asked.
    topic: float | None = None

    @cached_property
    def plain(self) -> str:
        """The statement without marks of citations and of Markdown."""
        return " ".join(_MARKDOWN.sub("", _MARKS.sub("", self.statement)).split())

    @cached_property
    def hypothesis(self) -> str:
        """What is to be entailed: the statement, after its question where it is a short answer."""
        return f"{self.question} {self.plain}" if self.question and is_fragment(self.plain) else self.plain

    @cached_property
    def read(self) -> list[Passage]:
        """The passages that have a text, each once."""
        return list(dict.fromkeys(p for p in self.passages if p.text.strip()))

    @property
    def parts(self) -> list[EntailmentInput]:
        """The parts of a composed answer, which stand between semicolons: each must be entailed.

        The cosines are those of the whole, and say nothing of a part.
        """
        parts = [part for part in PARTS.split(self.plain) if content_words(part)]
        return [replace(self, statement=part, near=None, topic=None) for part in parts] if len(parts) > 1 else [self]

    @cached_property
    def verbatim(self) -> bool:
        """Whether one of the texts has the statement as a sentence, word for word."""
        terms = search_terms(self.plain)
        # A sentence that is quoted has four words; `Ida Thorne.` is none.
        if not self.plain.endswith(_ENDS) or len(terms.split()) < 4:
            return False
        return any(search_terms(s) == terms for p in self.read for s in p.sentences)

    @property
    def identity(self) -> object:
        """Everything that the verdict depends on beside settings and model."""
        passages = [(p.title, p.text, str(p.published_at)) for p in self.passages]
        return [self.statement, self.question, passages, self.near, self.topic]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        rows = [{"title": quoted(p.title), "text": quoted(p.text, 6_000)} for p in self.read]
        return {"statement": disarmed(self.plain), "question": quoted(self.question), "passages": rows}


def is_fragment(statement: str) -> bool:
    """Whether a statement says something only together with its question: `12 May`, `Yes.`, `Ida Thorne`."""
    words = content_words(statement)
    if len(words - _VERDICT) <= _FRAGMENT_WORDS:
        return True
    return not statement.rstrip("\"'”’)] ").endswith(_ENDS) and len(words) <= 2 * _FRAGMENT_WORDS
