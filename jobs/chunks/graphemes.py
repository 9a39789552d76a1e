"""Where a character as a reader sees it begins: no cut between a letter and its marks, or inside an emoji.

The rules of Unicode's standard annex 29, section 3.1.1, that matter for a cut: marks and joiners go with what is
before them (GB9, GB9a, GB11), so do the vowels and final consonants of Korean written in parts (GB6 to GB8), the
letters of flags go in pairs (GB12, GB13), and a line feed with its carriage return (GB3).
"""

from __future__ import annotations

import re
import unicodedata

_JOINER = "\u200d"
# What goes with the character before it and is no mark by its category: joiners, Thai and Lao AM, half-width voiced
# marks, the vowels and final consonants of Hangul in parts, tones of skin, tags.
_FOLLOWS = re.compile(
    "[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7fb\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]+")


def starts_grapheme(text: str, at: int) -> bool:
    """Whether `text` may be cut before its character number `at`."""
    if at <= 0 or at >= len(text):
        return True
    before, here = text[at - 1], text[at]
    if here.isascii():
        return not (here == "\n" and before == "\r")
    if before == _JOINER or _FOLLOWS.match(here) or unicodedata.category(here)[0] == "M":
        return False
    return not (_FLAG.match(here) and _flags_before(text, at) % 2)


def last_grapheme(text: str, low: int, high: int) -> int:
    """The last place in (low, high] where `text` may be cut, `high` where there is none."""
    return next((at for at in range(high, low, -1) if starts_grapheme(text, at)), high)


def _flags_before(text: str, at: int) -> int:
    """How many letters of flags stand straight before a place."""
    count = 0
    # Letters of flags that are looked at before a cut: one in a longer run may lie inside a flag.
    while count < min(at, 64) and _FLAG.match(text[at - count - 1]):
        count += 1
    return count
