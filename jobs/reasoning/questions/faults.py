"""Questions that cannot be used: each is a reject with its reason, and the batch goes on without it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from quern.schemas.words.lines import shortened

# Of text that was decoded wrongly, or of a binary file; white space is no such character.
_NO_TEXT: Final = ("Cc", "Cs", "Co", "Cn")


@dataclass(frozen=True)
class Fault:
    """Why a question cannot be used."""

    reason: str  # Code for the rejects: `empty`, `too_long`, `not_text`.
    detail: str  # What exactly, in words.


def fault_of(question: str, max_characters: int) -> Fault | None:
    """What keeps `question` from being answered; None where nothing does.

    Args:
        question: The text of the question as it came.
        max_characters: `question.max_characters`.
    """
    text = question.strip().strip("\ufeff\u200b").strip()
    if not text:
        return Fault("empty", "the question is blank")
    if len(text) > max_characters:
        return Fault("too_long", f"{len(text)} characters, more than question.max_characters {max_characters}")
    odd = sum(_is_no_text(c) for c in text)
    # A stray control character comes with pasted text. Binary files and wrong decodings have one in ten and more.
    if odd > max(1, 0.05 * len(text)):
        return Fault("not_text", f"{odd} of {len(text)} characters are not text: {shortened(ascii(text), 60)}")
    if not any(c.isalnum() for c in text):
        return Fault("not_text", f"no letter and no digit: {shortened(text, 60)}")
    return None


def _is_no_text(character: str) -> bool:
    if character == "\ufffd":
        return True
    return unicodedata.category(character) in _NO_TEXT and not character.isspace()
