"""What the codes of an answer mean, in words: why there is none, and what is asked for."""

from __future__ import annotations

from typing import Final

from quern.schemas.answers import Answer

REASONS: Final = {
    "nothing_found": "Nothing in the corpus matches the question.",
    "other_entity": "What was found speaks of somebody or something else.",
    "other_time": "What was found speaks of another time.",
    "only_related": "What was found is related, but does not answer the question.",
    "refused": "Questions of this kind are not answered.",
}
"""Why there is no answer, by `Answer.reason`."""

KINDS: Final = {
    "when": "a date",
    "who": "a person",
    "where": "a place",
    "how_many": "a number",
    "how_much": "an amount",
    "how_long": "a duration",
    "which": "one of several",
    "yes_no": "yes or no",
    "comparison": "a comparison",
    "list": "a list",
    "why": "a cause",
    "how": "a manner",
    "what_happened": "what happened",
    "definition": "a definition",
}
"""What is asked for, by `Answer.kind`; `other` has no word of its own."""


def reason_of(answer: Answer) -> str | None:
    """Why the question has no answer, as a sentence; None where it has one, or nothing is known."""
    if answer.found or answer.reason is None:
        return None
    return REASONS.get(answer.reason, f"{answer.reason.replace('_', ' ').capitalize()}.")


def status_of(answer: Answer) -> str:
    """What became of the question, in a word or two."""
    if answer.found:
        return "Answered"
    return "Refused" if answer.reason == "refused" else "Not in the corpus"


def kind_of(answer: Answer) -> str | None:
    """What the question asks for; None where that is nothing in particular."""
    return None if answer.kind == "other" else KINDS.get(answer.kind, answer.kind.replace("_", " "))
