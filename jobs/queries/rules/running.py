"""A tokenised text as running text: without the spaces before marks that corpora for parsers and readers have."""

from __future__ import annotations

import re
from typing import Final

_TOKENISED: Final = re.compile(r" (?:[,.;]|['’]s)(?: |$)|``| ''")
_QUOTES: Final = re.compile(r"``\s*(?P<said>[^`]*?)\s*''")
_BEFORE_MARK: Final = re.compile(r" (?=[,.;:!?)\]%](?:[ ,.;:!?)”\"]|$)|['’](?:s|re|ve|ll|d|m)\b|n['’]t\b)")
_AFTER_BRACKET: Final = re.compile(r"(?<=[(\[]) ")
_HYPHEN: Final = re.compile(r"(?<=[^\W_]) - (?=[^\W_])")
_DASH: Final = re.compile(r" -- ")


def is_tokenised(text: str) -> bool:
    """Whether marks stand apart from their words in the text, or its quotes are those of a typewriter."""
    return _TOKENISED.search(text) is not None


def running_text(text: str) -> str:
    """The text as it would be printed; as it is where it is not tokenised."""
    if not is_tokenised(text):
        return text
    text = _BEFORE_MARK.sub("", _QUOTES.sub(r"“\g<said>”", text))
    return _HYPHEN.sub("-", _DASH.sub(" – ", _AFTER_BRACKET.sub("", text)))
