"""Whether a question asks what happened: for one event, or for several in their order."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from quern.schemas.words.patterns import lazy_pattern

_COURSE: Final = lazy_pattern(
    r"\btime[- ]?lines?\b|\bchronolog(?:y|ies|ical(?:ly)?)\b|\b(?:course|sequence|order) of (?:the )?events\b|"
    r"时间[线轴]|来龙去脉|始末|大事记|历程|的经过|经过(?:是|如何|怎样|怎么)",
    re.IGNORECASE,
)
_EVENTS: Final = lazy_pattern(
    r"\b(?:what(?:\s+(?:else|all|exactly|has|have|events?|things))*|which events)\s+"
    r"(?:happen(?:s|ed)?|occurred|took place|went on)\b|发生了?(?:什么|哪些|过什么)|出了什么事",
    re.IGNORECASE,
)


def asks_course(question: str) -> bool:
    """Whether a question asks for several events in their order."""
    return _COURSE.search(question) is not None


@lru_cache(maxsize=4096)
def asks_events(question: str) -> bool:
    """Whether a question asks what happened."""
    return asks_course(question) or _EVENTS.search(question) is not None
