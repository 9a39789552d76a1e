"""What the title of a document says of its sentences: which repeats it, and of whom their pronouns are."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.events.telling import headline, telling
from quern.jobs.queries.rules.units import word_count
from quern.schemas.words.terms import search_terms

_PRONOUN: Final = re.compile(
    r"[\"“'‘«`*•-]*\s*(?:(?:It|He|She|They)\b|(?:One|This|That|These|Those|Both|Each|Neither|Some|Others)\s+"
    r"(?:is|are|was|were|has|have|had|will|would|did|does|of\s+(?:them|these|those)|\w+ed)\b)"
)
_LONGEST_NAME: Final = 4  # Words.


def is_title(text: str, title: str) -> bool:
    """Whether a sentence is the title of its document again."""
    return bool(title) and " ".join(text.split()).rstrip(".") == " ".join(title.split()).rstrip(".")


def is_name(title: str) -> bool:
    """Whether a document's title is a name: few words that tell nothing."""
    return 0 < word_count(title) <= _LONGEST_NAME and not headline(title) and telling(title + ".") is None


def is_unnamed(text: str, title: str) -> bool:
    """Whether a sentence begins with a pronoun for what stands before it: alone, it does not say who or what.

    A document that has a name for its title, as in an encyclopaedia, is about what bears it, and so are its pronouns.
    """
    return _PRONOUN.match(text) is not None and not is_name(title)


def stands_for(title: str, sentence: str, most: int) -> bool:
    """Whether the document's title can stand for its first sentence: short, and two of its words there."""
    if not title or word_count(title) > most:
        return False
    shared = set(search_terms(title).split()) & set(search_terms(sentence).split())
    return sum(len(word) > 2 or not word.isascii() for word in shared) >= 2
