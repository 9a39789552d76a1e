"""What is wrong with an answer that can be told without an opinion, criterion by criterion.

Each function gives the faults of an answer, or None where it has nothing to go by: numbers can be compared only where
the answer states some and its evidence is at hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from typing import Final

from quern.jobs.reasoning.citing.inputs import CitingInput, Source
from quern.jobs.reasoning.citing.search import missing_numbers
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.reasoning.entailment.task import VERDICT, entailment_task
from quern.jobs.reasoning.judging.inputs import JudgeInput, Statement
from quern.jobs.text.dates import When, dates
from quern.jobs.text.number_values import possible_numbers, stated_numbers
from quern.jobs.text.stems import alike, content_words
from quern.schemas.words.sentences import sentences

# Share of the words of a sentence of the gold answer from which an answer is said to make its point: as many as the
# sources of a sentence must have (`citing.search`). It only names what is missing; the score is the share of words.
_MADE: Final = 0.5
_BACK: Final = 200  # Sentences that one is compared with, of those before it: an answer has rarely more.
_SHOWN: Final = 120  # Characters of a sentence that an issue quotes.
_ENTAILED: Final = entailment_task()


@dataclass(frozen=True)
class Found:
    """What a rule found.

    Attributes:
        issues: The faults, each in words.
        share: Of the points that there are, how much is right, where they are weighed; None where a fault is a point.
    """

    issues: list[str] = field(default_factory=list)
    share: float | None = None


def of_conciseness(given: JudgeInput) -> Found:
    """Sentences that repeat one before, or add no word to the question and those before."""
    issues: list[str] = []
    earlier: dict[frozenset[str], None] = {}
    told = set(content_words(given.question))
    for at, statement in enumerate(given.statements):
        words = content_words(statement.text)
        if words in earlier or any(alike(words, before) for before in islice(reversed(earlier), _BACK)):
            issues.append(f"repeats an earlier sentence: {_quoted(statement)}")
        elif at and words <= told:
            issues.append(f"adds nothing: {_quoted(statement)}")
        if words:
            earlier[words] = None
        told |= words
    return Found(issues)


def of_numbers(given: JudgeInput) -> Found | None:
    """Numbers of the answer that neither evidence nor question has, and that follow from none that they have."""
    if not given.evidence or not any(stated_numbers(s.text) for s in given.statements):
        return None
    sources = _sources(given.evidence)
    asked = possible_numbers(given.question)
    issues = []
    for statement in given.statements:
        wrong = missing_numbers(CitingInput(statement.text, sources, question=given.question)) - asked
        issues += [f"{number:g} is not in the evidence: {_quoted(statement)}" for number in sorted(wrong)]
    return Found(issues)


def of_facts(given: JudgeInput) -> Found | None:
    """Sentences that the evidence does not bear out; the share is their mean probability of being borne out."""
    if not given.evidence:
        return None
    scores = [_borne_out(given, s, range(len(given.evidence))) for s in given.statements]
    wrong = [s for s, score in zip(given.statements, scores, strict=True) if score < VERDICT]
    return Found([f"not borne out: {_quoted(s)}" for s in wrong], _mean(scores))


def of_citations(given: JudgeInput) -> Found | None:
    """Sentences without a source that is at hand, and those that their sources together do not bear out.

    The share is the mean probability that a sentence is borne out by its sources.
    """
    if not given.evidence:
        return None
    issues, scores = [], []
    for statement in given.statements:
        cited = [at for at in statement.cites if 0 <= at < len(given.evidence)]
        scores.append(_borne_out(given, statement, cited) if cited else 0.0)
        if not cited:
            issues.append(f"names no source: {_quoted(statement)}")
        elif scores[-1] < VERDICT:
            issues.append(f"its sources do not bear it out: {_quoted(statement)}")
    return Found(issues, _mean(scores))


def of_times(given: JudgeInput) -> Found | None:
    """Times that neither evidence nor question names, and sentences whose sources are older than what is asked of."""
    asked = _days(dates(given.question, given.as_of))
    said = [(s, _days(dates(s.text, given.as_of))) for s in given.statements]
    if not given.evidence or not (asked or any(days for _, days in said)):
        return None
    known = [day for passage in given.evidence for day in _told(passage)]
    issues = []
    for statement, days in said:
        strange = [d for d in days if not any(_overlap(d, other) for other in (*asked, *known))]
        issues += [f"{first} is named nowhere else: {_quoted(statement)}" for first, _ in strange]
        cited = [given.evidence[at] for at in statement.cites if 0 <= at < len(given.evidence)]
        if asked and cited and all(_too_old(passage, asked) for passage in cited):
            issues.append(f"its sources are older than the time asked of: {_quoted(statement)}")
    return Found(issues)


def of_completeness(given: JudgeInput) -> Found | None:
    """Sentences of the gold answer whose point is not made; the share is that of its words, those asked with aside."""
    if not given.gold:
        return None
    held, asked = content_words(given.answer), content_words(given.question)

    def share(text: str) -> float:
        wanted = content_words(text) - asked or content_words(text)
        return len(wanted & held) / len(wanted) if wanted else 1.0

    nearest = max(given.gold, key=share)
    missing = [f"does not say: {s[:_SHOWN]}" for s in sentences(nearest) if share(s) < _MADE]
    return Found(missing, share(nearest))


def _borne_out(given: JudgeInput, statement: Statement, places: Sequence[int]) -> float:
    """Probability that the passages at these places, together, entail a sentence."""
    passages = [given.evidence[at] for at in places]
    return _ENTAILED.rule(EntailmentInput(statement.text, passages, given.question)).score


def _mean(scores: Sequence[float]) -> float:
    return math.fsum(scores) / len(scores)


def _sources(passages: Sequence[Passage]) -> list[Source]:
    return [Source(text, p.title, p.published_at) for p in passages for text in sentences(p.text)]


def _days(times: Sequence[When]) -> list[tuple[date, date]]:
    return list(dict.fromkeys((w.from_day, w.to_day) for w in times if w.from_day and w.to_day))


def _told(passage: Passage) -> list[tuple[date, date]]:
    """The days that a passage names, and that of its publication."""
    published = passage.published_at.date() if passage.published_at else None
    own = [(published, published)] if published else []
    return [*own, *_days(dates(f"{passage.title}\n{passage.text}", published))]


def _too_old(passage: Passage, asked: Sequence[tuple[date, date]]) -> bool:
    """Whether a passage was published before each time that is asked of, and names no such time."""
    if passage.published_at is None or any(_overlap(d, a) for d in _told(passage) for a in asked):
        return False
    return all(passage.published_at.date() < first for first, _ in asked)


def _overlap(one: tuple[date, date], other: tuple[date, date]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _quoted(statement: Statement) -> str:
    return statement.text[:_SHOWN]
