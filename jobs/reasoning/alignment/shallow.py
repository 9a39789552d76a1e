"""The shallow parser: parts of speech by closed classes, endings and place, for English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.alignment.roles import MOST_WORDS, Parsed
from quern.jobs.reasoning.alignment.tagged import Tag, Token, constituents_of
from quern.jobs.text.words import (
    ADVERBS,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    base,
    is_past,
    is_verb,
)
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK

_WORD: Final = lazy_pattern(
    rf"(?P<cjk>[{CJK}]+)|(?P<owner>['’][sS]\b|(?<=s)['’](?=\s))|[^\W_{CJK}]+(?:(?:-|\.(?=\w)|['’](?![sS]\b))[^\W_{CJK}]+)*"
    r"|(?P<mark>[,;:?!，；：？！。、()（）])"
)
_CLOSED_CHINESE: Final[tuple[tuple[str, Tag], ...]] = (
    (r"多[少大久长高远重]|几|什么时候|何时|哪(?:一?[个位年天里儿些种座家])?|谁|什么|为什么|为何|怎么?样?|如何", "asks"),
    (r"是|为(?!了)", "be"),
    (r"在|于|从|由|被|把|对|向|与|和|跟|及|以及|用|将", "preposition"),
    (r"的|之", "owner"),
    (r"了|吗|呢|吧|着|过|请问|有|都|也|就|还|请|一[个位座条种]", "empty"),
)
_CHINESE: Final = lazy_pattern("|".join(f"(?P<t{n}>{form})" for n, (form, _) in enumerate(_CLOSED_CHINESE)))
_SUPPORT: Final = AUXILIARIES - BE - {"has", "have", "had"}
_DEGREES: Final = frozenset("many much long far old often big tall high deep large wide heavy fast".split())


def shallow(question: str, flaw: str = "") -> Parsed:
    """The constituents of a question by rule.

    Args:
        question: Any text.
        flaw: Why no other parser did it, where one should have.
    """
    return Parsed(question, constituents_of(question, list(_tokens(question))), "shallow", flaw)


@dataclass
class _Tagger:
    """Tags the words of a clause in their order.

    Attributes:
        before: The tag of the word before.
        support: Whether an auxiliary waits for its verb.
        verb: Whether the clause has one.
        first: Whether no word was read.
        counted: Whether the word before is `many` or `much`: the next is what is counted, not a verb.
    """

    before: Tag = "joint"
    support: bool = False
    verb: bool = False
    first: bool = True
    counted: bool = False

    def tag(self, word: str) -> Tag:
        """The part of speech of the next English word."""
        tag = self._tag(word, word.lower().replace("’", "'"))
        if tag in ("joint", "asks"):
            self.support = self.verb = False
        self.support = (self.support or (tag == "auxiliary" and word.lower() in _SUPPORT)) and tag != "verb"
        self.verb = self.verb or tag in ("verb", "be")
        self.counted = self.before == "asks" and word.lower() in ("many", "much")
        self.before, self.first = tag, False
        return tag

    def _tag(self, word: str, plain: str) -> Tag:
        if word[0].isdigit() or (not self.first and word[0].isupper()):
            return "noun"
        if plain in QUESTION_WORDS:
            return "asks" if self.first or self.before in ("joint", "preposition", "of", "empty") else "joint"
        if self.before in ("determiner", "owner") and plain not in PREPOSITIONS:
            return "noun"
        if (self.before == "asks" and plain in _DEGREES) or (self.counted and _closed(plain) is None):
            return "noun"
        if plain == "that" and self.before == "noun":
            return "joint"
        if (closed := _closed(plain)) is not None:
            return closed
        if self._is_verb(plain):
            return "verb"
        return "empty" if plain in ADVERBS and self.before != "noun" else "noun"

    def _is_verb(self, plain: str) -> bool:
        """Whether a word that may be a verb is one here."""
        if is_past(plain):
            return True
        if is_verb(plain):
            return self.before == "auxiliary" or (self.support and self.before in ("noun", "empty", "verb"))
        third = plain.endswith("s") and is_verb(base(plain))
        return third and not self.verb and not self.support and self.before in ("noun", "asks", "joint")


def _tokens(question: str) -> Iterator[Token]:
    tagger = _Tagger()
    for m in list(_WORD.finditer(question))[-MOST_WORDS:]:
        if m["cjk"]:
            yield from _chinese(m[0], m.start())
            tagger.before, tagger.first = "noun", False
        elif m["owner"] or m["mark"]:
            tagger.before = "owner" if m["owner"] else "joint"
            yield Token(m.start(), m.end(), tagger.before)
        else:
            yield Token(m.start(), m.end(), tagger.tag(m[0]))


def _closed(plain: str) -> Tag | None:
    """The part of speech of a word of a closed class."""
    if plain in BE:
        return "be"
    if plain in AUXILIARIES or plain.endswith("n't"):
        return "auxiliary"
    if plain in PREPOSITIONS:
        return "of" if plain == "of" else "preposition"
    if plain in DETERMINERS:
        return "determiner"
    if plain in CONJUNCTIONS:
        return "joint"
    return "empty" if plain in PRONOUNS or plain in ("there", "not", "please") else None


def _chinese(run: str, start: int) -> Iterator[Token]:
    """A run of Chinese, cut at its closed classes; what lies between is taken for nouns."""
    at = 0
    for m in _CHINESE.finditer(run):
        yield from _noun(start + at, start + m.start())
        yield Token(start + m.start(), start + m.end(), _tag_of(m))
        at = m.end()
    yield from _noun(start + at, start + len(run))


def _noun(start: int, end: int) -> Iterator[Token]:
    if end > start:
        yield Token(start, end, "noun")


def _tag_of(m: re.Match[str]) -> Tag:
    return next(tag for n, (_, tag) in enumerate(_CLOSED_CHINESE) if m[f"t{n}"])
