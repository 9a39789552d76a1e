"""The answer by rule: a short answer of the kind that is asked for, and the sentences that carry it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.answering.choosing import Choice, choices, shares
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.kinds import Kind, kind_of
from quern.jobs.reasoning.answering.relevance import Line, lines
from quern.jobs.reasoning.answering.sentences import alike, content_words
from quern.jobs.reasoning.answering.yes_no import verdict
from quern.schemas.words.scripts import HAN


@dataclass(frozen=True)
class Said:
    """A short answer and the numbers of the sentences that carry it.

    Attributes:
        text: The answer, in words of the evidence; empty where the first of the sentences is the answer.
        numbers: Sentences of the evidence, the one that says most first.
    """

    text: str
    numbers: tuple[int, ...]


_VALUES: Final = frozenset({"when", "who", "where", "how_many", "how_much", "how_long"})
_LEAST_SHARE: Final = 0.35  # Belief that a value must have to be told by itself.
_NEAR_BEST: Final = 0.25  # Share of the best line's belief that a further line must have.
_MOST_MORE: Final = 2
_MOST_WORDS: Final = 40  # Of the whole answer, as issue and reader want it.


def short_answer(given: AnswerInput) -> Said | None:
    """The short answer to the question of `given` with what it rests on; none where nothing was found."""
    kind = kind_of(given.question)
    best = lines(given, kind)
    if not best:
        return None
    said = _said(given.question, kind, best)
    return Said(said.text, (*said.numbers, *_more(given, said, best)))


def _said(question: str, kind: Kind, best: Sequence[Line]) -> Said:
    if kind.name == "yes_no":
        said, line = verdict(question, best)
        return Said(said, (line.number,))
    if kind.name in _VALUES and (found := choices(question, kind, best)) and found[0].share >= _LEAST_SHARE:
        return _told(found)
    return Said("", (best[0].number,))


def _told(found: Sequence[Choice]) -> Said:
    value = found[0].value
    text = f"{value.means} ({value.text})" if value.means else value.text
    return Said(text, (found[0].line.number,))


def _more(given: AnswerInput, said: Said, best: Sequence[Line]) -> list[int]:
    """Further sentences that answer nearly as well, as many as keep the answer short."""
    words = _length(said.text) + sum(_length(_text(given, n)) for n in said.numbers)
    chosen: list[int] = []
    known = [content_words(_text(given, n)) for n in said.numbers]
    belief = shares(best)
    for line, share in zip(best, belief, strict=True):
        if share < _NEAR_BEST * belief[0] or len(chosen) == _MOST_MORE:
            break
        own = content_words(line.text)
        if line.number in said.numbers or any(alike(own, other) for other in known):
            continue
        if words + _length(line.text) > _MOST_WORDS:
            continue
        words += _length(line.text)
        chosen.append(line.number)
        known.append(own)
    return chosen


def _text(given: AnswerInput, number: int) -> str:
    at, start, end = given.sentences[number - 1]
    return given.evidence[at].text[start:end]


def _length(text: str) -> int:
    """Words of a text; two characters of Chinese are about one."""
    han = len(re.findall(f"[{HAN}]", text))
    return len(text.split()) + han // 2
