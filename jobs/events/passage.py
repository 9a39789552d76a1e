"""A chunk as events are found in it: its sentences, numbered, each with who says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from quern.jobs.queries.rules.units import dialogue_speakers, person_name
from quern.jobs.text.names import speaker
from quern.schemas.words.sentences import sentence_spans

_LABEL: Final = re.compile(r"^\s*[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*){0,3}:\s+")


@dataclass(frozen=True)
class Passage:
    """A chunk as events are found in it."""

    text: str  # Its text.
    title: str  # Title of the document; may be empty.
    published: date | None  # Day of the document's publication, if known.
    start: int  # Where it begins in the document's text.

    @property
    def first(self) -> bool:
        """Whether it begins the document."""
        return self.start == 0

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, numbered from 1."""
        return _sentences(self)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a chunk."""

    number: int  # Its number, from 1.
    start: int  # First character in the chunk.
    end: int  # One past the last.
    text: str  # The characters themselves.
    who: str  # Who says it in a conversation; may be empty.
    line: int  # Number of its line.

    @property
    def said(self) -> str:
        """Its text without the label of who says it."""
        return _LABEL.sub("", self.text) if self.who else self.text


@lru_cache(maxsize=64)  # By value: the passage is made again for the reply to its task.
def _sentences(passage: Passage) -> tuple[Sentence, ...]:
    text = passage.text
    talk = bool(dialogue_speakers(text))
    sentences: list[Sentence] = []
    line, at, who = 0, 0, ""
    for number, (start, end) in enumerate(sentence_spans(text), 1):
        breaks = text.count("\n", at, start)
        if talk and (breaks or not sentences):
            who = speaker(text[start:end])
        line, at = line + breaks, start
        sentences.append(Sentence(number, start, end, text[start:end], person_name(who), line))
    return tuple(sentences)
