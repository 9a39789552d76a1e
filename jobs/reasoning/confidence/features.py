"""What a question and its evidence show of whether the one is answered by the other, as numbers.

A passage that does not answer is mostly about the right thing: so the signals ask what of the question is missing
beside the best sentence, not only how alike they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.sentences import content_words, ranked

_NAME: Final = re.compile(r"\b[A-Z][\w'’-]*")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
UNKNOWN: Final = math.nan


class Features(NamedTuple):
    """Signals of a question and its evidence; `UNKNOWN` where one cannot be taken.

    Attributes:
        best: Score of the best sentence.
        second: Score of the second.
        similarity: Cosine of the question with the nearest synthetic query of the evidence.
        sentence: Share of the question's words of content that the best sentence, its speaker or its title holds.
        chunk: The same of the whole chunk of the best sentence.
        anywhere: The same of all evidence.
        names: Share of the question's names that the chunk of the best sentence holds; 1 where it has none.
        numbers: Share of its numbers that the chunk, its title or its day of publication holds; 1 where it has none.
    """

    best: float
    second: float
    similarity: float
    sentence: float
    chunk: float
    anywhere: float
    names: float
    numbers: float


NOTHING: Final = Features(0.0, 0.0, UNKNOWN, 0.0, 0.0, 0.0, 0.0, 0.0)


def features(given: AnswerInput) -> Features:
    """The signals of one question and its evidence."""
    best = ranked(given)
    if not best:
        return NOTHING
    first = best[0]
    evidence = given.evidence[given.sentences[first.number - 1].evidence]
    wanted = content_words(given.question)
    words = _words(evidence)
    similarities = [s for e in given.evidence for s in e.similarities]
    return Features(
        best=first.score,
        second=best[1].score if len(best) > 1 else 0.0,
        similarity=max(similarities) if similarities else UNKNOWN,
        sentence=_share(wanted, first.words),
        chunk=_share(wanted, words),
        anywhere=_share(wanted, frozenset().union(*map(_words, given.evidence))),
        names=_share(names(given.question), words),
        numbers=_share(numbers(given.question), numbers_of(evidence)),
    )


def names(question: str) -> frozenset[str]:
    """Words of content of the names in a question, known by their capitals; its first word is none."""
    after = question.strip().partition(" ")[2]
    return frozenset(w for name in _NAME.findall(after) for w in content_words(name))


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text as they stand there."""
    return frozenset(_NUMBER.findall(text))


def numbers_of(evidence: Evidence) -> frozenset[str]:
    """The numbers of a chunk, of its title and of the day it was published."""
    published = evidence.published_at
    day = f" {published.year} {published.month} {published.day}" if published else ""
    return numbers(f"{evidence.title or ''} {evidence.text}{day}")


def _words(evidence: Evidence) -> frozenset[str]:
    return content_words(evidence.text) | content_words(evidence.title or "")


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 1.0


def missing(wanted: frozenset[str], evidence: Sequence[Evidence]) -> frozenset[str]:
    """What of `wanted` no evidence holds."""
    return wanted - frozenset().union(*map(_words, evidence))
