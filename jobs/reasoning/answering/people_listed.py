"""Several people whom a page tells one after another: `Five visitors have come. Zoe Lind, a historian, ...`.

Who asks who the five are is told all five names, and not the sentence that counts them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.kinds.noun_phrases import noun_phrase
from quern.jobs.reasoning.answering.names import names
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.series import Series
from quern.jobs.reasoning.answering.wording import stems_said
from quern.jobs.text.quantities import quantities, singular
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

_WHICH: Final = lazy_pattern(r"(?P<wh>who|which|what)\s+(?P<rest>.*)", re.IGNORECASE)
_BY: Final = lazy_pattern(r"\b(?:by|with|for|from|to|of)\s+$")
_LIKELY: Final = 6  # Of the best sentences, those of which one may count them.
_MOST: Final = 12  # People of one list.
_BESIDE: Final = 2  # Sentences for each of them, at most, in which they are told.
_AT_START: Final = 60  # Characters of a sentence in which the one stands whom it speaks of.


def people_listed(question: str, kind: Kind, best: Sequence[Line]) -> Series | None:
    """The names that stand behind a sentence which counts people, as many as it counts; None where more or fewer are.

    Only where people are asked for. The sentence must say what they are as the question does, and no other number of
    people than the question has.
    """
    if kind.name != "list" or not _asks_people(question):
        return None
    wanted = {q.value for q in quantities(question) if content_words(q.unit) & kind.noun}
    asked = kind.noun - content_words(" ".join(q.text.split()[0] for q in quantities(question)))
    for line in best[:_LIKELY]:
        counts = [q for q in quantities(line.text) if is_person(q.unit) and 2 < q.value <= _MOST]
        if len(counts) != 1 or (wanted and counts[0].value not in wanted) or line.row is not None:
            continue
        if not stems_said(asked, content_words(line.text)):
            continue
        if (found := _behind(line, int(counts[0].value), best)) is not None:
            return found
    return None


def _behind(lead: Line, count: int, best: Sequence[Line]) -> Series | None:
    """The first person of each sentence behind `lead`, until there are `count` of them."""
    own = sorted((o for o in best if o.evidence == lead.evidence and o.number > lead.number), key=lambda o: o.number)
    people: dict[str, str] = {}
    numbers: list[int] = []
    for line in own[: _BESIDE * count]:
        found = (n for n in names(line.text) if n.start < _AT_START and n.role != "place")
        first = next((n for n in found if not _BY.search(line.text, 0, n.start)), None)
        if first is None or " " not in first.text or first.text.split()[-1] in people:
            continue
        if len(people) == count:
            return None  # One more: the first of a sentence is not always one of them.
        people[first.text.split()[-1]] = first.text
        numbers.append(line.number)
    return Series(tuple(people.values()), tuple(numbers), lead.number) if len(people) == count else None


def _asks_people(question: str) -> bool:
    """Whether a question asks who several are: `who are the five`, `which painters came`."""
    m = _WHICH.match(question.strip())
    if m is None or m["wh"].lower() == "who":
        return m is not None
    noun = noun_phrase(m["rest"])
    return bool(noun) and is_person(singular(noun.split()[-1].lower()))
