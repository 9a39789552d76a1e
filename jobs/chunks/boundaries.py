"""Where a document may be cut: at the end of a paragraph, line, sentence, clause or word, else between characters."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from quern.schemas.words.scripts import BERT_HAN, CJK_ENDS
from quern.schemas.words.sentences import SENTENCE_END

_JOINER = "\u200d"
# What goes with the character before it and is no mark by its category: joiners, Thai and Lao AM, half-width voiced
# marks, the vowels and final consonants of Hangul in parts, tones of skin, tags.
_FOLLOWS = re.compile(
    "[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7fb\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]+")


def starts_grapheme(text: str, at: int) -> bool:
    """Whether `text` may be cut before its character number `at`: not between a letter and its marks, or in an emoji.

    The rules of Unicode's standard annex 29, section 3.1.1, that matter for a cut: marks and joiners go with what is
    before them (GB9, GB9a, GB11), so do the vowels and final consonants of Korean written in parts (GB6 to GB8), the
    letters of flags go in pairs (GB12, GB13), and a line feed with its carriage return (GB3).
    """
    if at <= 0 or at >= len(text):
        return True
    before, here = text[at - 1], text[at]
    if here.isascii():
        return not (here == "\n" and before == "\r")
    if before == _JOINER or _FOLLOWS.match(here) or unicodedata.category(here)[0] == "M":
        return False
    flags = 0  # Letters of flags straight before a place: of more than 64 one may lie inside a flag.
    while _FLAG.match(here) and flags < min(at, 64) and _FLAG.match(text[at - flags - 1]):
        flags += 1
    return flags % 2 == 0


def last_grapheme(text: str, low: int, high: int) -> int:
    """The last place in (low, high] where `text` may be cut, `high` where there is none."""
    return next((at for at in range(high, low, -1) if starts_grapheme(text, at)), high)


Offsets = Sequence[tuple[int, int]]

# A paragraph's end; a line's; a sentence's.
_BREAK = re.compile(
    r"(\n\s*\n)|(\n)"
    rf"|({SENTENCE_END})"
)
# The same, and a clause's: marks that nothing of a number or a time of day follows.
_BREAK_OR_CLAUSE = re.compile(rf"{_BREAK.pattern}|([，、；：،؛]|[,;:](?=\s))")
# Characters that BERT's normaliser and pre-tokeniser set apart from both neighbours: those of Python's white space that
# it removes without a trace (vertical tab, form feed, separators U+001C to U+001F, U+0085) are not among them.
_APART = rf"[ \t\n\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{CJK_ENDS}{BERT_HAN}]"
_IS_APART = re.compile(f"{_APART}|.{_APART}", re.DOTALL)


class Boundaries:
    """Where a document may be cut: before which of its tokens a paragraph, line, sentence, clause or word begins."""

    def __init__(self, text: str, offsets: Offsets, clauses: bool = False) -> None:
        """Args: `clauses`: whether the end of a clause is better than that of a word."""
        self._text, self._offsets = text, offsets
        self._levels: tuple[list[int], ...] = ([], [], [], [])
        for found in (_BREAK_OR_CLAUSE if clauses else _BREAK).finditer(text):
            self._levels[(found.lastindex or 1) - 1].append(bisect_left(offsets, (found.end(),)))

    def last(self, low: int, high: int) -> int:
        """The last token in [low, high] of the best level that has one there."""
        for tokens in self._levels:
            at = bisect_right(tokens, high) - 1
            if at >= 0 and tokens[at] >= low:
                return tokens[at]
        return self.last_word(low, high)

    def last_word(self, low: int, high: int) -> int:
        """The last token in [low, high] that begins a word, else the last that begins a character."""
        word = next((token for token in range(high, low - 1, -1) if self.is_word(token)), None)
        if word is not None:
            return word
        # Byte-level tokenizers cut a character into several tokens; a chunk ends after all of them, if need be late.
        whole = (token for token in range(high, low - 1, -1) if self._is_grapheme(token))
        before = (token for token in range(high, low - 1, -1) if self._is_character(token))
        after = (token for token in range(high + 1, len(self._offsets)) if self._is_character(token))
        return next(whole, next(before, next(after, len(self._offsets))))

    def first(self, low: int, high: int) -> int | None:
        """The first token in [low, high] of the best level above words that has one there."""
        for tokens in self._levels:
            at = bisect_left(tokens, low)
            if at < len(tokens) and tokens[at] <= high:
                return tokens[at]
        return None

    def first_word(self, low: int, high: int) -> int:
        """The first token in [low, high] that begins a word, else the first that begins a character, else `high`."""
        word = next((token for token in range(low, high) if self.is_word(token)), None)
        if word is not None:
            return word
        return next((token for token in range(low, high) if self._is_grapheme(token)), high)

    def is_word(self, token: int) -> bool:
        """Whether the texts on both sides of this token's start are cut into tokens as if the other were not there."""
        if token in (0, len(self._offsets)):
            return True
        start = self._offsets[token][0]
        return start == 0 or _IS_APART.match(self._text, start - 1) is not None

    def _is_character(self, token: int) -> bool:
        return token == 0 or self._offsets[token][0] >= self._offsets[token - 1][1]

    def _is_grapheme(self, token: int) -> bool:
        return self._is_character(token) and starts_grapheme(self._text, self._offsets[token][0])
