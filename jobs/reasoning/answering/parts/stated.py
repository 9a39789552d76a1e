"""Which of two has more, or by how much, where a sentence says so: `a larger fine than the brewery`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.parts.phrasing import side_name
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.questions.choices import COMPARATIVE, plain_form
from quern.jobs.reasoning.questions.outline import Section
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_THAN: Final = lazy_pattern(
    rf"^(?P<a>.*)\b(?P<comp>{COMPARATIVE}|more|fewer|less)\b(?P<of>[^.;:]*?)\bthan\b(?P<b>[^.;:,]*)", re.IGNORECASE
)
# Words that say more, and less, of amounts: a larger fine is more to pay.
_MORE: Final = frozenset("more larger bigger higher greater heavier most largest biggest highest greatest".split())
_LESS: Final = frozenset("less fewer smaller lower lighter least fewest smallest lowest".split())
_BY_HOW_MUCH: Final = lazy_pattern(r"\bhow\s+(?:much|many)\b|\bby\s+what\b|\bdifference\b", re.IGNORECASE)
_THAN_WHAT: Final = lazy_pattern(r"\s+than\s+([^.;,]{1,80})")
_NEXT_WORD: Final = lazy_pattern(r"\s+([a-z]+)\b")
_LIKELY: Final = 3  # Of the sentences for the whole question, the best.
_LONGEST: Final = 600  # Characters of a sentence: the expression takes the square of them.
_LEAST_SHARED: Final = 1  # Words beside those of the sides that question and sentence must share.


@dataclass(frozen=True)
class Stated:
    """The side that a sentence says to have more, or less where that is asked, and the number of the sentence."""

    side: str
    number: int


def stated(given: AnswerInput, section: Section) -> Stated | None:
    """The side of two that a sentence of the evidence sets above the other in so many words; None without one."""
    if len(section.sides) != 2 or not section.word:
        return None
    one, other = (content_words(side) for side in section.sides)
    own = one - other, other - one
    about = content_words(section.text) - one - other
    for number, span in enumerate(given.sentences, 1):
        text = " ".join(given.evidence[span.evidence].text[span.start : span.end].split())
        m = _THAN.match(text) if len(text) <= _LONGEST else None
        if m is None or (way := _way(m["comp"].lower(), section.word)) == 0:
            continue
        before, after = content_words(m["a"]), content_words(m["b"])
        if len(about & content_words(text)) < _LEAST_SHARED:
            continue
        won = [n for n in (0, 1) if own[n] & before and own[1 - n] & after and not own[n] & after]
        if len(won) == 1:
            side = section.sides[won[0] if way > 0 else 1 - won[0]]
            return Stated(side_name(side), number)
    return None


def difference_stated(given: AnswerInput, section: Section, answers: Sequence[AskedBefore]) -> Stated | None:
    """By how much one is more than the other where one of the likeliest sentences says it beside that very word.

    In the unit that the answers have, and not of a third: `35 metres taller than the hall`.
    """
    if _BY_HOW_MUCH.search(given.question) is None or len(section.sides) != 2:
        return None
    units = {q.unit for a in answers for q in quantities(a.answer)}
    asked = frozenset(w.lower() for w in re.findall(COMPARATIVE, given.question, re.IGNORECASE))
    for line in lines(given, kind_of(given.question))[:_LIKELY]:
        for q in quantities(line.text):
            word = _NEXT_WORD.match(line.text, q.end)
            if word is None or word[1].lower() not in asked or q.unit not in units:
                continue
            than = _THAN_WHAT.match(line.text, word.end())
            if than is None or content_words(than[1]) & content_words(section.sides[1]):
                return Stated(q.text, line.number)
    return None


def _way(said: str, asked: str) -> int:
    """1 where a sentence compares as the question does, -1 where it compares the other way round, 0 where otherwise."""
    sizes = [1 if w in _MORE else -1 if w in _LESS else 0 for w in (said, asked)]
    if all(sizes):
        return sizes[0] * sizes[1]
    return 1 if plain_form(said) == plain_form(asked) and said[:2] == asked[:2] else 0
