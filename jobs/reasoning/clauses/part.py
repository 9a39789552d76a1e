"""A part of a text, by its characters."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """The characters `start` to `end` of a chunk's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters themselves."""
        return text[self.start : self.end]
