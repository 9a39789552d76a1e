"""Which of two alternatives the evidence tells, where a question offers them: `Was the captain fined or jailed?`.

Such a question has the form of one for yes or no and is answered by neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.polarity import denies
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.wording import said_by_others
from quern.jobs.reasoning.questions.pairs import parallel
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_OFFERS: Final = lazy_pattern(r"(?P<left>[^?]+?),?\s+or\s+(?P<right>[^?,]+?)\s*\?*\s*", re.IGNORECASE)
# Of these one asks whether any is so.
_ANY: Final = lazy_pattern(
    r"\b(?:any|anyone|anybody|anything|ever|either|more|less|fewer|besides|without|than)\b|"
    r"\bor\s+(?:not|is|are|was|were|did|does|do|has|have|had|so|more|less|even|rather)\b|\bor\b.*\bor\b",
    re.IGNORECASE,
)
_COMPARED: Final = lazy_pattern(
    r"(?P<left>[^?]*\b(?:more|fewer|less)\s+(?!than\b|or\b)[^?]+?),?\s+or\s+(?!not\b|more\b|less\b|fewer\b)[^?]+\?*\s*",
    re.IGNORECASE,
)
_OPENING: Final = lazy_pattern(r"^(?:by|in|on|at|to|from|for|with|as|of)\s+", re.IGNORECASE)
_LOOKED_AT: Final = 12  # Of the best lines, those that may tell.
_LONGEST: Final = 6  # Words of an alternative.


def alternative(question: str, best: Sequence[Line]) -> tuple[str, Line] | None:
    """The alternative that the best line with one of both tells; None where none is offered, or no line tells."""
    sides = offered(question)
    if sides is None:
        return None
    words = [content_words(side) for side in sides]
    own = [words[0] - words[1], words[1] - words[0]]
    if not all(own):
        return None
    for line in best[:_LOOKED_AT]:
        said = content_words(line.text)
        has = [mine <= said | set(said_by_others(mine, sorted(said)).values()) for mine in own]
        if has[0] != has[1]:
            told = has[1] != denies(line.text)
            return _OPENING.sub("", sides[told]), line
    return None


def compares_offers(question: str) -> bool:
    """Whether a question asks which of two has more of something: `more jobs at Casterby or in Port Averil`."""
    return _COMPARED.fullmatch(question) is not None


def offered(question: str) -> tuple[str, str] | None:
    """The two alternatives of a question, in its words."""
    m = _OFFERS.fullmatch(question)
    if m is None or _ANY.search(question) or len(m["right"].split()) > _LONGEST:
        return None
    right = m["right"]
    cut = parallel(m["left"], right)
    if cut is not None and len(cut[1].split()) <= _LONGEST:
        return cut[1], right
    many = len(right.split())
    return (" ".join(m["left"].split()[-many:]), right) if many == 1 else None
