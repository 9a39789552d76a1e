"""What the citations of answers are worth: do they name the gold sources, and do their quotes stand there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Final

from quern.indexes.catalog import Snapshot
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.pipelines.answers.gate import dropped
from quern.schemas.answers import Answer, Citation

_DAYS: Final = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True)
class Cited:
    """The citations of one answer, counted; a citation counts once for each sentence that rests on it."""

    sentences: int  # Of the answer.
    cited: int  # Sentences with a citation.
    supported: int  # Those whose quotes, read on their days of publication, together hold every number of it.
    citations: int  # Of all sentences.
    gold: int  # Citations of a source that the question names.
    precise: int  # Those of them whose sentence is supported.
    quotes: int  # With those that the gate on quotes dropped.
    equal: int  # Quotes that equal `documents.text` at their span.


def cited_of(snapshot: Snapshot, answers: Sequence[Answer], accepted: Sequence[frozenset[str]]) -> list[Cited]:
    """The citations of `answers`, of which those to `accepted` documents are right."""
    ids = sorted({c.doc_id for a in answers for c in a.citations})
    rows = snapshot.table("documents").lookup("doc_id", ids, ["doc_id", "text"]).to_pylist() if ids else []
    texts = {row["doc_id"]: row["text"] for row in rows}
    return [_cited(a, right, texts) for a, right in zip(answers, accepted, strict=True)]


def _cited(answer: Answer, accepted: frozenset[str], texts: dict[str, str]) -> Cited:
    source = {c.number: c for c in answer.citations}
    cited = supported = citations = gold = precise = 0
    for sentence in answer.sentences:
        named = [source[n] for n in sentence.citations]
        holds = _holds(sentence.text, named)
        right = sum(c.doc_id in accepted for c in named)
        cited += bool(named)
        supported += bool(named) and holds
        citations += len(named)
        gold += right
        precise += right if holds else 0
    equal = sum(texts.get(c.doc_id, "")[c.start : c.end] == c.quote for c in answer.citations)
    quotes = len(answer.citations) + dropped(answer)
    return Cited(len(answer.sentences), cited, supported, citations, gold, precise, quotes, equal)


def _holds(text: str, named: Sequence[Citation]) -> bool:
    """Whether each number of `text` stands in a quote, is a year of publication, or is of a day that a quote names."""
    days = {day for c in named for day in _days(c)}
    known = {n for c in named for n in numbers(c.quote)}
    known |= {str(c.published_at.year) for c in named if c.published_at}
    told = (form for day in days for form in _written(day) if form in text)
    return numbers(text) <= known.union(*map(numbers, told), _spans(text))


def _spans(text: str) -> set[str]:
    """The numbers of the times that lie between two days that the text tells itself: `63 years (1886 to 1949)`.

    They need not stand in a quote: the days must.
    """
    ends = [day for when in dates(text) for day in (when.from_day, when.to_day) if day]
    apart = [abs((one - other).days) for one, other in combinations(ends, 2)]
    spans = (q for q in quantities(text) if q.unit in _DAYS)
    near = (q for q in spans if any(abs(q.value * _DAYS[q.unit] - days) < _DAYS[q.unit] for days in apart))
    return {n for q in near for n in numbers(q.text)}


def _written(day: date) -> list[str]:
    """A day as an answer writes it, and its month."""
    month = f"{day:%B}"
    return [
        *(f"{day.day} {month}", f"{month} {day.day}", f"{month} {day.year}", day.isoformat()),
        *(f"{day.month}月{day.day}日", f"{day.year}年{day.month}月"),
    ]


def _days(citation: Citation) -> set[date]:
    """The first and last days of the times that a quote names, read on its day of publication."""
    published = citation.published_at.date() if citation.published_at else None
    return {day for when in dates(citation.quote, published) for day in (when.from_day, when.to_day) if day}


def numbers(text: str) -> set[str]:
    """The numbers in a text, written one way: `1,200` is `1200`."""
    return {n.replace(",", "") for n in _NUMBER.findall(unicodedata.normalize("NFKC", text))}
