"""Spans of personal data in a text: what the finders return and how overlaps are settled."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Personal data at `text[start:end]`."""

    start: int  # First character.
    end: int  # One past the last character.
    type: str  # Name of the type, as in its mark: EMAIL, PHONE...


def disjoint(spans: Iterable[Span]) -> list[Span]:
    """The spans in order of place; of those that overlap the one that came first among `spans` stays."""
    kept: list[Span] = []
    for span in spans:
        at = bisect(kept, span)
        if (at == 0 or kept[at - 1].end <= span.start) and (at == len(kept) or span.end <= kept[at].start):
            kept.insert(at, span)
    return kept
