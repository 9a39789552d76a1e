"""The vocabulary of an index: its words with the chunks that have them, and the names that stand in its texts.

Words come from the lexical index, which has them anyway; names are collected when a question first asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA

from quern.indexes.lexical import LexicalIndex
from quern.jobs.reasoning.questions.names import Names
from quern.schemas.words.terms import STOP_WORDS


class Vocabulary:
    """What the words of a question are looked up in."""

    def __init__(
        self,
        index: LexicalIndex | None = None,
        texts: Callable[[], Iterable[tuple[str | None, str]]] = tuple,
        dictionary: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        """The vocabulary of an index; without one, of nothing.

        Args:
            index: The lexical index over the chunks.
            texts: Makes titles and texts of the chunks, to find names in.
            dictionary: Makes the common words of the language, lower case.
        """
        self._index, self._texts, self._make_dictionary = index, texts, dictionary

    @cached_property
    def names(self) -> Names:
        """The names in titles and texts."""
        return Names(self._texts())

    @cached_property
    def _dictionary(self) -> Collection[str]:
        return self._make_dictionary()

    @cached_property
    def _words(self) -> list[str]:
        return [word for word in (self._index.words if self._index else ()) if word.isalpha()]

    def __bool__(self) -> bool:
        """Whether there is any word."""
        return bool(self._words)

    def has(self, word: str) -> bool:
        """Whether the index has the word, in lower case, in any of its forms."""
        return self._index is not None and self._index.frequency(word) > 0

    def knows(self, word: str) -> bool:
        """Whether the word, in lower case, is a word of the index, in any of its forms, or of the language."""
        bases = (word.removesuffix(ending) for ending in ("", "s", "es", "d", "ed", "ing", "ly", "er"))
        return word in STOP_WORDS or self.has(word) or any(base in self._dictionary for base in bases)

    def nearest(self, word: str, edits: int) -> list[str]:
        """The words of the index with the first letter of `word` that take the fewest edits, the commonest first.

        Args:
            word: A word in lower case.
            edits: Most letters put in, left out, changed, or swapped with the next.
        """
        if self._index is None:
            return []
        found = process.extract(word, self._words, scorer=OSA.distance, score_cutoff=edits, limit=None)
        near = [(n, -self._index.frequency(other), other) for other, n, _ in found if other[0] == word[0]]
        return [other for n, _, other in sorted(near) if n == min(near)[0]]
