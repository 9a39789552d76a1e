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


def asked_of_clause(clause: str, word: str = "When") -> str:
    """The question for the time (or another `word`) of what `clause` tells, be it a sentence or a noun phrase."""
    clause = clause.strip(" ,;:?.!")
    words = clause.split()
    for i, raw in enumerate(words):
        token = bare(raw)
        if i and token in AUXILIARIES and raw[-1:] != ",":
            return raised(f"{word} {token} {' '.join(words[:i])} {' '.join(words[i + 1 :])}")
        if i and _finite(words, i):
            return raised(f"{word} did {_subject(words[:i])} {base(token)} {' '.join(words[i + 1 :])}")
    plural = re.match(r"(?:the\s+)?\w+s\b(?!['’])(?!\s+of\b)", clause) is not None and words[0].lower() != "its"
    return raised(f"{word} {'were' if plural and words[-1].endswith('s') else 'was'} {clause}")


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
