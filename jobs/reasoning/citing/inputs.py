"""What is asked of citing: a sentence of an answer, and the sentences of the evidence that it may rest on."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Final

from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence, ReportedEvent, spans
from quern.jobs.reasoning.citing.overlap import PROMISING, Overlap
from quern.jobs.reasoning.citing.source import Element, Source, Sources, plain_words, undated
from quern.jobs.reasoning.prompts import quoted
from quern.jobs.reasoning.questions.course import asks_events
from quern.jobs.text.dates import dates
from quern.jobs.text.number_values import stated_numbers

MOST_CITED: Final = 5  # As many as a statement may rest on.
_LEAST_CHARACTERS: Final = 10  # Xinyu AI Search, its released code.
_LONGEST: Final = 600  # Characters of a source in a prompt.
_HEADING: Final = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$)")
_VERDICT: Final = frozenset({"yes", "no", "是", "否"})


@dataclass(frozen=True)
class CitingInput:
    """A sentence of an answer and what it may rest on.

    Attributes:
        sentence: One sentence of the answer.
        sources: Sentences of the evidence; a source's number is its place here, counted from 1.
        rests_on: Numbers of those that the answer was drafted from, as far as that is known.
        question: What was asked; an answer may repeat its words, which these sources then need not have.
        alone: Whether it answers by itself, as the short answer does: then it is cited however short it is.
        cosines: Cosine of the sentence with each source; None where no vectors are at hand.
    """

    sentence: str
    sources: Sequence[Source]
    rests_on: Sequence[int] = ()
    question: str = ""
    alone: bool = False
    cosines: Sequence[float] | None = None

    @property
    def citable(self) -> bool:
        """Whether the sentence is one that carries citations."""
        said = self.sentence.strip()
        if not said or said.endswith((":", "：")) or _HEADING.match(said):
            return False
        return self.alone or len(said) >= _LEAST_CHARACTERS

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
        held = (self.sources if isinstance(self.sources, Sources) else Sources(self.sources)).held
        return {e: math.log(1.0 + len(self.sources) / (0.5 + held[e])) for e in self.elements}

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
    return quoted(text, _LONGEST)
