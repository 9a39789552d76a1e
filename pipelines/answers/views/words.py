"""What an answer is in words: what became of the question, what it asks for, how it stands beside the gold answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from quern.schemas.answers import Answer
from quern.schemas.words.lines import one_line
from quern.schemas.words.terms import search_terms

REASONS: Final = {
    "nothing_found": "Nothing in the corpus matches the question.",
    "nothing_passes": "No document passes the filters.",
    "other_entity": "What was found speaks of somebody or something else.",
    "other_time": "What was found speaks of another time.",
    "only_related": "What was found is related, but does not answer the question.",
    "refused": "Questions of this kind are not answered.",
}
"""Why there is no answer, by `Answer.reason`."""

KINDS: Final = {"span": "a fact", "verdict": "yes or no", "list": "a list"}
"""What is asked for, by `Answer.kind`; `other` has no word of its own."""


def reason_of(answer: Answer) -> str | None:
    """Why the question has no answer, as a sentence; None where it has one, or nothing is known."""
    if answer.found or answer.reason is None:
        return None
    return REASONS.get(answer.reason, f"{one_line(answer.reason.replace('_', ' ')).capitalize()}.")


STOPS: Final = {
    "verified": "what was found answers the question",
    "rounds": "no more rounds are allowed",
    "same_candidates": "further queries brought nothing new",
    "no_queries": "there was nothing further to look for",
}
"""Why the rounds of a search ended, by `Search.stop`."""

_MANY: Final = {"query": "queries", "full match": "full matches"}


def search_of(answer: Answer) -> str | None:
    """The rounds of a search in a line; None where there were none."""
    if answer.search is None:
        return None
    rounds = answer.search.rounds
    counts = [(len(rounds), "round"), (sum(len(r.queries) for r in rounds), "query")]
    counts += [(sum(r.candidates for r in rounds), "chunk"), (sum(r.full for r in rounds), "full match")]
    told = ", ".join(f"{n} {_MANY.get(word, word + 's') if n != 1 else word}" for n, word in counts)
    why = STOPS.get(answer.search.stop, one_line(answer.search.stop.replace("_", " ")))
    missing = ", ".join(map(one_line, answer.search.missing))
    return f"{told}; {why}{f'; nothing of: {missing}' if missing else ''}"


def status_of(answer: Answer) -> str:
    """What became of the question, in a word or two."""
    if answer.found:
        return "Answered"
    return "Refused" if answer.reason == "refused" else "Not in the corpus"


def kind_of(answer: Answer) -> str | None:
    """What the question asks for; None where that is nothing in particular."""
    return None if answer.kind == "other" else KINDS.get(answer.kind, answer.kind.replace("_", " "))


@dataclass(frozen=True)
class Agreement:
    """How an answer stands beside the gold answer."""

    code: str  # `yes`, `no`, or `part` where its words stand in the answer.
    words: str  # The same in words.


def agreement_of(answer: Answer) -> Agreement | None:
    """What is certain of an answer beside the gold answer; None where nothing is.

    Words are compared as full-text search has them: without case, accents and punctuation. Words that are held may
    still say something else, so that this is a hint for a reader and no measure: `quern evaluate` measures.
    """
    if answer.expected is None:
        return None
    expected = _words(answer.expected)
    if not expected and not answer.found:
        return Agreement("yes", "agrees")
    if not expected or not answer.found:
        return Agreement("no", "but answered" if answer.found else "not answered")
    short, whole = _words(answer.short or ""), _words(" ".join(s.text for s in answer.sentences))
    if short == expected:
        return Agreement("yes", "the same words")
    if expected in _VERDICTS:
        verdict = short.split(" ", 1)[0]
        agrees = Agreement("yes", "agrees") if verdict == expected else Agreement("no", "disagrees")
        return agrees if verdict in _VERDICTS else None
    held = f" {expected} " in f" {whole} "
    return Agreement("part", "these words stand in the answer") if held else None


_VERDICTS: Final = frozenset({"yes", "no"})


def _words(text: str) -> str:
    words = search_terms(text)
    return words.split(" ", 1)[1] if words.startswith(("the ", "a ", "an ")) else words
