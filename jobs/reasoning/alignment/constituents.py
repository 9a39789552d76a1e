"""The constituents of a question: the phrases that its evidence must match, one by one (GGatrieval, section on FGA).

The rule cuts a question at its words without content, at punctuation, and where names begin and end. Words that only
ask (`who`, `how many`) are no part of a constituent: what answers them shares no word with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK
from quern.schemas.words.terms import without_asking

MOST_CONSTITUENTS: Final = 16
_WORD: Final = lazy_pattern(rf"(?P<cjk>[{CJK}]+)|[^\W_{CJK}](?:[\w\u0300-\u036f'’.-]*\w)?|\S")
# Particles, prepositions and forms of `be`, between which the phrases of a Chinese question stand.
_CHINESE: Final = lazy_pattern("[^的了是在有和与被把对从于吗呢]+")


@dataclass(frozen=True)
class Constituent:
    """A constituent: its words, which are `question[start:end]`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Parsed:
    """A question with its constituents, in its order; none where it has no word of content."""

    question: str
    constituents: tuple[Constituent, ...]


def parsed(question: str) -> Parsed:
    """A question with its constituents; of one that has more than `MOST_CONSTITUENTS` the last, where most ask.

    They are the longest runs of words with content, all of them capitalised or none.
    """
    spans: list[tuple[int, int]] = []
    start, end, names = 0, 0, False
    for word in _WORD.finditer(question):
        is_name = word[0][0].isupper() and word.start() > 0
        tells = not word["cjk"] and bool(content_words(word[0]))
        if tells and start < end and is_name == names:
            end = word.end()
            continue
        spans.append((start, end))
        start, end, names = (word.start() if tells else word.end()), word.end(), is_name
        if word["cjk"]:
            at = 0
            for phrase in (m[0] for part in without_asking(word[0]).split() for m in _CHINESE.finditer(part)):
                at = word[0].find(phrase, at)
                spans.append((word.start() + at, word.start() + at + len(phrase)))
                at += len(phrase)
    constituents = [Constituent(question[a:b], a, b) for a, b in [*spans, (start, end)] if content_words(question[a:b])]
    return Parsed(question, tuple(constituents[-MOST_CONSTITUENTS:]))
