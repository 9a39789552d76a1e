"""What became of a question, in words."""

from __future__ import annotations

from typing import Final

from quern.schemas.answers import Answer
from quern.schemas.words.lines import one_line

REASONS: Final = {
    "nothing_found": "Nothing in the corpus matches the question.",
    "nothing_passes": "No document passes the filters.",
    "other_entity": "What was found speaks of somebody or something else.",
    "other_time": "What was found speaks of another time.",
    "only_related": "What was found is related, but does not answer the question.",
    "refused": "Questions of this kind are not answered.",
}
"""Why there is no answer, by `Answer.reason`."""


def reason_of(answer: Answer) -> str | None:
    """Why the question has no answer, as a sentence; None where it has one, or nothing is known."""
    if answer.found or answer.reason is None:
        return None
    return REASONS.get(answer.reason, f"{one_line(answer.reason.replace('_', ' ')).capitalize()}.")


def status_of(answer: Answer) -> str:
    """What became of the question, in a word or two."""
    if answer.found:
        return "Answered"
    return "Refused" if answer.reason == "refused" else "Not in the corpus"
