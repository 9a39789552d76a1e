"""Which sentences may be told beside those that answer: what is told must belong to the answer or add to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.text.stems import content_words

# Share of the question's words that a sentence of another page must bring. Of .12, .15 and .2, and the same by rarity,
# on lihua_world: all tell between 1234 and 1239 sentences of which 1020 to 1026 are of a gold page, with this most.
_ADDS: Final = 0.2


def earns_its_place(given: AnswerInput, answering: Sequence[int], number: int) -> bool:
    """Whether sentence `number` is of a page that the sentences `answering` are of, or says more of the question.

    A sentence of another page has to bring words of the question that stand neither in the chunks that answer nor in
    their titles: else it shares names with the answer and tells of something else. Of 93 such sentences beside right
    answers of lihua_world 1 was of a gold page. Without them .83 of what is told there is of one, with them .78, and
    as many answers hold the gold words, for the next sentence of the page takes the place.
    """
    spans = given.sentences
    answered = {spans[n - 1].evidence for n in answering}
    own, start, end = spans[number - 1]
    if given.evidence[own].page in {given.evidence[at].page for at in answered}:
        return True
    known = [content_words(f"{given.evidence[at].title or ''} {given.evidence[at].text}") for at in answered]
    asked = content_words(given.question)
    added = (content_words(given.evidence[own].text[start:end]) & asked).difference(*known)
    return bool(added) and len(added) >= _ADDS * len(asked)
