"""The words and marks of a sentence, by which it is taken apart."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from quern.jobs.reasoning.clauses import words as w

_TOKEN: Final = re.compile(
    r"(?<=\w)['’](?:m|ve|re|ll|d)\b|\bper cent\b"
    r"|[^\W_]+(?:(?!['’](?:m|ve|re|ll|d)\b)[’'.,&/-][^\W_]+)*(?:['’](?=\s))?(?:\s?%)?|\S"
)
QUOTES: Final = frozenset('"“”«»')
_CLOSED: Final = w.BE | w.HAVE | w.DO | w.WILL
_MEASURES: Final = frozenset(("about", "over", "under", "around"))
_NO_ADVERB: Final = frozenset(("family", "july", "supply", "early"))


class Token(NamedTuple):
    """A word or mark of a sentence, with its place there."""

    text: str
    low: str
    start: int
    end: int

    @property
    def word(self) -> bool:
        """Whether it is no mark."""
        return self.text[:1].isalnum() or len(self.text) > 1

    @property
    def capital(self) -> bool:
        """Whether it begins as names do."""
        return self.text[:1].isupper()

    @property
    def number(self) -> bool:
        """Whether it begins with a digit."""
        return self.text[:1].isdigit()

    @property
    def closed_verb(self) -> bool:
        """Whether it is a verb of a closed class: a form of be, have or do, will or can."""
        return self.low in _CLOSED

    @property
    def adverb(self) -> bool:
        """Whether it is an adverb by its form."""
        return self.low in w.ADVERBS or (self.low.endswith("ly") and len(self.low) > 4 and self.low not in _NO_ADVERB)

    @property
    def owned(self) -> bool:
        """Whether it is an article or says whose."""
        return self.low in w.DETERMINERS or self.low in w.OWNERS

    @property
    def opens(self) -> bool:
        """Whether it begins a phrase, and no noun can stand right before it: an article, a number, a name."""
        counts = self.low in w.QUANTIFIERS and self.low not in w.PREPOSITIONS
        return self.owned or counts or self.number or self.capital or self.text in QUOTES


_NONE: Final = Token("", "", 0, 0)


class Row(tuple[Token, ...]):
    """The tokens of a sentence; beyond its end there are empty ones."""

    __slots__ = ()

    def at(self, n: int) -> Token:
        """Token `n`."""
        return self[n] if 0 <= n < len(self) else _NONE

    def past_adverbs(self, at: int) -> int:
        """The first token from `at` on that is no adverb."""
        while self.at(at).adverb:
            at += 1
        return at

    def measures(self, n: int) -> bool:
        """Whether a preposition belongs to a number: `about 6,500 crowns`, `at least 40`."""
        two = (self.at(n).low, self.at(n + 1).low) in (("at", "least"), ("at", "most"), ("up", "to"))
        return (self.at(n).low in _MEASURES and self.at(n + 1).number) or (two and self.at(n + 2).number)

    def infinitive(self, n: int) -> bool:
        """Whether token `n`, behind `to`, is a verb: no article, number, name or preposition."""
        token = self.at(self.past_adverbs(n))
        plain = w.BASE.fullmatch(token.low) is not None and not token.opens
        return plain and token.low not in w.PREPOSITIONS and token.low not in w.PRONOUNS


def tokens(sentence: str) -> Row:
    """Words and marks of a sentence."""
    return Row(Token(m[0], m[0].lower().replace("’", "'"), *m.span()) for m in _TOKEN.finditer(sentence))
