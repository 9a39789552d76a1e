"""Identifiers of a question: codes (`HD-1033`, `MX-7`) and numbered things (`Room 372`), which name one thing alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quern.jobs.reasoning.questions.function_words import FUNCTION_WORDS
from quern.jobs.text.dates import dates
from quern.jobs.text.number_values import possible_numbers
from quern.jobs.text.quantities import quantities
from quern.jobs.text.words import ADVERBS, CLOSED, is_past, is_verb
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK
from quern.schemas.words.terms import STOP_WORDS

# Letters and other characters of words, but for those of scripts without spaces: `HD-1033是什么` names HD-1033.
_LETTER: Final = rf"[^\W\d_{CJK}]"
_CHARACTER: Final = rf"[^\W{CJK}]"
_CODE: Final = lazy_pattern(
    rf"(?<![/.@-])(?<!{_CHARACTER}){_LETTER}{{1,12}}(?:[-_/]?{_LETTER}{{1,12}})?[-_/]?\d(?:{_CHARACTER}|[/-]){{0,20}}"
    rf"(?<![-_/])(?!{_CHARACTER}|@)"
)
# `mid-2024` and `Q3` are times.
_TIME: Final = lazy_pattern(r"(?:mid|pre|post|early|late|since|circa)-?\d+s?|[QH]\d", re.IGNORECASE)
_NUMBERED: Final = lazy_pattern(
    rf"(?<!-)(?<!{_CHARACTER})(?P<noun>{_LETTER}{{3,30}})\s+(?:no\.?\s*|nr\.?\s*|#\s*)?(?P<number>\d{{1,6}})"
    rf"(?![\w.,:/%-]*\d|%|{_CHARACTER})"
)
_RUN: Final = lazy_pattern(rf"{_LETTER}+|\d+")
_IN_ONE_WAY: Final = 3  # Figures of a code that nothing else writes, or letters before its mark: `SB535`, `MX-7`.
_ROMAN: Final = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_NO_ROMAN: Final = 40


@dataclass(frozen=True)
class Identifier:
    """An identifier as a question writes it.

    Attributes:
        text: Its characters.
        noun: What is numbered, in lower case; empty for a code.
    """

    text: str
    noun: str = ""

    @property
    def alone(self) -> bool:
        """Whether it may be the key of a thing: a code with a mark in it, or of two figures or more."""
        return not self.noun and re.search(r"[-_/]|\d\D*\d", self.text) is not None

    @property
    def in_one_way(self) -> bool:
        """Whether nothing else writes it: `HD-1033`; `COVID-19` may be COVID, `B12` cobalamin, `PS3` PlayStation 3."""
        letters, *rest = _RUN.findall(self.text)
        figures = sum(len(run) for run in rest if run.isdecimal())
        marked = re.search(r"[-_/]", self.text) is not None and len(letters) <= _IN_ONE_WAY
        return not self.noun and (marked or figures >= _IN_ONE_WAY)

    def stands_in(self, text: str) -> bool:
        """Whether a text has it: a code with or without its marks, a number in figures, words or Roman numerals."""
        runs = _RUN.findall(self.text.rpartition(" ")[2] if self.noun else self.text)
        if _written(tuple(runs)).search(text) is not None:
            return True
        if self.noun:
            return _in_words(self.noun, int(runs[-1]), text)
        return _in_full(tuple(runs), text)

    def another_in(self, text: str) -> bool:
        """Whether a text has another of its kind: the same noun or letters with another number."""
        letters = [self.noun] if self.noun else _RUN.findall(self.text)[:1]
        pattern = rf"(?<!{_LETTER})(?<!\d){re.escape(letters[0])}[-_/\s]*(?:no\.?\s*|nr\.?\s*|#\s*)?\d"
        return re.search(pattern, text, re.IGNORECASE) is not None


@lru_cache(maxsize=1024)
def _written(runs: tuple[str, ...]) -> re.Pattern[str]:
    """A code with any mark between its letters and figures; a letter behind it tells a form of the same thing."""
    code = r"[-_/.\s]?".join(map(re.escape, runs))
    behind = rf"(?!\d|{_LETTER}{{2}})" if len(runs) == 1 else r"(?!\d)"
    return re.compile(rf"(?<!{_LETTER})(?<!\d){code}{behind}", re.IGNORECASE)


@lru_cache(maxsize=1024)
def in_full(letters: str) -> re.Pattern[str]:
    """Words that begin with the letters of an abbreviation: `National Aeronautics and Space Administration`."""
    words = r"[\s-]+(?:(?:of|the|and|for|de)\s+)*".join(rf"{re.escape(letter)}{_LETTER}*" for letter in letters)
    return re.compile(rf"(?<!{_CHARACTER}){words}(?!{_CHARACTER})")


def _in_full(runs: tuple[str, ...], text: str) -> bool:
    """Whether the letters of a code stand as words before its number: `Senate Bill 535` for SB535."""
    if len(runs) != 2 or not runs[0].isupper():
        return False
    number = re.compile(rf"\s+(?:{_LETTER}+\s+)?{runs[1]}(?!\d)")
    return any(number.match(text, found.end()) for found in in_full(runs[0]).finditer(text))


def _in_words(noun: str, number: int, text: str) -> bool:
    """Whether a text numbers a thing without figures: `Chapter three`, `the third chapter`, `Chapter III`."""
    own = re.escape(noun)
    said = re.findall(rf"\b{own}[\s-]+([a-z-]{{1,30}})\b|\b([a-z-]{{1,30}})[\s-]+{own}\b", text, re.IGNORECASE)
    return any(number in possible_numbers(word) or word.lower() == _roman(number) for word in map("".join, said))


def _roman(number: int) -> str:
    """A number below 40 in Roman numerals, in lower case; empty for others."""
    found = ""
    for value, letters in _ROMAN if number < _NO_ROMAN else ():
        found, number = found + letters * (number // value), number % value
    return found


@lru_cache(maxsize=4096)
def identifiers(question: str) -> tuple[Identifier, ...]:
    """The identifiers of a question, codes first; numbers of dates and amounts are none."""
    taken = [(w.start, w.end) for w in dates(question)]
    taken += [(q.start, q.end) for q in quantities(question) if q.unit]

    def free(start: int, end: int) -> bool:
        return not any(a < end and start < b for a, b in taken)

    codes = [Identifier(m[0]) for m in _CODE.finditer(question) if free(*m.span()) and not _TIME.fullmatch(m[0])]
    numbered = [
        Identifier(m[0], m["noun"].lower())
        for m in _NUMBERED.finditer(question)
        if free(*m.span("number")) and _numbers(m["noun"]) and not any(m["number"] in code.text for code in codes)
    ]
    return (*codes, *numbered)


def _numbers(noun: str) -> bool:
    """Whether a word before a number may be what it numbers: no word of a closed class, and no verb."""
    word = noun.lower()
    closed = word in STOP_WORDS or word in CLOSED or word in FUNCTION_WORDS or word in ADVERBS
    return not closed and (noun[:1].isupper() or not (is_verb(word) or is_past(word)))
