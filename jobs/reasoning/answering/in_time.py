"""Lines of another time than the one that a question names: they come behind those of that time.

A row's time is its label (`2022`, `March`, `Sunday`); a sentence's is that of its own dates, else of the last date told
before it on its page, else of its page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from quern.jobs.reasoning.answering.named_things import asked_by_name
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.scopes import scopes
from quern.jobs.reasoning.answering.typed.value import times
from quern.jobs.reasoning.answering.typed.when import written_year
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

# The time of what is asked: `in 2022`, `of the winter of 2022`, `Lantern Tide 2026`; `its 2035 target` and `by 2035`
# name no time at which the answer held.
_AT: Final = lazy_pattern(
    r"\b(?:(?:[Ii]n|[Oo]f|[Ff]or|[Dd]uring)\s+(?:[a-z]+\s+)?|[A-Z][\w’'-]+\s+)(?P<year>(?:1[5-9]|20)\d\d)\b(?!\s*/|-\d)"
    r"(?!\s+(?:[a-z]+))|\b(?:[Ii]n|[Dd]uring)\s+(?P<other>(?:1[5-9]|20)\d\d)\b"
)
_YEAR: Final = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
# A year up to which something holds or is wanted: who tells it names it too. Who answers what was since or before one
# mostly names another.
_LIMIT: Final = lazy_pattern(
    r"\b(?:by|until|till)\s+(?:the\s+(?:year|end|start|beginning)\s+(?:of\s+)?)?(?P<year>(?:1[5-9]|20)\d\d)\b",
    re.IGNORECASE,
)
# What was before or after something of a year was mostly in another.
_BEFORE_THEN: Final = lazy_pattern(r"\b(?:before|after|since|until|till|following)\s+(?!in\b)\w", re.IGNORECASE)
_COMPARED: Final = lazy_pattern(
    r",?\s\b(?:against|compared\s+(?:with|to)|(?:up|down)\s+(?:on|from)|than)\b", re.IGNORECASE
)
# Of a thing that has a name, so that the table may be of it: the latest of anything else may be a page.
_LATEST: Final = lazy_pattern(r"\b(?:[Mm]ost\s+recent|[Ll]atest|[Nn]ewest)\s+(?:[a-z]+\s+)?[A-Z]")
# Log odds in those of `relevance.WEIGHTS`, set by hand: a row or a sentence of another time answers nothing, or falls
# behind its equals of the time asked for.
_OTHER: Final = -4.0
_ROW: Final = 2.0
_NAMES_LIMIT: Final = 2.0
_LEAST: Final = 0.5  # Share of what the best line has of the question that a line of the time must have.


def in_time(question: str, best: Sequence[Line]) -> list[Line]:
    """The lines, best first, those of another time than `question` names behind; all as they are without one of it."""
    years = years_asked(question) or _latest(question, best)
    if not years and (limits := {int(m["year"]) for m in _LIMIT.finditer(question)}):
        return _naming(limits, best)
    marks = {line.number: _row_fits(question, years, line) for line in best if line.row is not None}
    most = max((line.signals.covered for line in best), default=0.0)
    of_year = _sentences(years, best) if years else {}
    covering = {line.number for line in best if line.signals.covered >= _LEAST * most}
    told = [line for line in best if marks.get(line.number) and line.values and line.number in covering]
    told += [line for line in best if of_year.get(line.number) and line.number in covering and _answers(line, best)]
    if not told:
        return [*best]
    changes: dict[int, float] = {}
    for line in best:
        if line.number in marks:
            fits = marks[line.number]
            changes[line.number] = _OTHER if fits is False else _ROW if fits and _under(question, line) else 0.0
        elif of_year.get(line.number) is False:
            changes[line.number] = _OTHER
    return _changed(best, changes)


def _latest(question: str, best: Sequence[Line]) -> set[int]:
    """The last year of a table by years, where the latest of several is asked for: `at the most recent fair`."""
    if _LATEST.search(question) is None:
        return set()
    asked = content_words(question)
    tables = [o for o in best if o.row is not None and o.values and content_words(" ".join(o.row.header)) & asked]
    of = {(o.row.cells[0].strip(), o.published.year if o.published else None) for o in tables if o.row is not None}
    years = {int(label) for label, now in of if _YEAR.fullmatch(label) and (now is None or int(label) <= now)}
    return {max(years)} if len(years) > 1 else set()


def _naming(years: set[int], best: Sequence[Line]) -> list[Line]:
    """The lines, best first, those with a value that name one of the `years` before, those that tell others behind.

    All as they are where none of them does.
    """
    naming = {o.number for o in best if o.values and years & _told(o)}
    if not naming:
        return [*best]
    others = {o.number: _OTHER for o in best if _told(o) - years}
    return _changed(best, others | dict.fromkeys(naming, _NAMES_LIMIT))


def _changed(best: Sequence[Line], changes: Mapping[int, float]) -> list[Line]:
    """The lines, best first, with what each of some gains or loses."""
    found = [replace(line, score=line.score + changes.get(line.number, 0.0)) for line in best]
    return sorted(found, key=lambda line: (-line.score, line.number))


def _told(line: Line) -> set[int]:
    return {int(year) for year in _YEAR.findall(line.text)}


def years_asked(question: str) -> set[int]:
    """The years at which what is asked for was."""
    found = (m for m in _AT.finditer(question) if _BEFORE_THEN.search(question, 1, m.start()) is None)
    return {int(m["year"] or m["other"]) for m in found}


def _row_fits(question: str, years: set[int], line: Line) -> bool | None:
    """Whether the label of a row is the time asked for; None where it is no time, or none is asked for."""
    if line.row is None:
        return None
    label = line.row.cells[0].strip()
    if _YEAR.fullmatch(label):
        return int(label) in years if years else None
    if len(label.split()) > 1:
        return None
    asked = {s.unit: s.places for s in scopes(question)}
    own = [s for s in scopes(label) if s.unit in ("month", "weekday") and s.unit in asked]
    return any(s.places & asked[s.unit] for s in own) if own else None


def _under(question: str, line: Line) -> bool:
    """Whether a column of the row is headed by a word of the question, or its label is a year beside values."""
    heads = line.row.header[1:] if line.row is not None else ()
    if line.row is not None and _YEAR.fullmatch(line.row.cells[0].strip()):
        # A year is seldom named of another thing, a month often; which firm it was no table of years tells.
        return bool(line.values) and not asked_by_name(question)
    return bool(content_words(" ".join(heads)) & content_words(question))


def _sentences(years: set[int], best: Sequence[Line]) -> dict[int, bool]:
    """Whether a sentence is of one of the `years`, by its number; a sentence whose time is open is left out."""
    found: dict[int, bool] = {}
    before: date | None = None
    evidence = -1
    for line in sorted(best, key=lambda line: line.number):
        before = before if line.evidence == evidence else None
        evidence = line.evidence
        if line.row is not None:
            continue
        # `Came this time, against 31,000 last year` tells what was this time.
        told = _COMPARED.split(line.text, maxsplit=1)[0]
        own = [w for w in times(told, line.published) if w.from_day and w.to_day]
        spans = [(w.from_day.year, w.to_day.year) for w in own if w.from_day and w.to_day]
        if not spans and (day := before or line.published) is not None:
            spans = [(day.year, day.year)]
        if spans:
            found[line.number] = any(first <= year <= last for first, last in spans for year in years)
        before = written_year(line.text, line.published) or before
    return found


def _answers(line: Line, best: Sequence[Line]) -> bool:
    """Whether a line has a value of the kind asked for, where any line has one."""
    return bool(line.values) or not any(other.values for other in best)
