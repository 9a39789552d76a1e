"""The vocabulary of an index: its words with the chunks that have them, and the names that stand in its texts.

Words come from the lexical index, which has them anyway. What else is needed is made when a question first asks for
it: 13 bytes a word to find words that are spelled alike, and about 450 bytes a name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import Final

import numpy as np
import numpy.typing as npt

from quern.indexes.lexical import LexicalIndex
from quern.jobs.reasoning.questions.names import Names
from quern.jobs.text.words import CLOSED
from quern.schemas.words.terms import STOP_WORDS

_SHORTEST: Final = 3
LONGEST: Final = 24  # Letters of a word; what has more is none.
# Endings of English words, and what the word may have had in their place.
_ENDINGS: Final = (
    *(
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ed", ""),
        ("ed", "e"),
        ("ied", "y"),
        ("ing", ""),
        ("ing", "e"),
        ("ly", ""),
    ),
    *(("er", ""), ("er", "e"), ("ers", ""), ("ers", "e"), ("ness", ""), ("able", ""), ("able", "e")),
)
_SOUNDING_ALIKE: Final = tuple(
    (a, b)
    for pair in ("er or", "ers ors", "able ible", "ance ence", "ant ent")
    for a, b in (pair.split(), reversed(pair.split()))
)


@dataclass(frozen=True)
class Near:
    """A word of the index that is spelled nearly as another.

    Attributes:
        edits: Letters put in, left out, changed, or swapped with the next.
    """

    word: str
    edits: int


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
            dictionary: Makes the common words of the language, lower case: none of them is misspelled, whether the
                index has it or not.
        """
        self._index, self._texts, self._make_dictionary = index, texts, dictionary

    @cached_property
    def names(self) -> Names:
        """The names in titles and texts."""
        return Names(self._texts())

    @cached_property
    def _dictionary(self) -> Collection[str]:
        return self._make_dictionary()

    def __bool__(self) -> bool:
        """Whether there is any word."""
        return self._index is not None and any(True for _ in self._index.words)

    def frequency(self, word: str) -> int:
        """Chunks that have the word, in any of its forms."""
        return self._index.frequency(word) if self._index else 0

    def has(self, word: str) -> bool:
        """Whether the index has the word, in lower case, in any of its forms."""
        return self.frequency(word) > 0

    def knows(self, word: str) -> bool:
        """Whether the word, in lower case, is spelled rightly: a word of the index or of the language."""
        if word in STOP_WORDS or word in CLOSED or self.spells(word) or word in self._dictionary:
            return True
        if any(map(self.spells, _mistaken(word))):
            return False  # `Contracter` is made of `contract`, and still is none where the index has `contractor`.
        return self.has(word) or any(base in self._dictionary for base in _bases(word))

    def near(self, word: str, edits: int, common: bool) -> list[Near]:
        """Words of the index one edit from `word`; where there are none, those that are two from it, if `edits` says.

        Args:
            word: A word in lower case.
            edits: Most edits, 1 or 2.
            common: Whether the common words of the language are meant too, whether the index has them or not.
        """
        if len(word) > LONGEST:  # No word: and it has as many neighbours as letters.
            return []
        sources = [self._index.words if self._index else (), self._dictionary if common else ()]
        one = {other for other in _one_edit_from(word) if any(other in words for words in sources)}
        if one or edits == 1:
            return [Near(other, 1) for other in sorted(one)]
        # Each edit changes at most two of the letters that a word has: few words are compared letter by letter.
        mask = np.uint32(_letters(word))
        alike = (np.abs(self._lengths - len(word)) <= edits) & (_bits(self._masks ^ mask) <= 2 * edits)
        words = (self._words[n] for n in np.flatnonzero(alike).tolist())
        return [Near(other, edits) for other in words if distance(word, other, edits) == edits]

    def spells(self, word: str) -> bool:
        """Whether the index has the word in just this form."""
        return self._index is not None and word in self._index.words

    def unseen(self, word: str) -> int:
        """Groups of three letters in the word, its ends included, that no word of the index or the language has."""
        return sum(group not in self._groups for group in _groups_of(word))

    @cached_property
    def _groups(self) -> frozenset[str]:
        return frozenset(group for word in (*self._words, *self._dictionary) for group in _groups_of(word))

    @cached_property
    def _words(self) -> list[str]:
        words = self._index.words if self._index else ()
        return [w for w in words if _SHORTEST <= len(w) <= LONGEST and w.isascii() and w.isalpha()]

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int8]:
        return np.fromiter(map(len, self._words), np.int8, len(self._words))

    @cached_property
    def _masks(self) -> npt.NDArray[np.uint32]:
        return np.fromiter(map(_letters, self._words), np.uint32, len(self._words))

    def company(self, word: str, others: Sequence[str]) -> float:
        """How much of the other words, by their rarity, stands in the best chunk that has `word`, in [0, 1]."""
        rarity = {other: 1 / np.log(2 + self.frequency(other)) for other in sorted(set(others)) if self.has(other)}
        if self._index is None or not rarity:
            return 0.0
        chunks = self._index.postings(word)
        found = np.zeros(len(chunks))
        for other, weight in rarity.items():
            found += weight * np.isin(chunks, self._index.postings(other), assume_unique=True)
        return float(found.max(initial=0.0) / sum(rarity.values()))


def _bases(word: str) -> Iterator[str]:
    """What the word may be a form of: `dredge`, `dredg` of `dredging`, `ship` of `shipping`."""
    for ending, before in _ENDINGS:
        base = word.removesuffix(ending)
        if base != word and len(base) >= _SHORTEST:
            yield base + before
            if ending in ("ed", "ing", "er", "ers") and base[-1] == base[-2]:
                yield base[:-1]


def _mistaken(word: str) -> Iterator[str]:
    """What a word may be whose ending sounds like another."""
    for ending, other in _SOUNDING_ALIKE:
        base = word.removesuffix(ending)
        if base != word:
            yield base + other


def _one_edit_from(word: str) -> Iterator[str]:
    """Every word that is one edit from `word`."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield from (before + letter + after for letter in ascii_lowercase)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in ascii_lowercase if letter != after[0])
        if len(after) > 1 and after[0] != after[1]:
            yield before + after[1] + after[0] + after[2:]


def _groups_of(word: str) -> list[str]:
    framed = f"^{word}$"
    return [framed[at : at + 3] for at in range(len(word))]


def _letters(word: str) -> int:
    """Which letters the word has, as bits; letters that are not of a to z share them."""
    mask = 0
    for letter in word:
        mask |= 1 << (ord(letter) % 32)
    return mask


def _bits(masks: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """How many bits each number has."""
    return np.bitwise_count(masks)


def distance(one: str, other: str, most: int) -> int:
    """Letters put in, left out, changed or swapped with the next between two words (Damerau 1964); else `most` + 1."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
