"""What evidence states, as triplets: those nearest to a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from quern.jobs.text.stems import content_words

_MOST: Final = 60  # Triplets that a question is handed at most, whatever a setting asks for.


@dataclass(frozen=True)
class Fact:
    """A triplet that a chunk states: the characters `start` to `end` of its text state it (GraTAG, section 3.3)."""

    subject: str  # Of what it is stated.
    relation: str  # How the two are related, as worded there.
    object: str  # To what, or what value it has.
    start: int  # First character of the sentence or row that states it.
    end: int  # One past its last.


@dataclass(frozen=True)
class Told:
    """A triplet, and the number of the sentence of the evidence that states it."""

    number: int
    fact: Fact


def nearest(question: str, told: Iterable[Told]) -> list[Told]:
    """The triplets that share words with a question, those that share most first; each once."""
    asked = content_words(question)
    shared: dict[tuple[str, str, str], tuple[int, Told]] = {}
    for one in told:
        fact = one.fact
        count = len(asked & content_words(f"{fact.subject} {fact.relation} {fact.object}"))
        if count:
            shared.setdefault((fact.subject, fact.relation, fact.object), (-count, one))
    return [one for _, one in sorted(shared.values(), key=lambda pair: (pair[0], pair[1].number))[:_MOST]]
