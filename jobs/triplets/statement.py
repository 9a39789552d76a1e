"""A statement of a chunk: subject, relation and object, each a span of its text (GraTAG, section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from quern.schemas.words.sentences import sentence_spans

How = Literal["sentence", "row", "model"]
"""What stated it: a sentence, or a row of a table; or a model found it."""


class Part(NamedTuple):
    """The characters `start` to `end` of a chunk's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters themselves."""
        return text[self.start : self.end]


@dataclass(frozen=True)
class Statement:
    """What a chunk states; all three parts stand in it."""

    subject: Part  # Of what it is stated.
    relation: Part  # How the two are related, as worded there.
    object: Part  # To what, or what value it has.
    start: int  # First character of the sentence or line that states it.
    end: int  # One past its last.
    how: How  # What stated it.

    def words(self, text: str) -> tuple[str, str, str]:
        """Subject, relation and object as they stand in the chunk `text`."""
        return self.subject.of(text), self.relation.of(text), self.object.of(text)


@dataclass(frozen=True)
class Passage:
    """A chunk as statements are found in it."""

    text: str  # Its text.
    title: str  # Title of the document; may be empty.

    @cached_property
    def sentences(self) -> list[Part]:
        """Its sentences, a line break always ending one."""
        return [Part(*span) for span in sentence_spans(self.text)]

    @cached_property
    def topic(self) -> Part | None:
        """The title, or the part of it before a colon or bar, where the chunk names it; None where it does not."""
        for form in (self.title, self.title.split(": ")[0], self.title.split(" | ")[0], self.title.split(" (")[0]):
            at = self.text.find(form) if len(form) > 1 else -1
            if at >= 0:
                return Part(at, at + len(form))
        return None
