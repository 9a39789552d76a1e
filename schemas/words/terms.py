"""Words for full-text search: one pure function for what is indexed and for what is asked.

Both sides must cut words alike, so the index stores words that are already cut: an index that splits on white
space and stems them needs no knowledge of names in CamelCase or of scripts without spaces.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise

from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK, CJK_CHARACTER

# Raised when the same text gives other words: part of the fingerprint of what is made of words.
VERSION = 1

# The stop words of Lucene's analyser for English, and the words that questions are asked with.
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with did do does from he her him his how she what when where which who whom whose why".split()
)

_POSSESSIVE = lazy_pattern(r"['’][sS]\b")
_WORD = lazy_pattern(r"[^\W_]+")
# Vowel signs and other marks inside words of, say, Devanagari or Thai, which `\w` does not match.
_INNER = "".join(c for c in map(chr, range(0x370, 0xFE00)) if unicodedata.category(c) in ("Mn", "Mc"))
_MARKED_WORD = lazy_pattern(f"[^\\W_](?:[^\\W_]|[{_INNER}])*")
_MARKS = lazy_pattern("[\u0300-\u036f]+")
_HUMP = lazy_pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_PART = lazy_pattern(r"[A-Z]+(?=[A-Z][a-z]{2})|[A-Z]?[a-z]+|[A-Z]+|[^A-Za-z]+")
_RUN = lazy_pattern(f"[{CJK}]+|[^{CJK}]+")


def search_terms(*texts: str | None) -> str:
    """The words of `texts` in order, separated by single spaces.

    Words are lower case, without diacritics and without a possessive 's; an underscore separates words. A name in
    CamelCase is followed by its parts (`LiHua` gives `lihua li hua`), a run of Chinese, Japanese or Korean gives
    its overlapping pairs of characters. Nulls are left out.
    """
    return " ".join(word for text in texts if text for word in _words(text))


def _words(text: str) -> Iterable[str]:
    text = _POSSESSIVE.sub("", text)
    if text.isascii():
        # Nearly all text is of this kind, and most of it has no CamelCase.
        return _split_humps(_WORD.findall(text)) if _HUMP.search(text) else _WORD.findall(text.lower())
    words = _split_humps(_MARKED_WORD.findall(fold(text)))
    return words if CJK_CHARACTER.search(text) is None else (pair for word in words for pair in _bigrams(word))


def fold(text: str) -> str:
    """`text` in compatibility form without Latin, Greek and Cyrillic diacritics; other scripts keep their marks."""
    return unicodedata.normalize("NFKC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))


def _split_humps(words: list[str]) -> Iterator[str]:
    for word in words:
        yield word.casefold()
        # The two cheap tests spare nearly every word the search.
        if not (word.islower() or word.istitle()) and _HUMP.search(word):
            yield from (part.casefold() for part in _PART.findall(word))


def _bigrams(word: str) -> Iterator[str]:
    for run in _RUN.findall(word):
        if len(run) == 1 or CJK_CHARACTER.match(run) is None:
            yield run
        else:
            yield from map("".join, pairwise(run))


# Words that questions in Chinese are asked with. A run of Chinese is cut into pairs of characters, so they are left out
# of a question before it is cut: texts seldom ask, so 什么 would be the rarest pair of most questions, and pairs that
# straddle it (是什, 叫什) are in no text. On CMRC 2018 recall@1 rises from .968 to .980, on either half of its
# documents. Titles and quotations stay as they are; a particle asks at the end of a clause alone.
_ASKING = lazy_pattern(
    r"(?P<quoted>《[^》]*》|「[^」]*」|『[^』]*』|“[^”]*”)"
    r"|[为為][什甚][么麼]|[什甚][么麼]样?|怎[么麼][样樣]?|怎[样樣]|多少|哪[些个個里裡儿兒位种種年月日一]|哪(?!吒)"
    r"|[谁誰]|[为為]何|如何|(?<!任)何[时時处處地人]|[几幾][个個位种種次年月日]"
    r"|[吗嗎呢](?=[？?！!。，,；;\s]|$)"
)


def without_asking(question: str) -> str:
    """`question` without the words that it is asked with in Chinese; as it was where nothing else is left."""
    if question.isascii():
        return question
    left = _ASKING.sub(lambda found: found["quoted"] or " ", question)
    return left if any(map(str.isalnum, left)) else question
