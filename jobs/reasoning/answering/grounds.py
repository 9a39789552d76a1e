"""The lines of the evidence that a written sentence rests on, and what of it does not stand in them.

Sources are found after the writing (Xinyu AI Search, section 3.6.1): what a small model claims of them is often wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.lines import Line, ranked
from quern.jobs.text.dates import dates
from quern.jobs.text.names import names
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words
from quern.schemas.words.terms import search_terms

_OPENING: Final = re.compile(r"[A-Z][\w’'-]*\s[a-z]")  # A word that has its capital from the beginning of a sentence.
_VERDICTS: Final = frozenset({"yes", "no"})
_MOST_SOURCES: Final = 3
_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*")


def sources(given: AnswerInput, likely: Sequence[Line], text: str) -> list[int]:
    """The numbers of the likeliest lines that support a written sentence, at most `_MOST_SOURCES`; empty if none do.

    They have all its numbers and names, and half of its other words. What only says yes or no rests on the likeliest
    line. The lines of the evidence that are not among the `likely` come after these.
    """
    first = {line.number for line in likely}
    lines = [*likely, *(line for line in ranked(given) if line.number not in first)]
    words_of = {line.number: _elements(line.shown) for line in lines}
    words = _elements(text) - _VERDICTS
    elements = words - _elements(given.question) or words
    rest, support = set(elements), list[Line]()
    while rest and len(support) < _MOST_SOURCES:
        best = max(lines, key=lambda line: len(rest & words_of[line.number]), default=None)
        if best is None or not rest & words_of[best.number]:
            break
        support.append(best)
        rest -= words_of[best.number] | _elements(given.evidence[best.evidence].title or "")
    numbers = [line.number for line in support] if elements else [line.number for line in likely[:1]]
    return [] if 2 * len(rest) > len(elements) or ungrounded(given, text, numbers) else numbers


def ungrounded(given: AnswerInput, text: str, rests_on: Sequence[int]) -> list[str]:
    """The numbers and names of `text` that neither its sentences nor their title, day or the question has.

    A date may be written another way, and a number in words: what it means must be said.
    """
    places = [given.sentences[n - 1] for n in rests_on]
    rows = [(e.text[start:end], e.title, e.published_at) for at, start, end in places for e in (given.evidence[at],)]
    return missing(given.question, rows, text)


def missing(question: str, said: Sequence[tuple[str, str | None, datetime | None]], text: str) -> list[str]:
    """The same of sentences, each with title and publication time of its document."""
    sentences = [(sentence, published.date() if published else None) for sentence, _, published in said]
    grounds = " ".join([question, *(sentence for sentence, _ in sentences), *(title or "" for _, title, _ in said)])
    grounds += " ".join(_written(day) for _, day in sentences if day)
    times = [when for sentence, day in sentences for when in dates(sentence, day)]
    grounds += " ".join(_written(day) for when in times for day in (when.from_day, when.to_day) if day)
    numbers = {_plain(m) for m in _DIGITS.findall(grounds)}
    values = {q.value for q in quantities(grounds)}
    value_of = {m: q.value for q in quantities(text) for m in _DIGITS.findall(q.text)}
    lacking = [m for m in _DIGITS.findall(text) if _plain(m) not in numbers and value_of.get(m) not in values]
    in_words = [q for q in quantities(text) if not _DIGITS.search(q.text)]
    lacking += [q.text for q in in_words if q.value not in values and f"{q.value:g}" not in numbers]
    words = set(search_terms(grounds).split())
    proper_names = [n.text for n in names(text) if not _OPENING.fullmatch(text, 0, n.end + 2) or n.start]
    return lacking + [name for name in proper_names if not set(search_terms(name).split()) <= words]


@lru_cache(maxsize=4096)
def _elements(text: str) -> frozenset[str]:
    """Its content words, and its quantities as numbers, whether written in digits or in words."""
    return content_words(text) | {f"{q.value:g}" for q in quantities(text)}


def _plain(number: str) -> str:
    return number.replace(",", "").lstrip("0") or "0"


def _written(day: date) -> str:
    return day.strftime(" %Y %-m %-d %B %A ")
