"""Whether yes or no is asked though the question does not begin so: `The mill, which burnt in 1911, is it open?`."""

from __future__ import annotations

import re
from typing import Final

from quern.schemas.words.patterns import lazy_pattern

AUXILIARY: Final = (
    r"is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|hasn't|haven't|hadn't|can't|couldn't|won't|wouldn't"
)
PREPOSITION: Final = (
    r"in|on|at|by|to|from|for|with|of|under|after|before|through|until|since|about|into|over|against|within|up to|"
    r"during|between|upon|than"
)
# A verb before its subject behind what the question is about; what a statement ends with to be confirmed; `whether`.
# Of 20,000 questions of eight sets on which it was checked, it is found in five, each answered by yes or no or by one
# of two that are named.
_BEHIND: Final = lazy_pattern(
    rf"[,;:–—-]\s+(?:(?:and|so|but|then)\s+)?(?:{AUXILIARY})\s+(?:(?:i|it|he|she|they|there|that|this|these|those|we|you|"
    r"the|an?|any|anyone|anybody|somebody|someone|his|her|its|their)\b|(?-i:[A-Z]))[^?]*\?$|"
    rf"(?:[:;–—]|\s-)\s+(?:{AUXILIARY})\s[^?]*\?$|"
    r",\s+(?:right|correct|true|yes|or not|or no)\s*\?$|"
    r"\b(?:know|wonder|wondering|tell me|tell us|any idea|not sure|curious|check|find out)\s+(?:if|whether)\b",
    re.IGNORECASE,
)
_ASKS_FIRST: Final = lazy_pattern(
    rf"(?:(?:and|so|but)\s+)?(?:(?:{PREPOSITION})\s+)?(?:(?:what|which|who|whom|whose|why|how)\b|"
    rf"(?:when|where)\s+(?:{AUXILIARY})\b)",
    re.IGNORECASE,
)


def asks_verdict_behind(question: str, asking: re.Match[str] | None) -> bool:
    """Whether yes or no is asked behind what the question is about, and nothing else before that.

    Args:
        question: What is asked, on one line.
        asking: The question word that may ask, with what stands before it; one behind a comma opens a relative clause.
    """
    behind = _BEHIND.search(question)
    if behind is None or _ASKS_FIRST.match(question) is not None:
        return False
    return asking is None or asking.start() >= behind.start() or question[asking.start()] not in "?.!;:"
