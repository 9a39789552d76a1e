"""Spelling by the vocabulary of the index: a word that it does not have becomes the nearest one that it has.

A word stays as it is where the index or the dictionary has it, and where nothing is near: a question about what the
corpus lacks must not become one about what is spelled alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache, cached_property
from typing import Final, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from quern.indexes.lexical import LexicalIndex
from quern.schemas.words.terms import STOP_WORDS, search_terms

_WORD: Final = re.compile(r"(?<![\w'’-])[A-Za-z]{3,24}(?=['’]s\b|(?![\w'’]))")


class Vocabulary:
    """What the words of a question are looked up in: the words of an index, and those of a language."""

    def __init__(
        self, index: LexicalIndex | None = None, dictionary: Callable[[], Collection[str]] = frozenset
    ) -> None:
        """The vocabulary of an index; without one, of nothing. `dictionary` makes the language's common words."""
        self._index, self._dictionary = index, cache(dictionary)

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
        return word in STOP_WORDS or self.has(word) or any(base in self._dictionary() for base in bases)

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


class Respelled(NamedTuple):
    """New words for the characters `start` to `end` of a question, as the index spells them."""

    start: int
    end: int
    words: str


def respelled(question: str, vocabulary: Vocabulary) -> list[Respelled]:
    """The misspelled words of `question`, in their order; none where it seems to be in another language.

    A name is changed by one edit into the only name so near, for another name is another person; a word of seven
    letters and more may have two wrong. One of fewer than five is changed only where it lacks a letter: with another
    letter in its place it is another word.
    """
    words = search_terms(question).split()
    unknown = sum(not vocabulary.knows(word) for word in words)
    # With more unknown words, a question is in another language.
    if not vocabulary or unknown > max(1, 0.4 * len(words)):
        return []
    found = []
    for match in _WORD.finditer(question):
        word, is_name = match[0].lower(), match[0][0].isupper()
        if match[0].isupper() or vocabulary.knows(word):
            continue
        near = vocabulary.nearest(word, 2 if len(word) >= 7 and not is_name else 1)
        if not near or near[0] in STOP_WORDS or (is_name and len(near) > 1):
            continue
        if len(word) >= 5 or len(near[0]) > len(word):
            found.append(Respelled(match.start(), match.end(), near[0].title() if is_name else near[0]))
    return found
