"""Reflection on a list of matches: those that are denied, or of another entity or time, are taken back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from quern.jobs.reasoning.alignment.alignment import Why
from quern.jobs.reasoning.alignment.matching import Asked, Wanted
from quern.jobs.reasoning.alignment.window import Candidate
from quern.jobs.reasoning.alignment.words import Words, words_of
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.reasoning.answering.polarity import asked_negatively, denies
from quern.jobs.text.dates import dates
from quern.jobs.text.names import names
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

# What ends the reach of a denial, and the most characters that may stand between it and the verb: `has not, it seems,
# been repaired` is too far.
_CLAUSE: Final = lazy_pattern(r"[,;:.!?()，。；：！？—–\n]")
_REACH: Final = 24


def taken_back(asked: Asked, evidence: Evidence, chosen: Sequence[Candidate]) -> list[tuple[Candidate, Why]]:
    """Those of the `chosen` matches that do not hold, and why."""
    words = words_of(evidence.text)
    late = set(_of_other_times(asked, evidence, words, chosen))
    found: list[tuple[Candidate, Why]] = []
    negative = asked_negatively(asked.parsed.question)
    for c in chosen:
        wanted = asked.wanted[c.constituent]
        if c in late:
            found.append((c, "other_time"))
        elif not negative and wanted.constituent.role == "predicate" and _denied(evidence.text, c):
            found.append((c, "negated"))
        elif c.quality < 1.0 and len(wanted.stems) > 1 and _of_another(wanted, words, c):
            found.append((c, "other_entity"))
    return found


def _denied(text: str, c: Candidate) -> bool:
    """Whether a word of denial stands in its clause before a verb: `was never repaired`."""
    before = text[max(0, c.start - _REACH) : c.start]
    return denies(_CLAUSE.split(before)[-1] + text[c.start : c.end])


def _of_another(wanted: Wanted, words: Words, c: Candidate) -> bool:
    """Whether a part of a name stands in another name of as many words: `Mary Hale` for `John Hale`."""
    start, end = words.sentence_at(c.start)
    asked = frozenset(wanted.stems)
    for name in names(words.text[start:end]):
        if start + name.start < c.end and c.start < start + name.end:
            said = content_words(name.text)
            if len(said) == len(asked) and said & asked and said != asked:
                return True
    return False


def _of_other_times(asked: Asked, evidence: Evidence, words: Words, chosen: Sequence[Candidate]) -> Iterator[Candidate]:
    """What is done or asked for in sentences that name times, and none that the question means."""
    meant = [w.days for w in asked.wanted if w.days is not None and w.kind is None]
    if not meant:
        return
    published = evidence.published_at.date() if evidence.published_at else None
    for c in chosen:
        wanted = asked.wanted[c.constituent]
        if wanted.constituent.role == "predicate" or wanted.constituent.asked:
            start, end = words.sentence_at(c.start)
            told = [(w.from_day, w.to_day) for w in dates(words.text[start:end], published)]
            days = [(first, last) for first, last in told if first is not None and last is not None]
            if days and not any(_meet(one, other) for one in days for other in meant):
                yield c


def _meet(one: tuple[date, date], other: tuple[date, date]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
