"""Clauses of a question that look for evidence of their own, in its own words: what `hybrid` searches beside the whole.

A sub-question (`.decompose`) is a whole question in full names, answered by itself; a clause only finds.
"""

from __future__ import annotations

import re
from typing import Final

from quern.schemas.words.scripts import HAN_CHARACTER

_BETWEEN: Final = re.compile(r"\bbetween (.+?) and (.+)$", re.I)
# Of a text whose white space is squeezed: two runs of it side by side would be tried in every way to part them.
_CUT: Final = re.compile(
    r"(?: ?,)? (?:before|after|until|while|since|then|and then|as well as) |;| ?, (?:and|but|or|so) ", re.I
)
# Chinese: a pause or a word for `before`, `after`, `meanwhile` between two events.
_CUT_CHINESE: Final = re.compile(r"[，；,;]|(?:之前|以前|之后|以后|然后|同时)")


def clauses(question: str) -> list[str]:
    """The clauses of `question`, at most 4; none where it does not fall into several.

    It is cut at words that join two events (`A before B`, `between A and B`) and at marks between main clauses, where
    both sides have at least three words. A clause keeps its own words alone: its subject may stand in another.
    """
    stripped = " ".join(question.split()).rstrip("?.!？。！ ")
    if HAN_CHARACTER.search(stripped):
        parts = [p.strip() for p in _CUT_CHINESE.split(stripped)]
        parts = [p for p in parts if len(p) >= 4]
    else:
        both = _BETWEEN.search(stripped)
        parts = [both[1], both[2]] if both else _CUT.split(stripped)
        parts = [p.strip() for p in parts if len(re.findall(r"\w+", p)) >= 3]
    return parts[:4] if len(parts) > 1 else []
