"""How answers of parts, and the sides that are compared, are put into words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.reasoning.questions.outline import Section

_VERDICT: Final = re.compile(r"(?:is|was|are|were|do|does|did|has|have|had|can|could|will|would)\b", re.IGNORECASE)


def without_end(text: str) -> str:
    """An answer on one line, without the mark at its end."""
    return " ".join(text.split()).rstrip(".; ")


def sentence_told(given: AnswerInput, number: int) -> str:
    """A sentence of the evidence on one line, without the mark at its end."""
    span = given.sentences[number - 1]
    return without_end(given.evidence[span.evidence].text[span.start : span.end])


def joined(answers: Sequence[str]) -> str:
    """Short answers one after another, each said once."""
    return "; ".join(dict.fromkeys(without_end(a) for a in answers))


def side_name(side: str) -> str:
    """A side as a name: without a preposition or `either` before it."""
    return re.sub(r"^(?:either|on|in|at|by|for|with|from|during)\s+", "", side.strip(" ,"))


def sided(section: Section, answers: Sequence[AskedBefore]) -> str:
    """What was found of each side, one against the other."""
    found = [(side, without_end(a.answer)) for side, a in zip(section.sides, answers, strict=False) if a.answer]
    if len(found) == 2:
        return f"{found[0][1]}, against {found[1][1]}"
    return "; ".join(f"{side_name(side)}: {answer}" for side, answer in found)


def asks_verdict(text: str) -> bool:
    """Whether a question begins as one that is answered with yes or no."""
    return _VERDICT.match(text) is not None
