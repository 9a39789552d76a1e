"""The vocabulary of an index: its words, how many chunks have each, and the names that stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Vocabulary:
    """What a question's words are looked up in.

    Attributes:
        chunks: Chunks that have each word; the words as `schemas.words.terms` cuts them.
        names: Full forms of names, most frequent first: titles of documents and capitalised names of the text.
    """

    chunks: Mapping[str, int] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    @staticmethod
    def of(chunks: Mapping[str, int], names: Iterable[str]) -> Vocabulary:
        """The vocabulary of word counts and names."""
        return Vocabulary(chunks, tuple(names))
