"""In what language questions about a text are worded, and how alike two texts are."""

from __future__ import annotations

import re

from quern.jobs.queries.rules.units import WORD
from quern.jobs.queries.rules.words import STOP_WORDS
from quern.schemas.words.scripts import HAN, HANGUL, KANA

_HAN = re.compile(f"[{HAN}]")
_NOT_CHINESE = re.compile(f"[{KANA}{HANGUL}]")
_ENGLISH = 0.1  # Least share of English function words in an English text.


def wording_language(text: str) -> str:
    """`zh`, `en`, or nothing where questions can be worded in neither."""
    if len(_HAN.findall(text)) > 0.3 * len(WORD.findall(text)):
        return "" if len(_NOT_CHINESE.findall(text)) > 0.05 * len(text) else "zh"
    words = WORD.findall(text.lower())
    known = sum(map(STOP_WORDS.__contains__, words))
    return "en" if (text.isascii() and len(words) < 12) or known > _ENGLISH * len(words) else ""


def words_of(text: str) -> frozenset[str]:
    """The different words of `text`, in lower case; of Chinese, Japanese and Korean the characters."""
    return frozenset(WORD.findall(text.lower()))


def alike(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    """Whether the Jaccard similarity of two sets of words is at least `least`."""
    shared = len(one & other)
    return shared >= least * (len(one) + len(other) - shared)
