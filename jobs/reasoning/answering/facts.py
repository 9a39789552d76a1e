"""What evidence states, as triplets: those nearest to a question, and the value that one of them has of a side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words

_MOST: Final = 60  # Triplets that a question is handed at most, whatever a setting asks for.


@dataclass(frozen=True)
class Fact:
    """A triplet that a chunk states: the characters `start` to `end` of its text state it (GraTAG, section 3.3).

    Attributes:
        subject: Of what it is stated.
        relation: How the two are related, as worded there.
        object: To what, or what value it has.
        start: First character of the sentence or row that states it.
        end: One past its last.
    """

    subject: str
    relation: str
    object: str
    start: int
    end: int


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


def value_of_side(question: str, side: str, told: Sequence[Told]) -> Told | None:
    """The one triplet of `side` whose object is a number or time and that has most words of what a question asks of it.

    None where several that have as many say different things, or none has any.
    """
    named = content_words(side)
    asked = content_words(question) - named
    found: dict[int, list[Told]] = {}
    for one in told if named and asked else ():
        fact = one.fact
        if named <= content_words(fact.subject) and (quantities(fact.object) or dates(fact.object, None)):
            count = len(asked & content_words(f"{fact.relation} {fact.object}"))
            found.setdefault(count, []).append(one)
    best = found[max(found)] if found and max(found) > 0 else []
    return best[0] if len({one.fact.object for one in best}) == 1 else None
