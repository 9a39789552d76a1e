"""Entries of a timeline that tell one thing: a reprint with another date, and a plan beside the report of what came.

Reports that agree in their days are merged when the events are made (`jobs.events.merge`). These do not agree: a
clipping's `yesterday` is counted from the clipping's own date, and a plan says other words than the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from quern.jobs.text.name_forms import name_key
from quern.schemas.timelines import TimelineEvent
from quern.schemas.words.terms import STOP_WORDS, search_terms


def one_each(events: Iterable[TimelineEvent]) -> list[TimelineEvent]:
    """The events, each told once: what happened rather than that it was expected; of copies that with the surer date.

    Surer is one that the sentence gives, other than as `yesterday`, which is wrong where the copy's own date is; of
    equals the earlier.
    """
    kept: list[TimelineEvent] = []
    for event in sorted(
        events, key=lambda e: (e.expected, e.date_from == "document" or bool(_COUNTED.search(e.summary)), e.place)
    ):
        at = next((n for n, other in enumerate(kept) if _copied(other, event) or _came(other, event)), None)
        if at is None:
            kept.append(event)
            continue
        told = kept[at]
        new = [source for source in event.sources if source not in told.sources]
        kept[at] = told.model_copy(update={"sources": [*told.sources, *new], "score": max(told.score, event.score)})
    return sorted(kept, key=lambda event: event.place)


# Words by which a date hangs by the very day of its report.
_COUNTED: Final = re.compile(
    r"\b(?:today|yesterday|tonight|tomorrow|this\s+(?:morning|afternoon|evening))\b|[昨今明][天日晚早晨]", re.I
)


def _copied(first: TimelineEvent, other: TimelineEvent) -> bool:
    """Whether two sentences of different documents are nearly the same, though their dates are not."""
    # A reprint keeps most words of a sentence (Dice's measure), and is printed within a month of what it reprints.
    if abs(first.from_day - other.from_day) > timedelta(31) or first.sources[0].doc_id == other.sources[0].doc_id:
        return False
    one, two = _words(first.summary), _words(other.summary)
    return min(len(one), len(two)) >= 6 and 2 * len(one & two) >= 0.8 * (len(one) + len(two))


def _came(first: TimelineEvent, other: TimelineEvent) -> bool:
    """Whether `other` was expected for the very day of `first`, which names what it names and tells it in its words."""
    if first.expected or not other.expected or (first.from_day, first.to_day) != (other.from_day, other.to_day):
        return False
    if not {name_key(name) for name in first.entities} & {name_key(name) for name in other.entities}:
        return False
    return bool(_words(f"{first.title} {first.summary}") & _words(other.summary) - _named(first) - _named(other))


def _words(text: str) -> set[str]:
    return {word for word in search_terms(text).split() if word not in STOP_WORDS}


def _named(event: TimelineEvent) -> set[str]:
    return {word for name in event.entities for word in search_terms(name).split()}
