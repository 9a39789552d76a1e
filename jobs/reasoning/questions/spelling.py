"""Spelling by the vocabulary of the index: a word that it does not have becomes the nearest one that it has.

A word stays as it is where the index or the dictionary has it, and where nothing is near: a question about what the
corpus lacks must not become one about what is spelled alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.questions.function_words import FUNCTION_WORDS, foreign_words
from quern.jobs.reasoning.questions.vocabulary import Vocabulary
from quern.schemas.words.terms import STOP_WORDS, search_terms

_WORD: Final = re.compile(r"(?<![\w'’-])[A-Za-z]{3,24}(?=['’]s\b|(?![\w'’]))")
_SHORT: Final = 5  # Letters below which a word is short.
_LONG: Final = 7  # Letters from which on a word may have two wrong.
_MOST_UNKNOWN: Final = (
    0.5  # Share of unknown words from which on a question is in another language, or about another world.
)


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
    words = search_terms(question).split()
    foreign = foreign_words(words)
    if not vocabulary or (foreign and sum(map(vocabulary.has, foreign)) * 2 < len(foreign)):
        return []
    unknown = [m for m in _WORD.finditer(question) if not m[0].isupper() and not _is_right(m[0].lower(), vocabulary)]
    if len(unknown) > max(1, _MOST_UNKNOWN * len(words)):
        return []
    near = [(m, _meant(m[0], vocabulary)) for m in unknown]
    return [Respelled(m.start(), m.end(), word) for m, word in near if word]


def _is_right(word: str, vocabulary: Vocabulary) -> bool:
    return word in FUNCTION_WORDS or vocabulary.knows(word)


def _meant(written: str, vocabulary: Vocabulary) -> str | None:
    """The word of the index that was meant, with the capitals of what was written.

    A name is changed by one edit into the only name so near, for another name is another person. A short word is
    changed only where it lacks a letter: with another letter in its place it is another word.
    """
    word, is_name = written.lower(), written[0].isupper()
    near = vocabulary.nearest(word, 2 if len(word) >= _LONG and not is_name else 1)
    if not near or near[0] in STOP_WORDS or (is_name and len(near) > 1):
        return None
    if len(word) < _SHORT and len(near[0]) <= len(word):
        return None
    return near[0].title() if is_name else near[0]
