"""A question without the names and times that the page says, but not the line that decides.

Whoever asks names the place, the event and the year; the page says them once, and its lines no more. A reader that is
given the line alone takes what it does not say for something else: of `the procession is cancelled` it says that the
procession `at Lantern Tide` was not cancelled `in 2024`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from quern.jobs.reasoning.answering.wording import stems_said
from quern.jobs.reasoning.questions.words import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    bare,
    is_past,
)
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_JOINING: Final = PREPOSITIONS | {"of", "because", "due"}
# What says where, and at what, something was; who did it, for whom, and before what, is what may be asked.
_AROUND: Final = frozenset({"at", "in", "during", "inside", "near", "within"})
_MOST: Final = 60  # Words of a question that is looked through.
_ENDS: Final = _JOINING | CONJUNCTIONS | AUXILIARIES | ADVERBS | {"who", "which", "what", "where"} - {"first", "last"}
_ASIDE: Final = frozenset("ever actually really indeed just also".split())
_DIGIT: Final = lazy_pattern(r"\d")
_YEAR: Final = lazy_pattern(r"\b(?:1\d|20)\d\d\b")
_CAPITAL: Final = lazy_pattern(r"(?<=[\w,;] )[A-Z][\w’'-]*")  # Inside a sentence, where it shows a name.
_NAMES: Final = lazy_pattern(r"\d|(?<!\w)[A-Z]")
# When that was, told by what else was: of a clause a word that is known of the page is enough.
_CLAUSE: Final = lazy_pattern(r",?\s(?:when|while)\s[^,?]{1,200}\?$")
_LEAST: Final = 3  # Words that are left of a question, its auxiliary among them.


class _Phrase(NamedTuple):
    """A preposition and what it takes: the places of its first word and of the one behind its last."""

    start: int
    end: int


def without_context(question: str, line: str, known: frozenset[str]) -> str:
    """The question without phrases of a name or a time that `line` says nothing of.

    Args:
        question: Of yes or no.
        line: The sentence that decides.
        known: Stems of what is known of the page: its title, its chunk, its site and the year it was published in. A
            phrase with a word that is not among them stays: the page may be of another year, or another place.
    """
    own = content_words(line)
    plain = " ".join(question.split())
    if len(plain.split()) > _MOST:
        return question
    if (clause := _CLAUSE.search(plain)) is not None:
        said = content_words(clause[0])
        if said & known and not stems_said(said, own):
            plain = f"{plain[: clause.start()]}?"
    words = [w for n, w in enumerate(plain.split()) if not n or bare(w) not in _ASIDE]
    for phrase in reversed([*_phrases(words)]):
        text = " ".join(words[phrase.start : phrase.end])
        said = content_words(text)
        if bare(words[phrase.start]) not in _AROUND or not _NAMES.search(text) or _of_noun(words, phrase.end):
            continue
        if not said or not said <= known or stems_said(said, own) or _told_otherwise(text, line, question):
            continue
        left = words[: phrase.start] + words[phrase.end :]
        if len(left) >= _LEAST and content_words(" ".join(left)) & own:
            words = left
    text = " ".join(words).rstrip(" ,")
    return text if text.endswith("?") or not question.rstrip().endswith("?") else f"{text}?"


def _of_noun(words: Sequence[str], at: int) -> bool:
    """Whether the word at a place is a noun that the name before it belongs to: `for the Tidewell Bath heat pump`."""
    if at >= len(words) or re.search(r"[,?]$", words[at - 1]):
        return False
    return words[at][:1].islower() and bare(words[at]) not in _ENDS and not is_past(bare(words[at]))


def _told_otherwise(phrase: str, line: str, question: str) -> bool:
    """Whether the line may say another thing in the place of a phrase: another year, number or name."""
    if _YEAR.search(phrase):
        return _YEAR.search(line) is not None
    if _DIGIT.search(phrase):
        return _DIGIT.search(line) is not None
    words = content_words(question)
    if any(not content_words(m[0]) <= words for m in _CAPITAL.finditer(line)):
        return True
    same = rf"\b{re.escape(bare(phrase.split()[0]))}\s+((?!\d)(?:[\w’'-]+\s*){{1,3}})"
    return any(not content_words(m[1]) <= words for m in re.finditer(same, line, re.IGNORECASE))


def _phrases(words: Sequence[str]) -> Iterator[_Phrase]:
    """Phrases of a preposition, from the second word on."""
    at = 1
    while at < len(words):
        if bare(words[at]) not in _JOINING:
            at += 1
            continue
        start = at
        while at < len(words) and bare(words[at]) in _JOINING:
            at += 1
        while at < len(words) and bare(words[at]) in DETERMINERS:
            at += 1
        end = _end_of_noun(words, at)
        if end > at:
            yield _Phrase(start, end)
        at = max(end, at)


def _end_of_noun(words: Sequence[str], at: int) -> int:
    """The place behind the words of a name, or of a noun without a verb, that begin at `at`."""
    named = at < len(words) and not words[at][:1].islower()
    end = at
    while end < len(words):
        word = words[end]
        if named != (not word[:1].islower()) or bare(word) in _ENDS or (end > at and is_past(bare(word))):
            break
        end += 1
        if re.search(r"[,?]$", word):
            break
    return end
