"""The days on which short texts were published.

A chat or a notice says the same each week: of 40 words that repeat, when they were said is what is new. So short texts
that were published on different days are no near duplicates. When they were published is no part of a text; it decides
about links between texts (`jobs.documents.duplicates.near`, `.shuffles`).
"""

from __future__ import annotations

import re
from itertools import accumulate

import pyarrow as pa

from quern.jobs.documents.duplicates.shingles import TOKEN
from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN

_DAY = 86_400_000_000
_SPACELESS = re.compile(f"[{CJK}{SOUTH_EAST_ASIAN}]")


def is_short(text: str, words: int) -> bool:
    """Whether `text` has fewer than so many words; two characters of a script without spaces are one."""
    sizes = (0.5 if _SPACELESS.match(token[0]) else 1.0 for token in TOKEN.finditer(text))
    return all(count < words for count in accumulate(sizes)) and words > 0


def published_days(texts: pa.Array, published: pa.Array, words: int) -> pa.Array:
    """Days since 1970 on which short texts were published; null for others.

    Args:
        texts: The texts.
        published: Microseconds since 1970, or null.
        words: Words that a short text has fewer than.
    """
    at = published.to_pylist()
    short = [time is not None and is_short(text.as_py(), words) for text, time in zip(texts, at, strict=True)]
    return pa.array([time // _DAY if yes else None for time, yes in zip(at, short, strict=True)], pa.int64())
