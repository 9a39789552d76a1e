"""What stands before a question and asks nothing: `We moved here in May. When is the library open?`."""

from __future__ import annotations

import re
from typing import Final

_SENTENCE: Final = re.compile(r"(?<=[.!])\s+(?=[A-Z])")
_LEANS: Final = re.compile(
    r"\b(?:it|its|he|him|his|she|her|they|them|their|this|that|these|those|there)\b", re.IGNORECASE
)
_LEAST_WORDS: Final = 4


def question_alone(text: str) -> str:
    """The last sentence of `text` if it alone asks and leans on nothing before it; else the whole."""
    *before, last = _SENTENCE.split(text.strip())
    alone = last.endswith("?") and not any("?" in sentence for sentence in before)
    return last if before and alone and len(last.split()) >= _LEAST_WORDS and not _LEANS.search(last) else text
