"""What is asked of citing: a sentence of an answer, the sentences of the evidence, and how much of it these have."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import Final

from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import (
    AnswerInput,
    Evidence,
    ReportedEvent,
    asks_events,
    spans,
    without_times,
)
from quern.jobs.tasks.prompts import quoted
from quern.jobs.text.dates import dates
from quern.jobs.text.numbers import english_value, possible_numbers, stated_numbers
from quern.jobs.text.stems import content_words

Element = str | float


@dataclass(frozen=True)
class Source:
    """A sentence of the evidence."""

    text: str  # Its words.
    title: str | None = None  # Title of its document, which says what its pronouns stand for.
    published_at: datetime | None = None  # Publication time of the document, which its relative times are counted from.
    # First and last days of the events that it tells, whose year a sentence before it may have.
    events: tuple[date, ...] = ()

    @cached_property
    def elements(self) -> frozenset[Element]:
        """Its words and numbers."""
        return plain_words(self.text) | possible_numbers(self.text)

    @cached_property
    def known(self) -> frozenset[Element]:
        """The same with the words of the title."""
        return self.elements | plain_words(self.title) if self.title else self.elements

    @property
    def days(self) -> frozenset[float]:
        """Numbers of the days that it names, of relative times too, and of the events that it tells."""
        numbers = frozenset(float(part) for day in self.events for part in (day.year, day.month, day.day))
        return numbers | _days(self.text, self.published_at.date() if self.published_at else None)


class Sources(tuple[Source, ...]):
    """The sentences of the evidence of an answer, by their numbers less one; all its sentences are cited from them."""

    @cached_property
    def held(self) -> Counter[Element]:
        """In how many of them each word and number stands."""
        return Counter(chain.from_iterable(source.elements for source in self))


@lru_cache(maxsize=50_000)
def plain_words(text: str) -> frozenset[Element]:
    """The words of content of `text` but for numbers."""
    return frozenset(w for w in content_words(text) if not w.isdigit() and english_value(w) is None)


@lru_cache(maxsize=50_000)
def undated(text: str) -> str:
    """`text` without the times that it names."""
    return without_times(text, dates(text))


@lru_cache(maxsize=20_000)
def _days(text: str, published: date | None) -> frozenset[float]:
    """Years, months and days of the month of the times that `text` names."""
    times = [day for when in dates(text, published) for day in (when.from_day, when.to_day) if day is not None]
    return frozenset(float(part) for day in times for part in (day.year, day.month, day.day))


PROMISING: Final = 12  # Sources that are looked at closely, and shown in a prompt.


class Overlap:
    """What a sentence and its sources share, and how much of the sentence that is.

    Attributes:
        weights: Share of each element of the sentence in the weight of all; empty where no element weighs anything.
        own: What of the elements a source has, given its number.
    """

    def __init__(
        self, weights: Mapping[Element, float], sources: Sequence[Source], free: frozenset[Element] = frozenset()
    ) -> None:
        """`weights` are of the elements of the sentence; what is `free` of these no source needs to have."""
        total = math.fsum(weight for element, weight in weights.items() if element not in free)
        self.weights = {e: 0.0 if e in free else weight / total for e, weight in weights.items()} if total else {}
        elements = frozenset(weights)
        self.own: Callable[[int], frozenset[Element]] = cache(lambda n: elements & sources[n - 1].elements)
        self._known: Callable[[int], frozenset[Element]] = cache(lambda n: elements & sources[n - 1].known)

    def best(self, candidates: Iterable[int], needed: frozenset[float]) -> list[int]:
        """The most promising of `candidates`: those that share most, and those that do and have all that is `needed`.

        Each at most `PROMISING`.
        """
        ranked = sorted(candidates, key=lambda n: self.worth([n]), reverse=True)
        whole = [n for n in ranked if needed <= self.own(n)]
        return list(dict.fromkeys([*whole[:PROMISING], *ranked[:PROMISING]]))

    def worth(self, numbers: Sequence[int]) -> tuple[float, int]:
        """How much of the sentence sources have, what only their titles have counting half; then the earlier one."""
        return self._weight(frozenset[Element]().union(*map(self.own, numbers))) + self.share(numbers), -numbers[-1]

    def share(self, numbers: Iterable[int]) -> float:
        """Share of the weight of the sentence's elements that these sources have, titles and all."""
        return self._weight(self.known(numbers))

    def known(self, numbers: Iterable[int]) -> frozenset[Element]:
        """What of the elements these sources have, titles and all."""
        return frozenset[Element]().union(*map(self._known, numbers))

    def _weight(self, elements: frozenset[Element]) -> float:
        # An exact sum, for sets have no order.
        return math.fsum(self.weights.get(element, 0.0) for element in elements)


MOST_CITED: Final = 5  # As many as a statement may rest on.
_HEADING: Final = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$)")
_VERDICT: Final = frozenset({"yes", "no", "是", "否"})


def says_something(text: str) -> bool:
    """Whether a sentence is no heading, nothing that introduces a list, and not empty."""
    sentence = text.strip()
    return bool(sentence) and not sentence.endswith((":", "：")) and not _HEADING.match(sentence)


@dataclass(frozen=True)
class CitingInput:
    """A sentence of an answer and what it may rest on."""

    sentence: str  # One sentence of the answer.
    sources: Sequence[Source]  # Sentences of the evidence; a source's number is its place here, counted from 1.
    rests_on: Sequence[int] = ()  # Numbers of those that the answer was drafted from, as far as that is known.
    question: str = ""  # What was asked; an answer may repeat its words, which these sources then need not have.
    alone: bool = False  # Whether it answers by itself, as the short answer does: then it is cited however short it is.

    @property
    def citable(self) -> bool:
        """Whether the sentence is one that carries citations."""
        sentence = self.sentence.strip()
        if not says_something(sentence):
            return False
        # Characters that are worth a citation: Xinyu AI Search, its released code.
        return self.alone or len(sentence) >= 10

    @cached_property
    def elements(self) -> frozenset[Element]:
        """What of the sentence is looked for in the sources: its words and its numbers."""
        return (plain_words(self.sentence) - _VERDICT) | self.numbers

    @cached_property
    def dated(self) -> frozenset[Element]:
        """The words of its times: a source may write them otherwise, or as a time relative to its publication."""
        return self.elements - plain_words(undated(self.sentence)) - self.numbers

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers that must stand in the sources."""
        return stated_numbers(self.sentence)

    @cached_property
    def times(self) -> list[frozenset[float]]:
        """The numbers of each time of the sentence: a source must have them together."""
        texts = (when.text for when in dates(self.sentence))
        return [numbers for numbers in map(stated_numbers, texts) if numbers]

    @cached_property
    def weights(self) -> dict[Element, float]:
        """Inverse document frequency of each element among the sources."""
        counts = (self.sources if isinstance(self.sources, Sources) else Sources(self.sources)).held
        return {e: math.log(1.0 + len(self.sources) / (0.5 + counts[e])) for e in self.elements}

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt: the sentence, and the sources that share most with it, by their numbers."""
        best = Overlap(self.weights, self.sources).best(range(1, len(self.sources) + 1), self.numbers)[:PROMISING]
        rows = [
            {"number": n, "title": _line(self.sources[n - 1].title or ""), "text": _line(self.sources[n - 1].text)}
            for n in sorted({*best, *self.drafted})
        ]
        return {"sentence": _line(self.sentence), "sources": rows, "most": MOST_CITED}

    @property
    def drafted(self) -> list[int]:
        """Those of `rests_on` that there are, each once."""
        return [n for n in dict.fromkeys(self.rests_on) if 1 <= n <= len(self.sources)]


def citing_inputs(given: AnswerInput, draft: Draft) -> list[CitingInput]:
    """What the sentences of `draft` are cited from: the sentences of its evidence, by their numbers."""
    tells = asks_events(given.question)
    sources = Sources(s for e in given.evidence for s in _sources(e, e.events if tells else ()))
    # A short answer is an answer however short it is.
    return [
        CitingInput(s.text, sources, tuple(s.rests_on), given.question, alone=n == 0)
        for n, s in enumerate(draft.sentences)
    ]


def _sources(evidence: Evidence, events: Sequence[ReportedEvent]) -> Sequence[Source]:
    """The sentences of a chunk, with the days of those of its `events` that they tell."""
    sources = _of_chunk(evidence.text, evidence.title, evidence.published_at)
    if not events:
        return sources
    return [
        replace(source, events=tuple(day for e in events if e.start < end and e.end > start for day in e.days))
        for source, (start, end) in zip(sources, spans(evidence.text), strict=True)
    ]


@lru_cache(maxsize=4096)
def _of_chunk(text: str, title: str | None, published_at: datetime | None) -> tuple[Source, ...]:
    """The sentences of a chunk: questions of a batch share chunks, and what a sentence holds is looked for once."""
    return tuple(Source(text[start:end], title, published_at) for start, end in spans(text))


def _line(text: str) -> str:
    return quoted(text, 600)
