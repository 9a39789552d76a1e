"""Lines that tell what was expected: where a question asks what came of it they stand behind those that tell that.

`The school will be shut for two weeks` does not answer how long it was shut; where nothing else does, it is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import MEASURED, Kind
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.questions.words import plain_pasts
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

# A question for what was: a past before what is asked of, and no word of planning.
_PAST: Final = lazy_pattern(
    r"\b(?:was|were|did|had|came|took|cost|paid|got|went|ended|spent|stayed|lasted|kept)\b", re.IGNORECASE
)
_PLANS: Final = lazy_pattern(
    r"\b(?:plan(?:s|ned)?|expect(?:s|ed)?|estimate[ds]?|budget(?:ed)?|forecast|predict(?:s|ed)?|propose[ds]?|hope[ds]?|"
    r"intend(?:s|ed)?|suppose[ds]?|would|will|should|could|offer(?:ed)?|promise[ds]?|due|meant|first|original(?:ly)?|"
    r"initial(?:ly)?|approved|set aside|target|limit|allowed|maximum)\b",
    re.IGNORECASE,
)
_EXPECTED: Final = lazy_pattern(
    r"\b(?:will|shall|would|expects?|expected|estimate[ds]?|faces?|facing|plans?|planned|proposes?|proposed|hopes?|hoped|"
    r"intends?|intended|forecasts?|predicts?|predicted|likely|budgeted|scheduled|offers?|offered|is to|are to|is due|"
    r"are due)\b",
    re.IGNORECASE,
)
# What somebody was held to: the day of an order is not the day on which it was followed.
_REQUIRED: Final = lazy_pattern(
    r"\b(?:on\s+(?:the\s+)?condition\s+that|must|(?:is|are|was|were)\s+(?:required|obliged|ordered|told)\s+to|"
    r"(?:has|have|had)\s+to)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = lazy_pattern(r"(?:(?!,\s|;|\sand\s|\sbut\s).)+", re.DOTALL)
# Log odds in those of `relevance.WEIGHTS`, set by hand: half of what a sentence of another time loses in `in_time`.
_LESS: Final = -1.5
_ORDERED: Final = -3.0  # Of what was ordered, of which a page seldom says no more.
_VERB_WITHIN: Final = 3  # Words behind `is expected`, of which one is the verb: `to be painted`.


def as_it_was(question: str, kind: Kind, best: Sequence[Line]) -> list[Line]:
    """The lines, best first; those of what was expected behind, where the question asks for what came of it."""
    if kind.name not in MEASURED or not _PAST.search(question) or _PLANS.search(question):
        return [*best]
    # Who asks when the bridge was painted is told when it will be; who asks when it was closed is not.
    asked = content_words(f"{question} {plain_pasts(question)}") if kind.name == "when" else frozenset()
    found = [replace(line, score=line.score + _loss(line, asked)) for line in best]
    return sorted(found, key=lambda line: (-line.score, line.number))


def _loss(line: Line, asked: frozenset[str]) -> float:
    """What a line loses that tells what was expected, or ordered, and not what came of it."""
    if _is_in_clauses(line, _REQUIRED):
        return _ORDERED
    return _LESS if _is_in_clauses(line, _EXPECTED) and not (asked & _planned(line.text)) else 0.0


def _planned(text: str) -> frozenset[str]:
    """Stems of what is expected: of the words right behind those that say so."""
    behind = (" ".join(text[m.end() :].split()[:_VERB_WITHIN]) for m in _EXPECTED.finditer(text))
    return frozenset().union(*map(content_words, behind), frozenset())


def _is_in_clauses(line: Line, words: re.Pattern[str]) -> bool:
    """Whether all values of a line that fit best stand in clauses that have one of these `words`."""
    if words.search(line.text) is None:
        return False
    fit = max((v.fit for v in line.values), default=0.0)
    clauses = [(m.start(), m.end()) for m in _CLAUSE.finditer(line.text)]
    of_best = [
        next((c for c in clauses if c[0] <= v.start < c[1]), (0, len(line.text))) for v in line.values if v.fit == fit
    ]
    return bool(of_best) and all(words.search(line.text, *clause) for clause in of_best)
