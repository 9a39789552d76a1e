"""Spelling by the vocabulary of the index: a word that it does not have becomes the likeliest that it has.

Likeliest is what takes few edits, stands with the other words of the question in one chunk, and is common: the noisy
channel of Kernighan, Church and Gale (1990) with the index as its language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from quern.jobs.reasoning.questions.vocabulary import Vocabulary, distance
from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN
from quern.schemas.words.terms import STOP_WORDS, search_terms

_LETTER: Final = f"[^\\W\\d_{CJK}{SOUTH_EAST_ASIAN}]"
_WORD: Final = re.compile(f"(?<![\\d_]){_LETTER}++(?:['’]{_LETTER}++)?(?![\\d_])")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_SHORTEST: Final = 3
# From so many letters on, a word may have two wrong.
_LONG: Final = 6
# More unknown words than this share, and the question is in another language, or of another world.
_MOST_UNKNOWN: Final = 0.4
# What an edit weighs against standing with all other words of the question; and what being e times as common does.
_EDIT: Final = 1.0
_COMMON: Final = 0.05
# The first letter is seldom wrong (Yannakoudakis and Fawthrop 1983: 1.4 % of errors).
_FIRST: Final = 0.5
_OPENERS: Final = frozenset("what when where which whose".split())


@dataclass(frozen=True)
class Respelled:
    """A part of a question that is spelled as the index spells it.

    Attributes:
        start: First character in the question.
        end: One past its last character.
        words: What stands there in the index.
    """

    start: int
    end: int
    words: str


def respelled(question: str, vocabulary: Vocabulary) -> list[Respelled]:
    """The misspelled words of `question`, in their order; none where it seems to be in another language."""
    found = [m for m in _WORD.finditer(question) if "'" not in m[0][:-2] and "’" not in m[0][:-2]]
    words = [search_terms(m[0].lower()) for m in found]
    unknown = [n for n, word in enumerate(words) if len(word) >= _SHORTEST and not vocabulary.knows(word)]
    if not unknown or len(unknown) > max(1, _MOST_UNKNOWN * len(words)) or not vocabulary:
        return []
    others = [word for n, word in enumerate(words) if n not in unknown and word not in STOP_WORDS]
    return list(_mended(found, words, unknown, others, vocabulary))


def _mended(
    found: Sequence[re.Match[str]],
    words: Sequence[str],
    unknown: Sequence[int],
    others: list[str],
    vocabulary: Vocabulary,
) -> Iterator[Respelled]:
    joined = -1
    for n in unknown:
        if n == joined:
            continue
        whole = words[n] + words[n + 1] if n + 1 < len(words) else ""
        if whole and found[n + 1].start() == found[n].end() + 1 and vocabulary.has(whole) and len(whole) > _LONG:
            joined = n + 1
            yield Respelled(found[n].start(), found[n + 1].end(), whole)
            continue
        written = found[n][0]
        best = (
            _small_word(words[n], written)
            or _parted(words[n], written, vocabulary)
            or _likeliest(words[n], written, others, vocabulary)
        )
        if best:
            others.append(best)
            end = found[n].start() + len(_POSSESSIVE.sub("", written))
            yield Respelled(found[n].start(), end, _cased(best, written))


def _small_word(word: str, written: str) -> str | None:
    """The question word, article or the like that was meant; no name is one."""
    near = [small for small in sorted(STOP_WORDS) if len(small) > _SHORTEST and distance(word, small, 1) == 1]
    openers = [small for small in near if small in _OPENERS]
    if openers:
        return openers[0]
    return near[0] if len(near) == 1 and written.islower() else None


def _parted(word: str, written: str, vocabulary: Vocabulary) -> str | None:
    """Two words of the index that were written as one, where they stand in one chunk."""
    if written[0].isupper():
        return None
    pairs = [(word[:at], word[at:]) for at in range(2, len(word) - 1)]
    joint = [pair for pair in pairs if _stand_together(*pair, vocabulary)]
    return " ".join(joint[0]) if len(joint) == 1 else None


def _stand_together(one: str, other: str, vocabulary: Vocabulary) -> bool:
    """Whether two words of the index are in one chunk; a small word is in any."""
    small = [word in STOP_WORDS for word in (one, other)]
    if any(small):
        content = other if small[0] else one
        return not all(small) and len(content) > _SHORTEST and vocabulary.has(content)
    return min(len(one), len(other)) >= _SHORTEST and vocabulary.has(one) and vocabulary.company(one, [other]) > 0


def _likeliest(word: str, written: str, others: Sequence[str], vocabulary: Vocabulary) -> str | None:
    """The word of the index that was most likely meant.

    A name is changed by one edit at most and keeps its first letter: another name is another person.
    """
    if not written.isascii():
        return None
    is_name = written[0].isupper()
    edits = 2 if len(word) >= _LONG and not is_name else 1
    candidates = [
        near for near in vocabulary.near(word, edits, common=not is_name) if not is_name or near.word[0] == word[0]
    ]
    scored = [
        (
            vocabulary.company(near.word, others)
            - _EDIT * near.edits
            - _FIRST * (near.word[0] != word[0])
            + _COMMON * log(max(1, vocabulary.frequency(near.word))),
            near.word,
        )
        for near in candidates
    ]
    return max(scored)[1] if scored else None


def _cased(word: str, written: str) -> str:
    """The word with the capitals of what it stands for."""
    if written.isupper() and len(written) > 1:
        return word.upper()
    return word.title() if written[0].isupper() else word
