"""Digits and marks as dates: 2019-01-04, 10/1/2018, 30.02.2016, 20260408, 10/1-11/2; others are numbers or none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quern.schemas.words.patterns import lazy_pattern


@dataclass(frozen=True)
class NumericDate:
    """A date in digits; `one` and `two` are day and month in an order that is still to be decided.

    Attributes:
        year: Null where the digits have none.
        one: The first number, or the month where the order is known.
        two: The second number, or the day where the order is known.
        ordered: Whether `one` is the month for certain.
        short: Whether the year has two digits.
        dots: Whether it is written with dots: the day comes first.
    """

    year: int | None
    one: int
    two: int
    ordered: bool = False
    short: bool = False
    dots: bool = False


# Code, value, offset, length.
Piece = tuple[str, int | NumericDate | None, int, int]

_ISO: Final = lazy_pattern(r"(\d{4})([-/.])(\d\d?)\2(\d\d?)")
_SLASHED: Final = lazy_pattern(r"(\d\d?)([-/.])(\d\d?)\2(\d{4}|\d\d)")
_SHORT: Final = lazy_pattern(r"(\d\d?)/(\d\d?)")
_SHORT_YEAR: Final = lazy_pattern(r"(1\d|20)\d\d[-–/]\d\d")
_CLOCK: Final = lazy_pattern(r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?")
_COMPACT: Final = lazy_pattern(r"((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])")
_YEAR_MONTH: Final = lazy_pattern(r"((?:19|20)\d\d)(?:[-/](0?[1-9]|1[0-2])|\.(0[1-9]|1[0-2]))")
_MONTH_YEAR: Final = lazy_pattern(r"(0?[1-9]|1[0-2])/((?:19|20)\d\d)")
_DAY_YEAR: Final = lazy_pattern(r"(\d\d?),(\d{4})")
_DATE: Final = r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4}|\d\d?/\d\d?/\d\d|\d\d?/\d\d?)"
_TWO_DATES: Final = lazy_pattern(rf"({_DATE})[-–—~]({_DATE})")
_TWO: Final = lazy_pattern(r"(\d{1,4}|\d\d?:\d\d)[-–—~](\d{1,4}|\d\d?:\d\d)")


@lru_cache(4096)
def numeric(run: str) -> tuple[Piece, ...]:
    """The tokens of a run of digits and marks; one of code x where it is no time."""
    return tuple(_pieces(run, 0))


def _pieces(run: str, offset: int) -> Iterator[Piece]:
    if (one := _whole(run)) is not None:
        yield (*one, offset, len(run))
    elif two := (_TWO_DATES.fullmatch(run) or _TWO.fullmatch(run)):
        first, second = list(_pieces(two[1], offset)), list(_pieces(two[2], offset + two.start(2)))
        yield from first
        yield "-", None, offset + two.end(1), 1
        yield from second
    elif found := _DAY_YEAR.fullmatch(run):
        yield from _pieces(found[1], offset)
        yield ",", None, offset + found.end(1), 1
        yield from _pieces(found[2], offset + found.start(2))
    else:
        yield "x", None, offset, len(run)


def _whole(run: str) -> tuple[str, int | NumericDate | None] | None:
    """Code and value of a run that is one thing."""
    if run.isdecimal():
        return _number(run)
    if m := _ISO.fullmatch(run):
        return "G", NumericDate(int(m[1]), int(m[3]), int(m[4]), ordered=True)
    if m := _SLASHED.fullmatch(run):
        short, dots = len(m[4]) == 2, m[2] == "."
        if short and dots:
            return "x", None
        date = NumericDate(int(m[4]), int(m[1]), int(m[3]), short=short, dots=dots)
        return ("J" if short and m[2] == "-" else "G"), date
    if (m := _SHORT_YEAR.fullmatch(run)) and int(run[5:]) == (int(run[:4]) + 1) % 100:
        return "j", NumericDate(int(run[:4]), int(run[5:]), 0, ordered=True)
    if m := _YEAR_MONTH.fullmatch(run):
        return "V", NumericDate(int(m[1]), int(m[2] or m[3]), 0, ordered=True)
    if m := _MONTH_YEAR.fullmatch(run):
        return "V", NumericDate(int(m[2]), int(m[1]), 0, ordered=True)
    if m := _SHORT.fullmatch(run):
        return "J", NumericDate(None, int(m[1]), int(m[2]))
    if _CLOCK.fullmatch(run):
        return "k", None
    if _SHORT_YEAR.fullmatch(run):
        return "j", NumericDate(int(run[:4]), int(run[5:]), 0, ordered=True)
    return None


def _number(run: str) -> tuple[str, int | NumericDate | None]:
    """A number without marks."""
    value = int(run)
    if len(run) == 8 and (m := _COMPACT.fullmatch(run)):
        return "G", NumericDate(int(m[1]), int(m[2]), int(m[3]), ordered=True)
    if len(run) == 4 and 1000 <= value <= 2199:
        return "Y", value
    if len(run) > 2:
        return "n", value
    if 1 <= value <= 31:
        return ("a" if value <= 12 else "d"), value
    return "h", value
