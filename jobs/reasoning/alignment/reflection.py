"""Reflection on a list of matches: those that are denied, or of another entity or time, are taken back."""

from __future__ import annotations

from collections.abc import Sequence

from quern.jobs.reasoning.alignment.alignment import Why
from quern.jobs.reasoning.alignment.matching import Asked
from quern.jobs.reasoning.alignment.window import Candidate
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.reasoning.answering.polarity import asked_negatively, denies


def taken_back(asked: Asked, evidence: Evidence, chosen: Sequence[Candidate]) -> list[tuple[Candidate, Why]]:
    """Those of the `chosen` matches that do not hold, and why."""
    question = asked.parsed.question
    dropped: list[tuple[Candidate, Why]] = []
    for c in chosen:
        if asked.wanted[c.constituent].constituent.role != "predicate":
            continue
        if not asked_negatively(question) and denies(evidence.text[max(0, c.start - 16) : c.start]):
            dropped.append((c, "negated"))
    return dropped
