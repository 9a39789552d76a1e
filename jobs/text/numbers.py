"""Digits of all scripts in one form, what English number words mean, and the numbers that a text names, by value.

1,200 is 1200, nine is 9, 1.2 million is 1200000, 三百六十 is 360. Values are for comparing texts: what a number counts,
and whether it is part of a date or a name, makes no difference.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from quern.jobs.text.chinese_numerals import arabic
from quern.jobs.text.chinese_numerals import value as chinese_value
from quern.schemas.words.patterns import lazy_pattern

# Unicode's decimal digits (category Nd) other than ASCII's; full-width ones are among them.
_DIGITS: Final = {c: str(unicodedata.digit(c)) for c in map(chr, range(0x80, 0x20000)) if c.isdecimal()}
# They stand in runs from 0 to 9.
_DIGIT: Final = lazy_pattern("[" + "".join(f"{c}-{chr(ord(c) + 9)}" for c, n in _DIGITS.items() if n == "0") + "]")
# Arabic decimal and thousands separators and the per cent sign mean the ASCII ones beside a digit.
_ARABIC_MARK: Final = lazy_pattern(r"(?<=\d)[٫٬](?=\d)|(?<=\d)٪")
_ARABIC_MARKS: Final = {"٫": ".", "٬": ",", "٪": "%"}

_SMALL: Final = {
    word: n
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS: Final = {
    word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_SCALES: Final = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# Any word of a number, the longer first.
NUMBER_WORD: Final = rf"(?:{'|'.join(sorted([*_SMALL, *_TENS, *_SCALES], key=len, reverse=True))})"
_WORD: Final = lazy_pattern(r"[a-z]+", re.IGNORECASE)


def with_digits(text: str) -> str:
    """`text` with the decimal digits of every script as ASCII digits."""
    if text.isascii():
        return text
    text = _DIGIT.sub(lambda match: _DIGITS[match[0]], text)
    return _ARABIC_MARK.sub(lambda match: _ARABIC_MARKS[match[0]], text)


def english_value(words: str) -> int | None:
    """The number that English `words` write, such as `two hundred and five`; null where they are no number."""
    total = section = 0
    largest = 10**15
    for word in _WORD.findall(words.lower()):
        if word == "and":
            continue
        if word in _SCALES:
            scale = _SCALES[word]
            if section == 0 or (scale == 100 and section > 99) or (scale > 100 and scale >= largest):
                return None
            if scale == 100:
                section *= 100
            else:
                total, section, largest = total + section * scale, 0, scale
        else:
            number = _SMALL.get(word, _TENS.get(word, -1))
            room = 10 if section % 100 >= 20 and section % 10 == 0 else 100 if section % 100 == 0 else 0
            if number < 0 or number >= room:
                return None
            section += number
    return total + section


# ---- the numbers that a text names

SCALES: Final = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
    "trillion": 1e12, "dozen": 12.0, "百": 1e2, "千": 1e3, "万": 1e4, "亿": 1e8,
}  # fmt: skip
_FIGURES: Final = lazy_pattern(
    r"(?P<number>\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?!\d|,\d)(?:\.\d+)?|\d+(?:[.:]\d+)?)"
    r"(?:(?:\s|-)?(?P<scale>hundred|thousand|million|billion|trillion|dozen|bn|mn|k)\b|(?P<han>[百千万亿]))?",
    re.IGNORECASE,
)
_IN_WORDS: Final = lazy_pattern(rf"\b{NUMBER_WORD}(?:(?:[ -]| and ){NUMBER_WORD})*\b", re.IGNORECASE)
ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
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
    numbers = {*stated_numbers(text), *_of_words(text), *_of_digits(with_digits(text))}
    numbers |= {_number(match) for match in _FIGURES.finditer(with_digits(text))}
    numbers |= {_ORDINALS[word[0].lower()] for word in _ORDINAL.finditer(text)}
    if not text.isascii():
        numerals = [chinese_value(run[0]) for run in _HAN.finditer(text)]
        numbers |= {float(n) for n in numerals if n is not None}
    return frozenset(numbers)


def _of_digits(text: str) -> list[float]:
    numbers = []
    for match in _FIGURES.finditer(text):
        scale = (match["scale"] or match["han"] or "").lower()
        numbers.append(round(_number(match) * SCALES.get(scale, 1.0), 6))
    return numbers


def _number(match: re.Match[str]) -> float:
    return float(re.sub(r"[,\u202f\u00a0]", "", match["number"]).replace(":", "."))


def _of_words(text: str) -> list[float]:
    numbers: list[float] = []
    for match in _IN_WORDS.finditer(text):
        words = match[0].lower()
        whole = english_value(words)
        parts = [whole] if whole is not None else [english_value(word) for word in re.findall("[a-z]+", words)]
        numbers += [float(n) for n in parts if n is not None]
    return numbers
