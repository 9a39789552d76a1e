"""White space of texts."""

from __future__ import annotations


def squeeze(text: str) -> str:
    """The text with each run of white space as one space, and none at its ends."""
    return " ".join(text.split())
