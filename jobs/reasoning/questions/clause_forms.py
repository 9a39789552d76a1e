"""Clauses turned into questions: `the plant was sold` asked as `When was the plant sold?`."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.questions.words import (
    ADVERBS,
    AUXILIARIES,
    DETERMINERS,
    PREPOSITIONS,
    bare,
    base,
    is_name,
    is_past,
    plain_of_gerund,
)

_AUX_QUESTION: Final = re.compile(
    rf"(?P<aux>{'|'.join(sorted(AUXILIARIES))})\s+(?P<rest>.+)", re.IGNORECASE | re.DOTALL
)


def lowered(text: str) -> str:
    """`text` without a capital that only opens a sentence."""
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if bare(first) in AUXILIARIES | DETERMINERS | PREPOSITIONS else text


def raised(text: str) -> str:
    """`text` with a capital at its start and a question mark at its end."""
    text = " ".join(text.split()).strip(" ,;:?.!")
    return f"{text[:1].upper()}{text[1:]}?"


def asked_of_clause(clause: str, word: str = "When", by: str = "") -> str:
    """The question for the time (or another `word`) of what `clause` tells.

    Args:
        clause: A sentence, a noun phrase, or a gerund (`running a mile`).
        word: The question word.
        by: Who does what a gerund tells.
    """
    clause = clause.strip(" ,;:?.!")
    words = clause.split()
    if by and _GERUND.fullmatch(words[0]):
        return raised(f"{word} did {by} {plain_of_gerund(words[0])} {' '.join(words[1:])}")
    at = _verb_at(words)
    if at:
        token = bare(words[at])
        if token in AUXILIARIES:
            return raised(f"{word} {token} {' '.join(words[:at])} {' '.join(words[at + 1 :])}")
        plain = plain_of_gerund(token) if token.endswith("ing") else base(token)
        return raised(f"{word} did {_subject(words[:at])} {plain} {' '.join(words[at + 1 :])}")
    plural = re.match(r"(?:the\s+)?\w+s\b(?!['’])(?!\s+of\b)", clause) is not None and words[0].lower() != "its"
    return raised(f"{word} {'were' if plural and words[-1].endswith('s') else 'was'} {clause}")


_GERUND: Final = re.compile(r"[a-z]{2,}ing")


def is_event(clause: str) -> bool:
    """Whether `clause` has a verb of its own, or begins with a gerund."""
    words = clause.split()
    return bool(_verb_at(words)) or _GERUND.fullmatch(words[0]) is not None


def _verb_at(words: list[str]) -> int:
    """Place of the verb of a clause; 0 where it is a noun phrase."""
    for i, raw in enumerate(words):
        if i and ((bare(raw) in AUXILIARIES and raw[-1:] != ",") or _finite(words, i)):
            return i
        if i and _GERUND.fullmatch(raw) and all(is_name(w) for w in words[:i]):
            return i
    return 0


def _subject(words: list[str]) -> str:
    """The subject without the adverb before its verb."""
    while len(words) > 1 and (words[-1].lower() in ADVERBS or words[-1].endswith("ly")):
        words = words[:-1]
    return " ".join(words)


def _finite(words: list[str], i: int) -> bool:
    """Whether word `i` is the verb of the clause in the past: not a participle inside its noun phrase."""
    raw, before = words[i], bare(words[i - 1])
    if is_name(raw) or not is_past(bare(raw)) or before in DETERMINERS or before in PREPOSITIONS:
        return False
    after = bare(words[i + 1]) if i + 1 < len(words) else ""
    # `the second mate hired by Skarrow Line`: a participle behind its noun with `by`.
    return after != "by"


def asked_of_question(question: str, word: str) -> str | None:
    """The yes/no question as one that begins with `word`: `Did X open?` as `When did X open?`; None if it is none."""
    m = _AUX_QUESTION.fullmatch(question.strip(" ?"))
    return raised(f"{word} {m['aux'].lower()} {m['rest']}") if m else None
