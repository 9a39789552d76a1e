"""Digits of all scripts in one form, and what English number words mean."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from quern.schemas.words.patterns import lazy_pattern


def _class(characters: list[str]) -> str:
    """The characters, which come in order, as ranges of a character class."""
    ranges: list[list[str]] = []
    for c in characters:
        if ranges and ord(c) == ord(ranges[-1][1]) + 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    return "".join(f"{first}-{last}" for first, last in ranges)


# Unicode's decimal digits (category Nd) other than ASCII's; full-width ones are among them.
_DIGITS: Final = {c: str(unicodedata.digit(c)) for c in map(chr, range(0x80, 0x20000)) if c.isdecimal()}
_DIGIT: Final = lazy_pattern(f"[{_class(list(_DIGITS))}]")
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
