"""What tells short texts apart that are otherwise alike: the days that they name, who speaks, when they were published.

A chat or a notice says the same each week: of 40 words that repeat, the date is what is new. So a short text has near
duplicates only among texts of the same days and speakers, whether those are short or not: pairs of other ones are left
out when they are verified. When they were published is no part of a text; it decides about links between texts
(`jobs.documents.duplicates.near`, `.shuffles`).
"""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import accumulate
from typing import NamedTuple

import pyarrow as pa

from quern.jobs.documents.duplicates.shingles import TOKEN
from quern.jobs.text.dates import dates
from quern.schemas.settings import DeduplicateSettings
from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN

_DAY = 86_400_000_000
_SPACELESS = re.compile(f"[{CJK}{SOUTH_EAST_ASIAN}]")
# Who speaks: what stands before the colon at the start of a line, after a time or a mark in brackets, if it is one word
# or up to four that begin with a capital.
_SPEAKER = re.compile(
    r"^[ \t]*+(?:[\[(（【][^\])）】\n]{0,40}[\])）】][ \t]*)?(?:\d[\d:/.,\- _年月日时分]{0,30}[ \t])?"
    r"(?P<name>[^\W\d_][\w.'’-]{0,30}|[^\W\d_a-z][\w.'’-]{0,20}(?: [^\W\d_a-z][\w.'’-]{0,20}){1,3})"
    r"[ \t]?(?:[\[(（【][^\])）】\n]{0,30}[\])）】])?[ \t]?[:：](?!//)",
    re.MULTILINE,
)


def is_short(text: str, words: int) -> bool:
    """Whether `text` has fewer than so many words; two characters of a script without spaces are one."""
    sizes = (0.5 if _SPACELESS.match(token[0]) else 1.0 for token in TOKEN.finditer(text))
    return all(count < words for count in accumulate(sizes)) and words > 0


def stamp(text: str) -> int:
    """A 64-bit hash of the days that `text` names and of its speakers; 0 where there are none."""
    days = sorted({_day(when.timex, when.text) for when in dates(text)})
    speakers = sorted({found["name"].casefold() for found in _SPEAKER.finditer(text)})
    if not days and not speakers:
        return 0
    said = "\x1f".join([*days, "\x1e", *speakers])
    return int.from_bytes(blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)


class Told(NamedTuple):
    """What tells a text apart: whether it is short, and its stamp; 0 of a text that no short one can be similar to."""

    short: bool
    stamp: int


def told(text: str, shingles: int, settings: DeduplicateSettings) -> Told:
    """What tells a text with so many distinct shingles apart."""
    # A word makes at most two tokens, and a token at most one shingle.
    most = 2 * settings.short_words
    if shingles * settings.similarity > most:
        return Told(False, 0)
    return Told(shingles <= most and is_short(text, settings.short_words), stamp(text) if most else 0)


def _day(value: str, said: str) -> str:
    """A time as a value; in its own words where the value says nothing, as of `tomorrow`."""
    return value if any(c.isdigit() for c in value) else said.casefold()


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
