"""Constituents from words with their parts of speech: what a tagger, a list of words or a tree's labels tell alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from quern.jobs.reasoning.alignment.roles import MOST_CONSTITUENTS, Constituent, Role
from quern.jobs.reasoning.answering.kinds import KindName, kind_of
from quern.jobs.reasoning.answering.sentences import content_words

# Noun and what stands before it; verb; form of `be`; other auxiliary; preposition; preposition of what belongs to a
# noun; mark of an owner (`'s`, 的); determiner; question word; what joins or parts clauses; what is left out.
Tag = Literal["noun", "verb", "be", "auxiliary", "preposition", "of", "owner", "determiner", "asks", "joint", "empty"]

# Kinds whose answers have a form that can be looked for.
FORMED: Final[frozenset[KindName]] = frozenset({"when", "who", "where", "how_many", "how_much", "how_long", "why"})
# `What kind of rock` asks for a rock.
_SORTS: Final = frozenset("kind kinds type types sort sorts form forms name names".split())


@dataclass(frozen=True)
class Token:
    """A word of a question and its part of speech; its role where a tree tells it."""

    start: int
    end: int
    tag: Tag
    role: Role | None = None


@dataclass(frozen=True)
class _Chunk:
    """A run of words: `asks` where a question word opens it, `bare` where that is all of it."""

    role: Role
    start: int
    end: int
    asks: bool = False
    bare: bool = False


@dataclass
class _Reader:
    """What was read of a question, and the chunk that is open."""

    question: str
    chunks: list[_Chunk] = field(default_factory=list)
    open: list[Token] = field(default_factory=list)
    role: Role | None = None  # That a preposition gave.
    be: bool = False
    verb: bool = False
    nouns: int = 0

    def read(self, token: Token) -> None:
        """Go on by one word."""
        if token.tag == "noun":
            self.open.append(token)
        elif token.tag == "asks":
            self.close()
            self.clause()
            self.open.append(token)
        elif token.tag == "of" and self._names_a_sort():
            self.open.append(token)
        elif token.tag == "verb":
            self.close()
            self.chunks.append(_Chunk(token.role or "predicate", token.start, token.end))
            self.verb = True
        elif token.tag in ("preposition", "of"):
            behind = bool(self.open) or (self.nouns > 0 and not self.verb)
            self.close()
            self.role = "attribute" if token.tag == "of" or behind else "adverbial"
        else:
            self.close("attribute" if token.tag == "owner" else None)
            self.be = self.be or token.tag == "be"
            if token.tag == "joint":
                self.clause()

    def clause(self) -> None:
        """Begin another clause."""
        self.be = self.verb = False
        self.nouns = 0

    def close(self, role: Role | None = None) -> None:
        """End the chunk that is open."""
        if self.open:
            first, last = self.open[0], self.open[-1]
            asks = first.tag == "asks"
            told = last.role or role or self.role or self._by_place()
            self.chunks.append(_Chunk(told, first.start, last.end, asks, asks and len(self.open) == 1))
            self.nouns += 1
            self.role = None
        self.open = []

    def _by_place(self) -> Role:
        if self.verb:
            return "object"
        return "predicative" if self.be and self.nouns else "subject"

    def _names_a_sort(self) -> bool:
        """Whether a question word and the name of a sort are open: `what kind`."""
        words = [self.question[t.start : t.end].lower() for t in self.open]
        return len(words) == 2 and self.open[0].tag == "asks" and words[1] in _SORTS


def constituents_of(question: str, tokens: Sequence[Token]) -> tuple[Constituent, ...]:
    """The constituents, cut where the part of speech changes; their roles by the tree or by what stands before them.

    What is asked for is marked: a question word with its noun, or the noun that it is the predicative of (`What is the
    price of`), or what a phrase names (`price of a queen bee?`). A question word that asks for no form is left out.
    """
    reader = _Reader(question)
    for token in tokens:
        reader.read(token)
    reader.close()
    found: list[Constituent] = []
    asking: bool | None = None  # Whether a bare question word waits for the noun that it asks for.
    for chunk in reader.chunks:
        marked = False
        if chunk.asks:
            formed = kind_of(question if asking is None else question[chunk.start :]).name in FORMED
            word = question[chunk.start : chunk.end].lower()
            asking = chunk.bare and formed and word in ("what", "which", "how")
            if asking or (chunk.bare and not formed):
                continue
            marked = formed
        elif asking and chunk.role != "predicate":
            marked, asking = True, False
        found.append(Constituent(chunk.role, question[chunk.start : chunk.end], chunk.start, chunk.end, marked))
    if asking is None and found and kind_of(question).name in FORMED:
        first = found[0]
        found[0] = Constituent(first.role, first.text, first.start, first.end, asked=True)
    return tuple(c for c in found if c.asked or content_words(c.text))[:MOST_CONSTITUENTS]
