"""Segments of a chunk that match a constituent: by its words, by other words, by a name, a number, a date, a kind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from typing import Final

from quern.jobs.reasoning.alignment.alignment import How
from quern.jobs.reasoning.alignment.kinds import FORMED, KindName, kind_of, values
from quern.jobs.reasoning.alignment.roles import Constituent, Parsed
from quern.jobs.reasoning.alignment.window import LONGEST, Candidate
from quern.jobs.reasoning.alignment.words import Words, words_of
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words, word_stems

# Least fit of a value to the kind asked for.
_FIT: Final = 0.4
# Share of a constituent's words that its segment must have, and words that may stand between two of them.
_SHARE: Final = 0.5
_GAP: Final = 3
_OTHER_UNIT: Final = 0.5  # What a number of the same value is worth that counts something else.
_SYNONYM: Final = 0.8  # What a word counts that says another, as in the relevance of sentences.


@dataclass(frozen=True)
class Wanted:
    """A constituent as it is looked for, whatever the chunk.

    Attributes:
        constituent: What of the question.
        stems: The stems of its words, in order.
        head: The stem that a segment must have; empty where any will do, as of a name.
        kind: What is asked for, where it is asked.
        name: Whether it is written as a name.
        days: First and last day, where it is or has a date.
        dated: Whether it is nothing but a date: its words are no match beside its days.
        numbers: Its numbers by value.
    """

    constituent: Constituent
    stems: tuple[str, ...]
    head: str
    kind: KindName | None
    name: bool
    days: tuple[date, date] | None
    dated: bool
    numbers: frozenset[float]


@dataclass(frozen=True)
class Asked:
    """A question as it is looked for."""

    parsed: Parsed

    @cached_property
    def wanted(self) -> list[Wanted]:
        """Its constituents."""
        return [_wanted(self.parsed.question, c) for c in self.parsed.constituents]

    @cached_property
    def stems(self) -> frozenset[str]:
        """All stems of its constituents."""
        return frozenset(s for w in self.wanted for s in w.stems)


@lru_cache(maxsize=1024)
def asked_of(parsed: Parsed) -> Asked:
    """A question as it is looked for, once for all its chunks."""
    return Asked(parsed)


def _wanted(question: str, c: Constituent) -> Wanted:
    words = words_of(c.text)
    # A word may have several stems, as `LiHua`: their names decide, for sets differ in order from process to process.
    ordered = sorted(words.places, key=lambda stem: (words.places[stem], stem))
    kind = None
    if c.asked:
        kind = kind_of(question)
        other = kind_of(question[c.start :])
        kind = other if kind not in FORMED or (other in FORMED and c.start > 0) else kind
    name = bool(c.text) and sum(w[:1].isupper() for w in c.text.split()) > len(c.text.split()) / 2 and c.start > 0
    found = dates(c.text, None)
    days = next(((w.from_day, w.to_day) for w in found if w.from_day and w.to_day), None)
    numbers = frozenset(q.value for q in quantities(c.text)) if not found else frozenset[float]()
    chinese = any(not s.isascii() for s in ordered)
    head = "" if name or chinese or not ordered else ordered[-1]
    rest = frozenset(ordered).difference(*(content_words(w.text) for w in found))
    return Wanted(c, tuple(ordered), head, kind, name, days, days is not None and not rest, numbers)


def candidates(asked: Asked, evidence: Evidence, synonyms: Mapping[str, frozenset[str]]) -> Iterator[Candidate]:
    """The segments of a chunk that may match, constituent by constituent."""
    words = words_of(evidence.text)
    others = _others(asked, words, synonyms)
    published = evidence.published_at.date() if evidence.published_at else None
    for n, wanted in enumerate(asked.wanted):
        if wanted.kind is not None and wanted.kind in FORMED:
            yield from _of_kind(n, wanted.kind, asked, words, published)
            continue
        if wanted.days is not None:
            yield from _of_date(n, wanted.days, words, published)
            if wanted.dated:
                continue
        if wanted.numbers:
            yield from _of_number(n, wanted, words)
        yield from _of_words(n, wanted, words, others)


def titled(asked: Asked, title: str | None) -> list[int]:
    """The constituents that the title of the document says."""
    words = words_of(title or "")
    said = {*words.places}
    return [
        n
        for n, w in enumerate(asked.wanted)
        if w.stems and w.kind is None and (not w.head or w.head in said) and _covered(w, said) >= _SHARE
    ]


def _covered(wanted: Wanted, said: set[str]) -> float:
    return sum(s in said for s in wanted.stems) / len(wanted.stems)


def _others(asked: Asked, words: Words, synonyms: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """Of each stem of the question the stems of the chunk that say it in another way."""
    found: dict[str, list[str]] = {}
    for word, same in synonyms.items():
        for mine in word_stems(word) & asked.stems:
            found.setdefault(mine, []).extend(s for one in same for s in sorted(word_stems(one)) if s in words.places)
    return found


def _of_words(n: int, wanted: Wanted, words: Words, others: Mapping[str, Sequence[str]]) -> Iterator[Candidate]:
    """Runs of words that have the head and enough of the rest, none longer than a window."""
    at: dict[int, dict[str, bool]] = {}  # Of each word the stems that it says, and whether as they are.
    for stem in wanted.stems:
        for other in others.get(stem, ()):
            for place in words.places[other]:
                at.setdefault(place, {})[stem] = False
        for place in words.places.get(stem, ()):
            at.setdefault(place, {})[stem] = True
    run: list[int] = []
    for place in sorted(at):
        if run and (place - run[-1] > _GAP or words.spans[place][1] - words.spans[run[0]][0] > LONGEST):
            yield from _segment(n, wanted, words, run, at)
            run = []
        run.append(place)
    if run:
        yield from _segment(n, wanted, words, run, at)


def _segment(
    n: int, wanted: Wanted, words: Words, places: Sequence[int], at: Mapping[int, Mapping[str, bool]]
) -> Iterator[Candidate]:
    """The run of words at `places` where it has the head and enough of the rest."""
    counts: dict[str, float] = {}
    for place in places:
        for stem, own in at[place].items():
            counts[stem] = max(counts.get(stem, 0.0), 1.0 if own else _SYNONYM)
    if (wanted.head and wanted.head not in counts) or len(counts) < _SHARE * len(wanted.stems):
        return
    quality = math.fsum(counts.values()) / len(wanted.stems)
    plain = all(any(at[place].values()) for place in places)
    how: How = "entity" if wanted.name and plain else "stem" if plain else "synonym"
    yield Candidate(n, words.spans[places[0]][0], words.spans[places[-1]][1], how, quality)


def _of_kind(n: int, kind: KindName, asked: Asked, words: Words, published: date | None) -> Iterator[Candidate]:
    """The values of the kind asked for that the question does not give itself."""
    question = asked.parsed.question.lower()
    for start, end in words.sentences:
        for v in values(kind, words.text[start:end], published):
            if v.fit >= _FIT and v.text.lower() not in question and not content_words(v.text) <= asked.stems:
                yield Candidate(n, start + v.start, start + v.end, "kind", min(1.0, v.fit))


def _of_date(n: int, days: tuple[date, date], words: Words, published: date | None) -> Iterator[Candidate]:
    """The dates of the text that lie in the one meant, or that it lies in."""
    first, last = days
    for start, end in words.sentences:
        for w in dates(words.text[start:end], published):
            if w.from_day and w.to_day and w.from_day <= last and first <= w.to_day:
                within = first <= w.from_day and w.to_day <= last
                yield Candidate(n, start + w.start, start + w.end, "date", 1.0 if within else 0.7)


def _of_number(n: int, wanted: Wanted, words: Words) -> Iterator[Candidate]:
    """The numbers of the same value; those of what the constituent counts are better."""
    for start, end in words.sentences:
        for q in quantities(words.text[start:end]):
            if q.value in wanted.numbers:
                counted = wanted.head in content_words(f"{q.text} {q.unit}") or not wanted.head.isalpha()
                yield Candidate(n, start + q.start, start + q.end, "number", 1.0 if counted else _OTHER_UNIT)
