"""Spans of personal data in a text: what the finders return and how overlaps are settled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Personal data at `text[start:end]`.

    Attributes:
        start: First character.
        end: One past the last character.
        type: Name of the type, as in its mark: EMAIL, PHONE...
    """

    start: int
    end: int
    type: str


def disjoint(spans: Iterable[Span]) -> list[Span]:
    """The spans in order of place; of those that overlap the one that came first among `spans` stays."""
    kept: list[Span] = []
    for span in spans:
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)
