"""The numbers that a text names, by value: 1,200 is 1200, nine is 9, 1.2 million is 1200000, 三百六十 is 360.

For comparing texts: what a number counts, and whether it is part of a date or a name, makes no difference.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from quern.jobs.text.chinese_numerals import arabic
from quern.jobs.text.chinese_numerals import value as chinese_value
from quern.jobs.text.dates.english_words import ORDINALS
from quern.jobs.text.numbers import NUMBER_WORD, english_value, with_digits
from quern.schemas.words.patterns import lazy_pattern

SCALES: Final = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
    "trillion": 1e12, "dozen": 12.0, "百": 1e2, "千": 1e3, "万": 1e4, "亿": 1e8,
}  # fmt: skip
_DIGITS: Final = lazy_pattern(
    r"(?P<number>\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?!\d|,\d)(?:\.\d+)?|\d+(?:[.:]\d+)?)"
    r"(?:(?:\s|-)?(?P<scale>hundred|thousand|million|billion|trillion|dozen|bn|mn|k)\b|(?P<han>[百千万亿]))?",
    re.IGNORECASE,
)
_WORDS: Final = lazy_pattern(rf"\b{NUMBER_WORD}(?:(?:[ -]| and ){NUMBER_WORD})*\b", re.IGNORECASE)
_ORDINALS: Final = {word: float(n) for n, word in enumerate(ORDINALS, 1)} | {
    "once": 1.0, "twice": 2.0, "half": 0.5, "dozen": 12.0, "pair": 2.0, "both": 2.0, "single": 1.0,
}  # fmt: skip
_ORDINAL: Final = lazy_pattern(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_HAN: Final = lazy_pattern("[零〇一二两三四五六七八九十百千万亿]+")


@lru_cache(maxsize=50_000)
def stated_numbers(text: str) -> frozenset[float]:
    """The numbers that `text` states: in digits, in words from two on, in Chinese numerals that can be nothing else.

    `One` is a pronoun and 一 an article more often than a number; they are left out.
    """
    plain = arabic(with_digits(text))
    return frozenset([*_of_digits(plain), *(n for n in _of_words(plain) if n > 1)])


@lru_cache(maxsize=50_000)
def possible_numbers(text: str) -> frozenset[float]:
    """The numbers that `text` may state: also `one`, ordinals and such words as `twice`, and every Chinese numeral.

    And 61.7 where it says 61.7 million, for who compares it with 52.9 million.
    """
    found = {*stated_numbers(text), *_of_words(text), *_of_digits(with_digits(text))}
    found |= {_number(match) for match in _DIGITS.finditer(with_digits(text))}
    found |= {_ORDINALS[word[0].lower()] for word in _ORDINAL.finditer(text)}
    if not text.isascii():
        numerals = [chinese_value(run[0]) for run in _HAN.finditer(text)]
        found |= {float(n) for n in numerals if n is not None}
    return frozenset(found)


def _of_digits(text: str) -> list[float]:
    found = []
    for match in _DIGITS.finditer(text):
        scale = (match["scale"] or match["han"] or "").lower()
        found.append(round(_number(match) * SCALES.get(scale, 1.0), 6))
    return found


def _number(match: re.Match[str]) -> float:
    return float(re.sub(r"[,\u202f\u00a0]", "", match["number"]).replace(":", "."))


def _of_words(text: str) -> list[float]:
    found: list[float] = []
    for match in _WORDS.finditer(text):
        words = match[0].lower()
        whole = english_value(words)
        parts = [whole] if whole is not None else [english_value(word) for word in re.findall("[a-z]+", words)]
        found += [float(n) for n in parts if n is not None]
    return found
