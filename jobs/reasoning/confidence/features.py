"""What tells whether the evidence answers a question: signals of the reader, of shared words and of the search."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from quern.jobs.reasoning.answering.candidates import candidates
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.lines import is_unread, ranked
from quern.jobs.reasoning.answering.reading import read
from quern.jobs.reasoning.logistic import UNKNOWN
from quern.jobs.text.dates import When, dates
from quern.jobs.text.stems import content_words

_NAME: Final = re.compile(r"(?<=\s)(?!I\b)[A-Z][\w'’-]*")
_NUMBER: Final = re.compile(r"[^\W_]*\d[\w-]*")
_MOST_ODDS: Final = 6.0  # Beyond which the reader's odds tell no more.


class Features(NamedTuple):
    """Signals of a question and its evidence; `UNKNOWN` where one cannot be taken."""

    any: float  # Log odds of the reader that some line answers, within ±6; unknown where it read nothing.
    margin: float  # By how much the likeliest line leads the next of another text, as log odds, at most 6; the same.
    # Share of the question's words that the likeliest line has with the one before and its title, by rarity.
    share: float
    own: float  # Most of the question's words that one line has, by rarity.
    # The best match of the question and a line (`jobs.models.late_interaction`); unknown where none was taken.
    match: float
    words: float  # Share of the question's words that the evidence has.
    names: float  # Share of its names that the evidence has; 1 where it has none.
    numbers: float  # Share of its numbers and codes that the evidence has; 1 where it has none.
    similarity: float  # Cosine of the question with the nearest node of the evidence.
    unread: float  # 1 where the reader read nothing.


@dataclass(frozen=True)
class Points:
    """What a question speaks of."""

    words: frozenset[str]  # Stems of its words.
    names: frozenset[str]  # Those of its names.
    numbers: frozenset[str]  # Its numbers and codes outside dates.
    dates: tuple[When, ...]  # Its dates whose days are known.


@lru_cache(maxsize=4096)
def points(question: str) -> Points:
    """What a question speaks of."""
    days = tuple(when for when in dates(question, None) if when.from_day and when.to_day)
    plain = question
    for when in reversed(days):
        plain = f"{plain[: when.start]} {plain[when.end :]}"
    names = frozenset(stem for name in _NAME.findall(plain) for stem in content_words(name))
    numbers = frozenset(number.lower() for number in _NUMBER.findall(plain))
    return Points(content_words(plain), names, numbers, days)


def features(given: AnswerInput) -> Features:
    """The signals of a question and its evidence."""
    asked, likely = points(given.question), candidates(given)
    made, lines = read(given), ranked(given)
    words = frozenset[str]().union(*map(words_of, given.evidence))
    numbers = frozenset(n.lower() for e in given.evidence for n in _NUMBER.findall(f"{e.title or ''} {e.text}"))
    # The default embedder knows no such script: its cosines tell nothing there.
    cosines = [] if is_unread(given.question) else [s for e in given.evidence for s in e.similarities]
    best = likely[0].line.shares if likely else None
    other = next((c.score for c in likely if c.line.shown != likely[0].line.shown), likely[0].score) if likely else 0.0
    return Features(
        any=min(_MOST_ODDS, max(-_MOST_ODDS, made.odds_of_any)) if made.lines else UNKNOWN,
        margin=min(_MOST_ODDS, likely[0].score - other) if made.lines else UNKNOWN,
        share=best.own + best.before + best.title if best else 0.0,
        own=max((line.shares.own for line in lines), default=0.0),
        match=max((line.signals.match for line in lines), default=0.0) or UNKNOWN,
        words=_weighted(given, asked.words, words),
        names=_part(asked.names, words),
        numbers=_part(asked.numbers, numbers),
        similarity=max(cosines, default=UNKNOWN),
        unread=float(not made.lines),
    )


def _weighted(given: AnswerInput, wanted: frozenset[str], held: frozenset[str]) -> float:
    """The share of words that are held, each by its rarity among the lines of the evidence."""
    lines = [content_words(line.shown) for line in ranked(given)]
    weight = {w: math.log(1 + len(lines) / (0.5 + sum(w in line for line in lines))) for w in sorted(wanted)}
    return math.fsum(weight[w] for w in sorted(wanted & held)) / (math.fsum(weight.values()) or 1.0)


def _part(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 1.0


def words_of(evidence: Evidence) -> frozenset[str]:
    """The stems of a chunk, its title and its site: a page of a town's site need not name the town."""
    site = evidence.site.replace(".", " ").replace("-", " ")
    return content_words(evidence.text) | content_words(f"{evidence.title or ''} {site}")


def holds(evidence: Evidence, when: When) -> bool:
    """Whether a chunk speaks of these days, or was published on one of them."""
    first, last = when.from_day, when.to_day
    if first is None or last is None:
        return False
    published = evidence.published_at.date() if evidence.published_at else None
    if published and first <= published <= last:
        return True
    said = [(w.from_day, w.to_day) for w in dates(f"{evidence.title or ''}\n{evidence.text}", published)]
    return any(a is not None and b is not None and first <= b and a <= last for a, b in said)
