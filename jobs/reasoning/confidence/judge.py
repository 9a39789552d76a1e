"""Which questions are answered and which refused, and why: the calibrated probability against the accepted risk.

What tells whether the evidence answers a question are signals of the reader, of shared words and of the search.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from quern.jobs.reasoning.answering.candidates import candidates
from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence, asks_events, without_times
from quern.jobs.reasoning.answering.lines import is_unread, ranked
from quern.jobs.reasoning.answering.reading import read
from quern.jobs.reasoning.logistic import UNKNOWN, LogisticModel
from quern.jobs.tasks.task import rules_digest
from quern.jobs.text.dates import When, dates
from quern.jobs.text.stems import content_words
from quern.schemas.settings import AnswerSettings

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
    plain = without_times(question, days)
    names = frozenset(stem for name in _NAME.findall(plain) for stem in content_words(name))
    numbers = frozenset(number.lower() for number in _NUMBER.findall(plain))
    return Points(content_words(plain), names, numbers, days)


def features(given: AnswerInput) -> Features:
    """The signals of a question and its evidence."""
    question, likely = points(given.question), candidates(given)
    readings, lines = read(given), ranked(given)
    words = frozenset[str]().union(*map(words_of, given.evidence))
    numbers = frozenset(n.lower() for e in given.evidence for n in _NUMBER.findall(f"{e.title or ''} {e.text}"))
    # The default embedder knows no such script: its cosines tell nothing there.
    cosines = [] if is_unread(given.question) else [s for e in given.evidence for s in e.similarities]
    best = likely[0].line.shares if likely else None
    # A word of the question weighs by its rarity among the lines of the evidence.
    line_words = [content_words(line.shown) for line in lines]
    weight = {w: math.log(1 + len(lines) / (0.5 + sum(w in own for own in line_words))) for w in sorted(question.words)}
    other = next((c.score for c in likely if c.line.shown != likely[0].line.shown), likely[0].score) if likely else 0.0
    return Features(
        any=min(_MOST_ODDS, max(-_MOST_ODDS, readings.odds_of_any)) if readings.lines else UNKNOWN,
        margin=min(_MOST_ODDS, likely[0].score - other) if readings.lines else UNKNOWN,
        share=best.own + best.before + best.title if best else 0.0,
        own=max((line.shares.own for line in lines), default=0.0),
        match=max((line.signals.match for line in lines), default=0.0) or UNKNOWN,
        words=math.fsum(weight[w] for w in question.words & words) / (math.fsum(weight.values()) or 1.0),
        names=_part(question.names, words),
        numbers=_part(question.numbers, numbers),
        similarity=max(cosines, default=UNKNOWN),
        unread=float(not readings.lines),
    )


def _part(elements: frozenset[str], evidence: frozenset[str]) -> float:
    return len(elements & evidence) / len(elements) if elements else 1.0


def words_of(evidence: Evidence) -> frozenset[str]:
    """The stems of a chunk, its title and its site: a page of a town's site need not name the town."""
    site = evidence.site.replace(".", " ").replace("-", " ")
    return content_words(evidence.text) | content_words(f"{evidence.title or ''} {site}")


def holds(evidence: Evidence, when: When) -> bool:
    """Whether a chunk speaks of these days, or was published on one of them."""
    first, last = when.from_day, when.to_day
    if first is None or last is None:
        return False
    day = evidence.published_at.date() if evidence.published_at else None
    if day and first <= day <= last:
        return True
    spans = [(w.from_day, w.to_day) for w in dates(f"{evidence.title or ''}\n{evidence.text}", day)]
    return any(a is not None and b is not None and first <= b and a <= last for a, b in spans)


_OF_EVENTS: Final = 0.9  # Where dated events of the evidence tell what happened, no words of it can be missing.


def identity(settings: AnswerSettings) -> object:
    """Everything that a judgement depends on beside question, evidence and draft, JSON-like."""
    return [rules_digest(), settings.model_dump(mode="json")]


@dataclass(frozen=True)
class Judgement:
    """What is thought of a drafted answer."""

    probability: float  # Calibrated probability that the evidence answers the question.
    reason: Code | None = None  # Why the question is refused; None where it is answered.
    detail: str = ""  # The reason in a sentence; empty where the question is answered.

    @property
    def refused(self) -> bool:
        """Whether there is to be no answer."""
        return self.reason is not None


def judged(
    inputs: Sequence[AnswerInput],
    drafts: Sequence[Draft],
    settings: AnswerSettings,
    *,
    whole: bool = False,
) -> list[Judgement]:
    """A judgement for each question, of all its evidence; a draft that says nothing is refused anyway.

    A question at the end of its plan (`whole`) is at least as probable as the least probable of its parts: its words
    need not stand in one place.
    """
    judgements = []
    for given, draft in zip(inputs, drafts, strict=True):
        probability = probability_of(given)
        if whole and given.before:
            probability = max(probability, min(before.probability for before in given.before))
        if len(draft.sentences) > 1 and asks_events(given.question) and any(e.events for e in given.evidence):
            probability = max(probability, _OF_EVENTS)
        if given.evidence and draft.sentences and 1.0 - probability <= settings.risk:
            judgements.append(Judgement(probability))
        else:
            judgements.append(Judgement(probability, *reason_of(given)))
    return judgements


def probability_of(given: AnswerInput) -> float:
    """The probability that the evidence answers, by the packaged model."""
    return fitted().probability(features(given)) if given.evidence else 0.0


FILE: Final = Path(__file__).with_name("model.json")


@lru_cache(maxsize=1)
def fitted() -> LogisticModel:
    """The packaged model, fitted by `python -m tests.benchmarks confidence --fit` to questions with known evidence."""
    return LogisticModel(**json.loads(FILE.read_text(encoding="utf-8")))


Code = Literal["nothing_found", "other_entity", "other_time", "only_related"]
_WORD: Final = re.compile(r"[\w'’-]+")


def reason_of(given: AnswerInput) -> tuple[Code, str]:
    """Why the evidence may not answer the question: a code, and what exactly in a sentence."""
    question = points(given.question)
    absent = question.words.difference(*map(words_of, given.evidence))
    if not given.evidence or (question.words and absent == question.words):
        return ("nothing_found", "Nothing in the corpus speaks of what is asked.")
    if other := question.names & absent:
        return ("other_entity", f"What was found does not name {as_asked(given.question, other)}.")
    if times := [w.text for w in question.dates if not any(holds(e, w) for e in given.evidence)]:
        return ("other_time", f"What was found is not of {', '.join(times)}.")
    if absent:
        return ("only_related", f"What was found says nothing of {as_asked(given.question, absent)}.")
    return ("only_related", "What was found is about the same things, and does not say what is asked.")


def as_asked(question: str, stems: frozenset[str]) -> str:
    """The words of the question that have one of these stems, as they stand there."""
    words = [w for w in dict.fromkeys(_WORD.findall(question)) if content_words(w) & stems]
    return ", ".join(words) or "it"
