"""Relative times of a question as days, counted from a given now: `last month`, `two years ago`, `昨天`."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from quern.schemas.words.calendar import MONTHS, WEEKDAYS

_NUMBERS: Final = {
    **{w: n for n, w in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)},
    "a couple of": 2,
    "an": 1,
    "a": 1,
    **{w: n for n, w in enumerate("一二三四五六七八九十", 1)},
    "两": 2,
    "几": 3,
}
_MONTHS: Final = [month.lower() for month in MONTHS]
_DAYS: Final = [day.lower() for day in WEEKDAYS]
_WEEKDAYS: Final = dict(zip("一二三四五六日天", [0, 1, 2, 3, 4, 5, 6, 6], strict=True))
_COUNT: Final = r"(?P<count>\d{1,3}|" + "|".join(word for word in _NUMBERS if word.isascii()) + ")"
_UNIT: Final = r"(?P<unit>day|week|fortnight|month|year|decade)s?"
_HAN_COUNT: Final = r"(?<![\d年月哪第])(?P<count>\d{1,3}|[一二两三四五六七八九十])"
_HAN_UNITS: Final = {
    "天": "day",
    "周": "week",
    "星期": "week",
    "个星期": "week",
    "个月": "month",
    "年": "year",
}
_HAN_UNIT: Final = r"(?P<unit>天|周|个?星期|个月|年)"
# `last year of the war` counts from the war.
_NOT_OF: Final = r"(?:['’]s)?\b(?! (?:of|before|after|when|in which|that|to)\b)"
_YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|(?<!\d)20\d{6}(?!\d)")


@dataclass(frozen=True)
class Span:
    """Days that a question is about, both ends included.

    Attributes:
        words: The words of the question that say so.
        start: Their first character in the question.
    """

    first: date
    last: date
    words: str
    start: int

    @property
    def end(self) -> int:
        """One past the last character of its words."""
        return self.start + len(self.words)

    def told(self, chinese: bool = False) -> str:
        """The days in words: a day, a month, a year, or its two ends."""
        first, last = self.first, self.last
        if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
            years = [str(first.year)] if first.year == last.year else [str(first.year), str(last.year)]
            return "至".join(f"{year}年" for year in years) if chinese else " to ".join(years)
        if first.day == 1 and last == _month_end(last) and (first.year, first.month) == (last.year, last.month):
            return f"{first.year}年{first.month}月" if chinese else f"{_month(first)} {first.year}"
        if first == last:
            return _told(first, chinese)
        return f"{_told(first, chinese)}{'至' if chinese else ' to '}{_told(last, chinese)}"


def _told(day: date, chinese: bool) -> str:
    return f"{day.year}年{day.month}月{day.day}日" if chinese else f"{day.day} {_month(day)} {day.year}"


def _month(day: date) -> str:
    return _MONTHS[day.month - 1].title()


def spans(question: str, now: date) -> list[Span]:
    """The times that `question` names relative to `now`, in their order, none inside another.

    A question that names a year has a time of its own, which the others count from.
    """
    if _YEAR.search(question):
        return []
    found: list[Span] = []
    for pattern, days in _RULES:
        for match in pattern.finditer(question):
            try:
                ends = days(match, now)
            except (KeyError, OverflowError, ValueError):
                continue  # Before the year 1, or with `ſ`, which is an `s` where case is ignored: no time of any page.
            taken = any(s.start < match.end() and match.start() < s.end for s in found)
            if ends is not None and not taken and not _in_title(question, match):
                found.append(Span(*ends, match[0], match.start()))
    return sorted(found, key=lambda span: span.start)


Ends = tuple[date, date]


def _in_title(question: str, match: re.Match[str]) -> bool:
    """Whether the words are part of a title: in quotation marks, or with a capital inside a sentence."""
    before = question[: match.start()]
    quoted = sum(before.count(mark) for mark in '"“”「」《》') % 2 == 1
    return quoted or (match[0][0].isupper() and bool(before.strip()) and before.rstrip()[-1] not in ".?!:,;")


def _month_end(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _months_on(day: date, months: int) -> date:
    """The first of the month so many months on."""
    number = day.year * 12 + day.month - 1 + months
    return date(number // 12, number % 12 + 1, 1)


def _unit_of(unit: str, now: date, steps: int) -> Ends:
    """The day, week (from Monday), month, year or decade that is so many of them on."""
    if unit == "day":
        day = now + timedelta(steps)
        return day, day
    if unit in ("week", "fortnight"):
        monday = now - timedelta(now.weekday()) + timedelta(weeks=steps * (2 if unit == "fortnight" else 1))
        return monday, monday + timedelta(6)
    if unit == "month":
        first = _months_on(now, steps)
        return first, _month_end(first)
    if unit == "decade":
        year = (now.year // 10 + steps) * 10
        return date(year, 1, 1), date(year + 9, 12, 31)
    return date(now.year + steps, 1, 1), date(now.year + steps, 12, 31)


def _since(unit: str, now: date, count: int) -> Ends:
    """The last so many days, weeks, months or years, up to now."""
    days = {"day": 1, "week": 7, "fortnight": 14}.get(unit)
    if days is not None:
        return now - timedelta(days * count), now
    months = count * {"month": 1, "year": 12, "decade": 120}[unit]
    first = _months_on(now, -months)
    return first.replace(day=min(now.day, _month_end(first).day)), now


def _count(match: re.Match[str]) -> int:
    said = match["count"].lower()
    return int(said) if said.isdigit() else _NUMBERS[said]


def _named(match: re.Match[str], now: date) -> Ends | None:
    """`last week`, `this year`, `next month`, `last Tuesday`, `last March`."""
    steps = {"last": -1, "this": 0, "current": 0, "next": 1, "coming": 1}[match["which"].lower()]
    unit = match["unit"].lower()
    if unit in ("night", "evening"):
        return _unit_of("day", now, min(steps, 0))
    if unit == "weekend":
        monday = _unit_of("week", now, steps)[0]
        return monday + timedelta(5), monday + timedelta(6)
    if unit in _DAYS:
        back = (now.weekday() - _DAYS.index(unit)) % 7
        day = now - timedelta(back or 7) if steps < 0 else now + timedelta((-back) % 7 or 7 * steps)
        return day, day
    if unit in _MONTHS:
        month = _MONTHS.index(unit) + 1
        earlier = month < now.month
        year = now.year + (
            0 if steps == 0 else (-1 if not earlier else 0) if steps < 0 else (1 if month <= now.month else 0)
        )
        first = date(year, month, 1)
        return first, _month_end(first)
    if unit in _SEASONS:
        return _season(_SEASONS[unit], now, steps)
    return _unit_of(unit, now, steps)


_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def _season(month: int, now: date, steps: int) -> Ends:
    """The season, of the northern half of the earth by months, that ended last or comes next."""
    year = now.year
    first, last = date(year, month, 1), _month_end(_months_on(date(year, month, 1), 2))
    if steps < 0 and last >= now:
        year -= 1
    elif steps > 0 and first <= now:
        year += 1
    return date(year, month, 1), _month_end(_months_on(date(year, month, 1), 2))


def _chinese_day(match: re.Match[str], now: date) -> Ends:
    steps = {"大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "今天": 0, "今日": 0, "明天": 1, "后天": 2}[
        match[0]
    ]
    return _unit_of("day", now, steps)


def _chinese_named(match: re.Match[str], now: date) -> Ends | None:
    which, unit = match["which"], match["unit"]
    steps = {"上": -1, "这": 0, "本": 0, "下": 1, "上个": -1, "这个": 0, "下个": 1, "上上": -2, "上上个": -2}[which]
    kind = "month" if unit.startswith("月") else "week"
    first, last = _unit_of(kind, now, steps)
    weekday = _WEEKDAYS.get(match["day"] or "")
    if kind == "week" and weekday is not None:
        return first + timedelta(weekday), first + timedelta(weekday)
    return first, last


Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date], Ends | None]]


def _rules() -> Iterator[Rule]:
    def english(pattern: str, days: Callable[[re.Match[str], date], Ends | None]) -> Rule:
        return re.compile(rf"\b(?:{pattern}){_NOT_OF}", re.IGNORECASE), days

    yield english(r"(?:the )?day before yesterday", lambda _, now: _unit_of("day", now, -2))
    yield english(r"(?:the )?day after tomorrow", lambda _, now: _unit_of("day", now, 2))
    yield english(r"yesterday(?: (?:morning|afternoon|evening|night))?", lambda _, now: _unit_of("day", now, -1))
    yield english(r"tomorrow", lambda _, now: _unit_of("day", now, 1))
    yield english(
        r"(?:earlier |later )today|(?<=happened )today|(?<=published )today|(?<=news )today", lambda _, now: (now, now)
    )
    yield english(rf"{_COUNT} {_UNIT} ago", lambda m, now: _unit_of(m["unit"].lower(), now, -_count(m)))
    yield english(
        rf"(?:the )?(?:last|past|previous) {_COUNT} {_UNIT}", lambda m, now: _since(m["unit"].lower(), now, _count(m))
    )
    yield english(rf"the (?:last|past) {_UNIT}", lambda m, now: _since(m["unit"].lower(), now, 1))
    yield english(r"(?:the )?(?P<which>last|next|coming|current) (?P<unit>week|month|year|decade)", _named)
    yield english(
        rf"(?P<which>last|next) (?P<unit>night|evening|weekend|{'|'.join([*_DAYS, *_MONTHS])}"
        rf"|(?:{'|'.join(_SEASONS)})(?! (?-i:[A-Z])))",
        _named,
    )
    yield english(r"(?P<which>this) (?P<unit>week|month|year|decade|weekend)", _named)
    yield re.compile("大前天|前天|昨天|昨日|昨晚|今[天日](?=发生|的?新闻|有什么)|明天|后天"), _chinese_day
    yield (
        re.compile("大?前年|去年|今年|明年"),
        lambda m, now: _unit_of("year", now, {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1}[m[0]]),
    )
    yield (
        re.compile(
            "(?P<which>上上个?|上个?|这个?|本|下个?)(?P<unit>月(?!份)|周|星期|礼拜)(?P<day>[一二三四五六日天]?)"
        ),
        _chinese_named,
    )
    yield (
        re.compile(rf"{_HAN_COUNT}{_HAN_UNIT}(?:以前|之前|前(?![往后任线]))"),
        lambda m, now: _unit_of(_HAN_UNITS[m["unit"]], now, -_count(m)),
    )
    yield (
        re.compile(rf"(?:最近|过去)(?:的)?{_HAN_COUNT}{_HAN_UNIT}"),
        lambda m, now: _since(_HAN_UNITS[m["unit"]], now, _count(m)),
    )


_RULES: Final = tuple(_rules())
