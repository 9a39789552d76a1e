"""Constituents from words with their parts of speech: what a tagger, a list of words or a tree's labels tell alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from quern.jobs.reasoning.alignment.kinds import FORMED, KindName, kind_of
from quern.jobs.reasoning.alignment.roles import MOST_CONSTITUENTS, Constituent, Role
from quern.jobs.text.stems import content_words

# Noun and what stands before it; verb; form of `be`; other auxiliary; preposition; preposition of what belongs to a
# noun; mark of an owner (`'s`, 的); determiner; question word; what joins or parts clauses; what is left out.
Tag = Literal["noun", "verb", "be", "auxiliary", "preposition", "of", "owner", "determiner", "asks", "joint", "empty"]

# Question words whose answers have the form that the rest of the question tells.
_BARE: Final = frozenset({"what", "which", "how"})
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
    """A run of words: `asks` where a question word opens it, `bare` where that is all of it.

    `identified`: it stands behind a form of `be` in a clause without a verb, as in `what is the price`.
    """

    role: Role
    start: int
    end: int
    asks: bool = False
    bare: bool = False
    identified: bool = False


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
            bare, identified = asks and len(self.open) == 1, self.be and not self.verb
            self.chunks.append(_Chunk(told, first.start, last.end, asks, bare, identified))
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

    What is asked for is marked: a question word with its noun, the noun that it is identified with (`What is the price
    of`), else the word alone where its answers have a form (`What did it cost`); or what a phrase names (`price of a
    queen bee?`). A question word that asks for no form is left out, and so is the verb of `What happened to it`.
    """
    reader = _Reader(question)
    for token in tokens:
        reader.read(token)
    reader.close()
    found: list[Constituent] = []
    waiting: Constituent | None = None  # A bare question word: what it asks for may be named behind it.
    kinds: list[KindName] = []
    for chunk in reader.chunks:
        text = question[chunk.start : chunk.end]
        if chunk.asks:
            kinds.append(kind_of(question if not kinds else question[chunk.start :]))
            if chunk.bare and text.lower() in _BARE:
                waiting = Constituent(chunk.role, text, chunk.start, chunk.end, asked=True)
                continue
            if chunk.bare and kinds[-1] not in FORMED:
                continue
        elif chunk.role == "predicate" and kinds and kinds[-1] == "what_happened" and len(kinds) > len(found):
            continue
        named = waiting is not None and chunk.identified
        if waiting is not None and not named and kinds[-1] in FORMED:
            found.append(waiting)
        waiting = None
        marked = (chunk.asks or named) and kinds[-1] in FORMED
        found.append(Constituent(chunk.role, text, chunk.start, chunk.end, marked))
    if waiting is not None and kinds[-1] in FORMED:
        found.append(waiting)
    if not kinds and found and kind_of(question) in FORMED:
        found[0] = replace(found[0], asked=True)
    return tuple(c for c in found if _can_match(c))[:MOST_CONSTITUENTS]


def _can_match(c: Constituent) -> bool:
    """Whether there is anything to look for: what is asked for, or a word of content."""
    return c.asked or bool(content_words(c.text))
