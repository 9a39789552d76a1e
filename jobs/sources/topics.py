"""What a site writes about: the names that its events share, then the words of its titles."""

from __future__ import annotations

from collections import Counter
from typing import Final

from quern.jobs.timelines.topics import name_key
from quern.schemas.words.terms import STOP_WORDS, search_terms

_SHORTEST: Final = 4  # Letters of a word of a title; of Chinese, pairs of characters count.


def title_words(title: str) -> set[str]:
    """The words of a title that may be a topic."""
    words = set(search_terms(title).split()) - STOP_WORDS
    return {w for w in words if not w.isdigit() and (len(w) >= _SHORTEST or not w.isascii())}


def topics(names: Counter[str], words: Counter[str], most: int) -> list[str]:
    """Names that several events have, then words of titles, commonest first; equal counts by alphabet."""
    shared = [name for name, count in _ranked(names) if count > 1]
    said = {part for name in shared for part in name_key(name).split()}
    return [*shared, *(word for word, _ in _ranked(words) if word not in said)][:most]


def _ranked(counted: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda known: (-known[1], known[0]))
