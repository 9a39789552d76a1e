"""The shallow parser: parts of speech by closed classes, endings and place, for English and Chinese."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.alignment.roles import MOST_CONSTITUENTS, MOST_WORDS, Constituent, Parsed
from quern.jobs.reasoning.alignment.tagged import Tag, Token, constituents_of, with_asked
from quern.jobs.reasoning.answering.sentences import content_words
from quern.jobs.reasoning.questions.words import (
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

_WORD: Final = lazy_pattern(rf"[{CJK}]+|[^\W_{CJK}]+(?:[-'’.][^\W_{CJK}]+)*|[,;:?!，；：？！。、()（）]")
_CLOSED_CHINESE: Final = (
    (r"多[少大久长高远重]|几|什么时候|何时|哪[一个位年天里儿些种座家]*|谁|什么|为什么|为何|怎么?样?|如何", "asks"),
    (r"是|为(?!了)", "be"),
    (r"在|于|从|由|被|把|对|向|与|和|跟|及|以及|用|将", "preposition"),
    (r"的|之", "of"),
    (r"了|吗|呢|吧|着|过|请问|有|都|也|就|还|请|一[个位座条种]", "empty"),
)
_CHINESE: Final = lazy_pattern("|".join(f"(?P<t{n}>{form})" for n, (form, _) in enumerate(_CLOSED_CHINESE)))
_HAN: Final = lazy_pattern(rf"[{CJK}]")
_SUPPORT: Final = AUXILIARIES - BE - {"has", "have", "had"}


def shallow(question: str) -> Parsed:
    """The constituents of a question by rule."""
    matches = list(_WORD.finditer(question))[-MOST_WORDS:]
    tokens = _tokens(question, matches)
    found = with_asked(question, constituents_of(question, tokens))
    return Parsed(question, kept(found), "shallow")


def kept(found: list[Constituent]) -> tuple[Constituent, ...]:
    """The constituents that can be matched: what is asked for and what has a word of content."""
    return tuple(c for c in found if c.asked or content_words(c.text))[:MOST_CONSTITUENTS]


def _tokens(question: str, matches: list[re.Match[str]]) -> list[Token]:
    tokens: list[Token] = []
    support = verb = opened = False
    for n, m in enumerate(matches):
        word = m[0]
        if _HAN.match(word):
            tokens += _chinese(word, m.start())
            continue
        before = tokens[-1].tag if tokens else "joint"
        tag = _tag(word, before, n, support=support, verb=verb, opened=opened)
        if tag == "joint" or tag == "asks":
            support = verb = False
        support = support or (tag == "auxiliary" and word.lower() in _SUPPORT)
        verb = verb or tag in ("verb", "be")
        if tag == "verb":
            support = False
        opened = tag == "asks"
        tokens.append(Token(m.start(), m.end(), tag))
    return tokens


def _tag(word: str, before: Tag, n: int, *, support: bool, verb: bool, opened: bool) -> Tag:
    """The part of speech of an English word by what stands before it."""
    plain = word.lower().replace("’", "'")
    if not word[0].isalnum():
        return "joint"
    if word[0].isdigit() or (n and word[0].isupper()):
        return "noun"
    if plain in QUESTION_WORDS:
        return "asks" if before in ("joint", "preposition", "of", "empty") or n == 0 else "joint"
    if plain == "that" and before == "noun":
        return "joint"
    if before == "determiner" and plain not in PREPOSITIONS:
        return "noun"
    if opened and plain in ("many", "much", "long", "far", "old", "often", "big", "tall", "high", "deep", "large"):
        return "noun"
    closed = _closed(plain)
    if closed is not None:
        return closed
    if _is_predicate(plain, before, support=support, verb=verb, opened=opened):
        return "verb"
    return "empty" if plain in ADVERBS and before != "noun" else "noun"


def _closed(plain: str) -> Tag | None:
    if plain in BE:
        return "be"
    if plain in AUXILIARIES or plain.endswith("n't"):
        return "auxiliary"
    if plain == "of":
        return "of"
    if plain in PREPOSITIONS:
        return "preposition"
    if plain in DETERMINERS:
        return "determiner"
    if plain in CONJUNCTIONS:
        return "joint"
    return "empty" if plain in PRONOUNS or plain in ("there", "not", "please") else None


def _is_predicate(plain: str, before: Tag, *, support: bool, verb: bool, opened: bool) -> bool:
    if is_past(plain):
        return before != "determiner"
    if is_verb(plain):
        return (support and before in ("noun", "empty", "auxiliary", "verb")) or before == "auxiliary"
    third = plain.endswith("s") and is_verb(base(plain))
    return third and not verb and not support and before in ("noun", "asks", "joint")


def _chinese(run: str, start: int) -> list[Token]:
    """A run of Chinese, cut at its closed classes; what lies between is taken for nouns."""
    tokens: list[Token] = []
    at = 0
    for m in _CHINESE.finditer(run):
        if m.start() > at:
            tokens.append(Token(start + at, start + m.start(), "noun"))
        tag: Tag = next(t for n, (_, t) in enumerate(_CLOSED_CHINESE) if m[f"t{n}"])  # type: ignore[misc]
        tokens.append(Token(start + m.start(), start + m.end(), tag))
        at = m.end()
    if at < len(run):
        tokens.append(Token(start + at, start + len(run), "noun"))
    return tokens
