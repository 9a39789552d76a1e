"""What `it` stands for, where a question asks for that: `beneath it` of the sentence before, `a wild service tree`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_NOUN: Final = lazy_pattern(
    r"\b(?:what|which)\s+(?:(?:sort|kind|type|breed|species|variety|make|brand)s?\s+of\s+)?(?P<noun>[a-z]+)\b",
    re.IGNORECASE,
)
_STANDS_FOR: Final = lazy_pattern(r"\s(?:it|them|there(?=\s*(?:[,.;]|$)))\b", re.IGNORECASE)
_BEFORE: Final = 2  # Sentences before that may name it.


def antecedent(question: str, line: Line, best: Sequence[Line]) -> tuple[str, Line] | None:
    """What the noun asked for is called in the sentence before, where the likeliest, `line`, has but a pronoun for it.

    None where the line has the noun itself, or those before it have none with an article.
    """
    asked = _NOUN.search(question)
    if asked is None or line.row is not None or not _STANDS_FOR.search(line.text):
        return None
    noun = asked["noun"].lower()
    if not content_words(noun) or content_words(noun) & content_words(line.text):
        return None
    phrase = re.compile(rf"\b(?:an?|the|this)\s+((?:[a-z-]+\s+){{1,3}}{re.escape(noun)})\b", re.IGNORECASE)
    near = [o for o in best if o.evidence == line.evidence and 0 < line.number - o.number <= _BEFORE]
    for other in sorted(near, key=lambda o: -o.number):
        if other.row is None and (found := phrase.search(other.text)) is not None:
            return found[1], other
    return None
