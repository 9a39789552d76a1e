"""Dates of events in words: `2 March 2024`, `week of 4 March 2024`, `2024年3月`."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from quern.schemas.words.calendar import MONTHS

_SEASONS: Final = {"SP": ("spring", "春"), "SU": ("summer", "夏"), "FA": ("autumn", "秋"), "WI": ("winter", "冬")}
_QUARTERS: Final = ("first", "second", "third", "fourth")
_UNIT: Final = re.compile(r"(?P<year>\d{4})-(?:Q(?P<quarter>[1-4])|H(?P<half>[12])|(?P<season>SP|SU|FA|WI)|W\d\d)")


def date_words(timex: str, first: date, last: date, *, chinese: bool = False) -> str:
    """A date in English or Chinese words: by its TIMEX value, and the first and last day meant."""
    if first == last:
        return _day(first, chinese)
    if re.fullmatch(r"\d{4}-\d\d", timex):
        return f"{first.year}年{first.month}月" if chinese else f"{MONTHS[first.month - 1]} {first.year}"
    if re.fullmatch(r"\d{4}", timex):
        return f"{timex}年" if chinese else timex
    if re.fullmatch(r"\d{3}X", timex):
        return f"{timex[:3]}0年代" if chinese else f"{timex[:3]}0s"
    if (unit := _UNIT.fullmatch(timex)) is not None:
        year = unit["year"]
        if unit["season"]:
            english, character = _SEASONS[unit["season"]]
            return f"{year}年{character}季" if chinese else f"{english} {year}"
        if unit["quarter"]:
            number = int(unit["quarter"])
            return (
                f"{year}年第{'一二三四'[number - 1]}季度" if chinese else f"{_QUARTERS[number - 1]} quarter of {year}"
            )
        if unit["half"]:
            early = unit["half"] == "1"
            half = f"{'上' if early else '下'}半年"
            return f"{year}年{half}" if chinese else f"{'first' if early else 'second'} half of {year}"
        return f"{_day(first, chinese)}起的一周" if chinese else f"week of {_day(first, chinese)}"
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return f"{first.year}年至{last.year}年" if chinese else f"{first.year} to {last.year}"
    if chinese:
        return f"{_day(first, chinese)}至{_day(last, chinese)}"
    start = _day(first, chinese)
    if first.year == last.year:
        start = str(first.day) if first.month == last.month else f"{first.day} {MONTHS[first.month - 1]}"
    return f"{start} to {_day(last, chinese)}"


def _day(day: date, chinese: bool) -> str:
    return f"{day.year}年{day.month}月{day.day}日" if chinese else f"{day.day} {MONTHS[day.month - 1]} {day.year}"
