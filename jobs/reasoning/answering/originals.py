"""Which sentence of the evidence another one is a copy of: of two pages that have it, the earlier is the source."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.text.number_values import stated_numbers
from quern.jobs.text.stems import content_words

# Set by hand: no sentence of lihua_world, where people repeat themselves but copy nothing, is a copy by all three.
_LEAST_WORDS: Final = 8  # Words of content from which a sentence is not written twice by chance, as a greeting is.
_SAME: Final = 0.9  # Jaccard similarity of the words of a copy, which an editor may have touched.
_NONE: Final = timedelta(0)
_WITHIN: Final = timedelta(31)  # What is written again later is news, or a reminder.


def originals(given: AnswerInput, numbers: Sequence[int]) -> list[int]:
    """Sentences `numbers` of the evidence, those replaced that a page published before has too."""
    return list(dict.fromkeys(_original(given, number) for number in numbers))


def _original(given: AnswerInput, number: int) -> int:
    own = given.evidence[given.sentences[number - 1].evidence]
    text = _text(given, number)
    words = content_words(text)
    if own.published_at is None or len(words) < _LEAST_WORDS:
        return number
    first, day = number, own.published_at
    for other, span in enumerate(given.sentences, 1):
        page = given.evidence[span.evidence]
        # Differences of days, for the day 0001-01-01, which pages give for none, has no day before it.
        if page.published_at is None or page.page == own.page or not _NONE < day - page.published_at <= _WITHIN:
            continue
        known = content_words(_text(given, other))
        if len(words & known) >= _SAME * len(words | known) and stated_numbers(text) == stated_numbers(
            _text(given, other)
        ):
            first, day = other, page.published_at
    return first


def _text(given: AnswerInput, number: int) -> str:
    at, start, end = given.sentences[number - 1]
    return given.evidence[at].text[start:end]
