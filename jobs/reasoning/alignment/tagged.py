"""Constituents from words with their parts of speech: what a tagger and a list of words can tell without a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from quern.jobs.reasoning.alignment.roles import Constituent, Role
from quern.jobs.reasoning.answering.kinds import KindName, kind_of

# Noun and what stands before it; verb; form of `be`; other auxiliary; preposition; preposition of what belongs to a
# noun; determiner; question word; what joins or parts clauses; what is left out.
Tag = Literal["noun", "verb", "be", "auxiliary", "preposition", "of", "determiner", "asks", "joint", "empty"]

# Kinds whose answers have a form that can be looked for.
FORMED: frozenset[KindName] = frozenset({"when", "who", "where", "how_many", "how_much", "how_long", "why", "list"})


@dataclass(frozen=True)
class Token:
    """A word of a question and its part of speech."""

    start: int
    end: int
    tag: Tag


@dataclass
class _Clause:
    """What was seen of a clause."""

    be: bool = False
    verb: bool = False
    nouns: int = 0


def constituents_of(question: str, tokens: Sequence[Token]) -> list[Constituent]:
    """The constituents, cut where the part of speech changes, and their roles by what stands before them."""
    found: list[Constituent] = []
    clause = _Clause()
    role: Role | None = None
    open_at = -1  # Start of the constituent that is being read.
    last = -1
    asked = False

    def close() -> None:
        nonlocal open_at, asked, role
        if open_at >= 0:
            found.append(Constituent(role or _noun_role(clause), question[open_at:last], open_at, last, asked))
            clause.nouns += 1
        open_at, asked, role = -1, False, None

    for token in tokens:
        if token.tag == "noun":
            open_at = token.start if open_at < 0 else open_at
            last = token.end
        elif token.tag == "asks":
            close()
            clause = _Clause()
            open_at, last, asked = token.start, token.end, True
        elif token.tag == "determiner":
            close()
        elif token.tag == "verb":
            close()
            found.append(Constituent("predicate", question[token.start : token.end], token.start, token.end))
            clause.verb = True
        elif token.tag in ("be", "auxiliary"):
            close()
            clause.be = clause.be or token.tag == "be"
        elif token.tag in ("preposition", "of"):
            behind = open_at >= 0 or (bool(found) and clause.nouns > 0 and not clause.verb)
            close()
            role = "attribute" if token.tag == "of" or behind else "adverbial"
        elif token.tag == "joint":
            close()
            clause = _Clause()
        else:
            close()
    close()
    return found


def _noun_role(clause: _Clause) -> Role:
    if clause.verb:
        return "object"
    return "predicative" if clause.be and clause.nouns else "subject"


def with_asked(question: str, found: Sequence[Constituent]) -> list[Constituent]:
    """The constituents with the one that is asked for marked; a question word that asks for no form is left out.

    `What is the price of`: the price is asked for, not `what`. A phrase asks for what it names.
    """
    kept: list[Constituent] = []
    first = True
    pending = False  # A bare question word whose noun comes later is asked for.
    for c in found:
        if c.asked:
            kind = kind_of(question if first else question[c.start :])
            first = False
            bare = " " not in c.text.strip() and c.text.isascii()
            if bare and c.text.lower() in ("what", "which", "how"):
                pending = kind.name in FORMED
                continue
            kept.append(replace(c, asked=kind.name in FORMED))
            if bare and kind.name not in FORMED:
                kept.pop()
        elif pending and c.role in ("predicative", "subject", "object"):
            kept.append(replace(c, asked=True))
            pending = False
        else:
            kept.append(c)
    if first and kept and kind_of(question).name in FORMED:
        kept[0] = replace(kept[0], asked=True)
    return kept
