"""Why a question is not answered: what the evidence speaks of instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.confidence.features import holds, points, words_of
from quern.jobs.text.stems import content_words

Code = Literal["nothing_found", "other_entity", "other_time", "only_related"]
_WORD: Final = re.compile(r"[\w'’-]+")


@dataclass(frozen=True)
class Reason:
    """Why there is no answer.

    Attributes:
        code: `nothing_found`, `other_entity`, `other_time` or `only_related`.
        detail: What exactly, in a sentence.
    """

    code: Code
    detail: str


def reason_of(given: AnswerInput) -> Reason:
    """Why the evidence may not answer the question."""
    asked = points(given.question)
    absent = asked.words.difference(*map(words_of, given.evidence))
    if not given.evidence or (asked.words and absent == asked.words):
        return Reason("nothing_found", "Nothing in the corpus speaks of what is asked.")
    if other := asked.names & absent:
        return Reason("other_entity", f"What was found does not name {as_asked(given.question, other)}.")
    if times := [w.text for w in asked.dates if not any(holds(e, w) for e in given.evidence)]:
        return Reason("other_time", f"What was found is not of {', '.join(times)}.")
    if absent:
        return Reason("only_related", f"What was found says nothing of {as_asked(given.question, absent)}.")
    return Reason("only_related", "What was found is about the same things, and does not say what is asked.")


def as_asked(question: str, stems: frozenset[str]) -> str:
    """The words of the question that have one of these stems, as they stand there."""
    words = [w for w in dict.fromkeys(_WORD.findall(question)) if content_words(w) & stems]
    return ", ".join(words) or "it"
