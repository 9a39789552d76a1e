"""Identifiers of a question: codes (`HD-1033`, `MX-7`) and numbered things (`Room 372`), which name one thing alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quern.jobs.reasoning.answering.values import dates, quantities
from quern.jobs.reasoning.questions.function_words import FUNCTION_WORDS
from quern.jobs.reasoning.questions.words import ADVERBS, CLOSED, is_past, is_verb
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.terms import STOP_WORDS

_CODE: Final = lazy_pattern(
    r"(?<![\w/.@-])[^\W\d_]{1,12}(?:[-_/]?[^\W\d_]{1,12})?[-_/]?\d[\w/-]{0,20}(?<![-_/])(?![\w@])"
)
# `mid-2024` and `Q3` are times.
_TIME: Final = lazy_pattern(r"(?:mid|pre|post|early|late|since|circa)-?\d+s?|[QH]\d", re.IGNORECASE)
_NUMBERED: Final = lazy_pattern(
    r"(?<![\w-])(?P<noun>[^\W\d_]{3,30})\s+(?:no\.?\s*|nr\.?\s*|#\s*)?(?P<number>\d{1,6})(?![\w.,:/%-]*\d|[\w%])"
)
_RUN: Final = lazy_pattern(r"[^\W\d_]+|\d+")


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
        """Whether it can be written in one way only: a code with a mark in it, or of two figures or more."""
        return not self.noun and re.search(r"[-_/]|\d\D*\d", self.text) is not None

    def stands_in(self, text: str) -> bool:
        """Whether a text has it: a code with or without its marks, of a numbered thing the number."""
        runs = _RUN.findall(self.text.rpartition(" ")[2] if self.noun else self.text)
        return _written(tuple(runs)).search(text) is not None

    def another_in(self, text: str) -> bool:
        """Whether a text has another of its kind: the same noun or letters with another number."""
        letters = [self.noun] if self.noun else _RUN.findall(self.text)[:1]
        pattern = rf"(?<![^\W_]){re.escape(letters[0])}[-_/\s]*(?:no\.?\s*|nr\.?\s*|#\s*)?\d"
        return re.search(pattern, text, re.IGNORECASE) is not None


@lru_cache(maxsize=1024)
def _written(runs: tuple[str, ...]) -> re.Pattern[str]:
    code = r"[-_/.\s]?".join(map(re.escape, runs))
    return re.compile(rf"(?<![^\W_]){code}(?!\d|[^\W\d_]{{2}})", re.IGNORECASE)


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
