"""Dates in English and Chinese text, as exact spans with the days that they mean.

One expression finds points in time (a day, a month, a season, a year, a day relative to another), a second pass joins
two points to a range. Written out rather than taken from a library: dateparser's search takes a millisecond a sentence
and Recognizers-Text ten, and a batch of questions reads a hundred thousand sentences.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal

from quern.jobs.text.chinese_numerals import value as chinese_value
from quern.jobs.text.numbers import english_value

Precision = Literal["day", "week", "month", "season", "year", "range"]


@dataclass(frozen=True)
class When:
    """A time that a text names.

    Attributes:
        start: First character.
        end: Character after the last.
        from_day: First day meant; null where the text leaves the year open and no default fills it.
        to_day: Last day meant.
        precision: The unit that the text speaks in; `range` where it names both ends.
        text: The characters themselves.
    """

    start: int
    end: int
    from_day: date | None
    to_day: date | None
    precision: Precision
    text: str


_MONTHS: Final = {
    name: n
    for n, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|"
        "october oct|november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}
_WEEKDAYS: Final = {
    name: n
    for n, names in enumerate(
        "monday mon|tuesday tues tue|wednesday wed|thursday thurs thur thu|friday fri|saturday sat|sunday sun".split(
            "|"
        )
    )
    for name in names.split()
}
# Meteorological seasons of the northern hemisphere by first month; each lasts three.
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_PARTS: Final = {
    "early": (0, 1),
    "mid": (1, 2),
    "late": (2, 3),
    "start": (0, 1),
    "beginning": (0, 1),
    "middle": (1, 2),
    "end": (2, 3),
}
_UNITS: Final = {"day": 1, "week": 7, "fortnight": 14}
_COUNTS: Final = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few|several)"
)

_MONTH: Final = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_WEEKDAY: Final = rf"(?:{'|'.join(sorted(_WEEKDAYS, key=len, reverse=True))})\b"
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:1[0-9]|20)\d\d"
_HAN: Final = "〇零一二三四五六七八九十"
_LEAD: Final = rf"(?:{_WEEKDAY},?\s+(?:the\s+)?)?"

# The points in time; the names of the groups say how each is read. Longer forms come first.
_POINT: Final = re.compile(
    rf"(?<![\d.])(?P<iso_y>{_YEAR})[-/.](?P<iso_m>0?[1-9]|1[0-2])[-/.](?P<iso_d>0?[1-9]|[12]\d|3[01])(?!\d)"
    r"|(?<!\d)(?P<cy>20\d\d)(?P<cm>0[1-9]|1[0-2])(?P<cd>0[1-9]|[12]\d|3[01])(?!\d)"
    rf"|\b{_LEAD}(?P<dmy_d>{_DAY})(?:\s+of)?[\s-]+(?P<dmy_m>{_MONTH})(?:,?[\s-]+(?P<dmy_y>{_YEAR})\b(?![,.]\d))?"
    rf"|\b{_LEAD}(?P<mdy_m>{_MONTH})\s+(?P<mdy_d>{_DAY})\b(?!\s*:|\.\d)"
    rf"(?:(?:,\s*|\s+(?:of\s+)?)(?P<mdy_y>{_YEAR})\b(?![,.]\d))?"
    rf"|\b(?:(?P<part>early|mid|late)[\s-]+(?:in\s+)?|(?:the\s+)?(?P<part_of>start|beginning|middle|end)\s+of\s+)?"
    rf"(?P<my_m>{_MONTH})(?:,?\s+(?:of\s+|in\s+)?|-)(?P<my_y>{_YEAR})\b(?![,.]\d)"
    r"|\b(?P<us_a>0?[1-9]|[12]\d|3[01])/(?P<us_b>0?[1-9]|[12]\d|3[01])/(?P<us_y>(?:19|20)\d\d)\b"
    rf"|\b(?:the\s+)?(?P<season>spring|summer|autumn|fall|winter)(?:\s+of|\s+in)?\s+(?P<season_y>{_YEAR})\b"
    rf"|\b(?:the\s+)?(?P<half>first|second)\s+half\s+of\s+(?P<half_y>{_YEAR})\b"
    rf"|\b(?:(?:the\s+)?(?P<quarter>first|second|third|fourth|last)\s+quarter\s+of\s+(?P<quarter_y>{_YEAR})"
    rf"|Q(?P<q>[1-4])\s+(?:of\s+)?(?P<q_y>{_YEAR}))\b"
    r"|\b(?:the\s+)?(?P<decade>1[0-9]\d0|20\d0)['’]?s\b"
    r"|\b(?P<near>today|tonight|yesterday|tomorrow|(?:the\s+)?day\s+(?:before\s+yesterday|after\s+tomorrow))\b"
    rf"|\b(?P<step>last|this|next|previous)\s+"
    rf"(?P<step_unit>week|month|year|night|spring|summer|autumn|winter|{_MONTH}|{_WEEKDAY})(?!\w)"
    rf"|\b(?P<ago_n>{_COUNTS})\s+(?P<ago_unit>day|week|fortnight|month|year)s?\s+ago\b"
    rf"|\bin\s+(?P<in_n>{_COUNTS})\s+(?P<in_unit>day|week|fortnight|month|year)s?(?:['’]s?\s+time)?\b(?!\s+of)"
    rf"|\b(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
    rf"|\b(?:(?P<part2>early|mid|late)[\s-]+(?:in\s+)?|(?:the\s+)?(?P<part2_of>start|beginning|middle|end)\s+of\s+)"
    rf"(?P<lone_p>{_MONTH}|{_YEAR}\b)(?![,.]?\d)"
    rf"|(?<![\w.,:/-])(?P<year>{_YEAR})(?![\w]|[,.:]\d|-\d)"
    rf"|(?P<zh_y>(?:1[0-9]|20)\d\d|[〇零一二三四五六七八九]{{4}})\s*年(?![代级])"
    rf"(?:的?\s*(?:(?P<zh_m>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s*月份?"
    rf"(?:\s*(?P<zh_d>[12]\d|3[01]|0?[1-9]|[{_HAN}]{{1,3}})\s*[日号號])?"
    r"|(?P<zh_season>[春夏秋冬])[季天]?|(?P<zh_half>[上下])半年|(?P<zh_edge>年?[初底末]|年中)))?"
    rf"|(?P<zhn>[前去今明后]年|[昨今明]天|[昨今明]日|[前后]天|[上本这下]个?(?:周|星期|月))"
    rf"(?:(?P<zhn_m>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月(?:(?P<zhn_d>[12]\d|3[01]|[1-9]|[{_HAN}]{{1,3}})[日号號])?)?"
    rf"|(?P<zhs_m>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月(?:(?P<zhs_d>[12]\d|3[01]|0?[1-9]|[{_HAN}]{{1,3}})[日号號])",
    re.IGNORECASE,
)
# A month without year or day is one only where a word or a range says so: may, march and mar are other words too.
_LONE_MONTH: Final = re.compile(
    r"\b(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )|(?<=\bfrom )|(?<=\bby )|(?<=\bof )|(?<=\bduring )|(?<=\bto )"
    r"|(?<=\band )|(?<=\bbetween )|(?<=\bbefore )|(?<=\bafter ))"
    rf"(?P<m>{_MONTH})(?!\s+(?:[a-z]+ed\b|\d))"
)
_JOIN: Final = re.compile(r"\s*(?:to|until|till|through|and|–|—|-|~|至|到)\s*(?:the\s+)?", re.IGNORECASE)
_DAYS_BEFORE: Final = re.compile(
    rf"(?:\bthe\s+)?\b({_DAY})(\s*(?:to|–|—|-|and|until|through)\s*(?:the\s+)?)$", re.IGNORECASE
)
_DAY_AFTER: Final = re.compile(
    rf"(?:\s*(?:to|–|—|-|through|until)\s*)({_DAY})\b(?!\s*{_MONTH})(?:,\s*({_YEAR}))?", re.IGNORECASE
)
_BEFORE_YEAR: Final = re.compile(
    r"\b(?:in|since|by|until|till|during|from|of|to|between|before|after|and|or|around|about|for|than|year|circa|c\."
    r"|early|late|mid|the|winter|summer|spring|autumn)[\s(-]*$",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(r"\s+(?!was\b|is\b|has\b|as\b|this\b|its\b|his\b)(?:[a-z]{3,}\s+)?[a-z]{2,}s\b")
_HINT: Final = re.compile(
    r"\d|[年月昨今明]|前天|后天|上周|下周|星期|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|"
    r"to(?:day|night|morrow)|yesterday|"
    r"last|this|next|previous|ago|in an?|in (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
    re.IGNORECASE,
)


def dates(text: str, default: date | None = None) -> list[When]:
    """The times that `text` names, in order and disjoint.

    A time without a year (`2 March`), a weekday and a time relative to another (`last month`) are read against
    `default`, usually the day of publication: the nearest such day, but of the past unless the text speaks of what is
    to come; for a weekday the last one. Years alone count from 1000 to 2099 where nothing is counted by them.
    """
    if _HINT.search(text) is None:
        return []
    points = [w for m in _POINT.finditer(text) if (w := _read(text, m, default)) is not None]
    points = _with_lone_months(text, points, default)
    if default is not None and _AHEAD.search(text) is None:
        points = [_of_the_past(p, default) for p in points]
    return _joined(text, points, default)


# Words of what is to come: without one of them, a text tells what was.
_AHEAD: Final = re.compile(
    r"\b(?:will|shall|would|next|due|plans?|planned|planning|(?:from|by|until|till)\s+\d|expected|scheduled"
    r"|deadline|to\s+be|going\s+to"
    r"|is\s+to|are\s+to)\b"
    r"|将|会|到期|截[止至]|预计|计划",
    re.IGNORECASE,
)
_SOON: Final = timedelta(31)
_WRITTEN_YEAR: Final = re.compile(
    r"(?:1\d|20)\d\d|[〇零一二三四五六七八九]{4}|^\s*(?:in|next|tomorrow)\b", re.IGNORECASE
)


def _of_the_past(point: When, default: date) -> When:
    """The time a year earlier where its year was left open and it lies more than a month ahead."""
    first, last = point.from_day, point.to_day
    if first is None or last is None or first <= default + _SOON or _WRITTEN_YEAR.search(point.text):
        return point
    if point.precision not in ("day", "month", "range") or (2, 29) in (
        (first.month, first.day),
        (last.month, last.day),
    ):
        return point
    return replace(point, from_day=first.replace(year=first.year - 1), to_day=last.replace(year=last.year - 1))


def _number(word: str) -> int:
    word = word.lower().strip()
    if word.isdecimal():
        return int(word)
    vague = {"a": 1, "an": 1, "a couple of": 2, "a few": 3, "several": 3}
    return vague.get(word) or english_value(word) or 1


def _han(numeral: str) -> int:
    """A year, month or day in either numerals: 2024, 二〇二四, 十二."""
    if numeral.isdecimal():
        return int(numeral)
    if len(numeral) == 4:
        return int("".join(str("零一二三四五六七八九".index(c.replace("〇", "零"))) for c in numeral))
    return chinese_value(numeral) or 0


def _month(name: str) -> int:
    return _MONTHS[name.lower().rstrip(".")]


def _day(text: str) -> int:
    return int(re.sub(r"\D", "", text))


@dataclass(frozen=True)
class _Found:
    """Where a point stands in its text."""

    start: int
    end: int
    text: str

    def day(self, year: int | None, month: int, day: int, default: date | None) -> When | None:
        """A day; without a year, of the year in which it is nearest to `default`."""
        if not 1 <= day <= 31 or not 1 <= month <= 12:
            return None
        if year is None:
            year = None if default is None else _nearest_year(month, day, default)
        if year is None:
            return When(self.start, self.end, None, None, "day", self.text)
        if day > monthrange(year, month)[1]:
            return None
        only = date(year, month, day)
        return When(self.start, self.end, only, only, "day", self.text)

    def months(self, year: int, month: int, count: int, precision: Precision) -> When:
        """`count` months from `month` on."""
        first = date(year, month, 1)
        return When(self.start, self.end, first, _after_months(first, count) - timedelta(1), precision, self.text)

    def days(self, first: date, count: int, precision: Precision) -> When:
        """`count` days from `first` on."""
        return When(self.start, self.end, first, first + timedelta(count - 1), precision, self.text)

    def unknown(self, precision: Precision) -> When:
        """A time that is only known beside another."""
        return When(self.start, self.end, None, None, precision, self.text)


def _nearest_year(month: int, day: int, default: date) -> int:
    def distance(year: int) -> int:
        return abs((date(year, month, min(day, monthrange(year, month)[1])) - default).days)

    return min((default.year, default.year - 1, default.year + 1), key=distance)


def _after_months(first: date, count: int) -> date:
    months = first.year * 12 + first.month - 1 + count
    year, month = divmod(months, 12)
    return date(year, month + 1, min(first.day, monthrange(year, month + 1)[1]))


def _thirds(when: When, part: str | None) -> When:
    """The first, middle or last third of a month or a year: `early 2024`, `the end of October 2024`."""
    if part is None or when.from_day is None or when.to_day is None:
        return when
    low, high = _PARTS[part.lower()]
    length = (when.to_day - when.from_day).days + 1
    first = when.from_day + timedelta(length * low // 3)
    return replace(when, from_day=first, to_day=when.from_day + timedelta(length * high // 3 - 1))


def _read(text: str, m: re.Match[str], default: date | None) -> When | None:
    """The time of one match, by the group that took part in it."""
    g = m.groupdict()
    for key, reader in _READERS.items():
        if g[key] is not None:
            return reader(text, g, _Found(m.start(), m.end(), m[0]), default)
    return None


_Groups = Mapping[str, str | None]


def _int(value: str | None) -> int | None:
    return None if value is None else int(value)


def _at(g: _Groups, key: str) -> str:
    return g[key] or ""


def _iso(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    return at.day(int(_at(g, "iso_y")), int(_at(g, "iso_m")), int(_at(g, "iso_d")), default)


def _compact(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    return at.day(int(_at(g, "cy")), int(_at(g, "cm")), int(_at(g, "cd")), default)


def _day_first(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    return at.day(_int(g["dmy_y"]), _month(_at(g, "dmy_m")), _day(_at(g, "dmy_d")), default)


def _month_first(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    return at.day(_int(g["mdy_y"]), _month(_at(g, "mdy_m")), _day(_at(g, "mdy_d")), default)


def _month_of_year(_: str, g: _Groups, at: _Found, __: date | None) -> When:
    return _thirds(at.months(int(_at(g, "my_y")), _month(_at(g, "my_m")), 1, "month"), g["part"] or g["part_of"])


def _slashes(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    """Month first, as in the United States, unless that is no month."""
    one, other = int(_at(g, "us_a")), int(_at(g, "us_b"))
    month, day = (one, other) if one <= 12 else (other, one)
    return at.day(int(_at(g, "us_y")), month, day, default)


def _season(_: str, g: _Groups, at: _Found, __: date | None) -> When:
    return at.months(int(_at(g, "season_y")), _SEASONS[_at(g, "season").lower()], 3, "season")


def _half(_: str, g: _Groups, at: _Found, __: date | None) -> When:
    return at.months(int(_at(g, "half_y")), 1 if _at(g, "half").lower() == "first" else 7, 6, "season")


def _quarter(_: str, g: _Groups, at: _Found, __: date | None) -> When:
    n = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": 3}[_at(g, "quarter").lower()]
    return at.months(int(_at(g, "quarter_y")), 1 + 3 * n, 3, "season")


def _q(_: str, g: _Groups, at: _Found, __: date | None) -> When:
    return at.months(int(_at(g, "q_y")), 3 * int(_at(g, "q")) - 2, 3, "season")


def _decade(_: str, g: _Groups, at: _Found, __: date | None) -> When:
    return at.months(int(_at(g, "decade")), 1, 120, "year")


def _near(_: str, g: _Groups, at: _Found, default: date | None) -> When:
    word = " ".join(_at(g, "near").lower().split())
    steps = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
    step = steps.get(word, -2 if "before" in word else 2)
    return at.unknown("day") if default is None else at.days(default + timedelta(step), 1, "day")


def _step(_: str, g: _Groups, at: _Found, default: date | None) -> When:
    unit = _at(g, "step_unit").lower().rstrip(".")
    step = {"last": -1, "previous": -1, "this": 0, "next": 1}[_at(g, "step").lower()]
    if unit in _WEEKDAYS or unit == "night":
        if default is None:
            return at.unknown("day")
        return at.days(
            _weekday(_WEEKDAYS[unit], step, default) if unit != "night" else default + timedelta(step), 1, "day"
        )
    if default is None:
        return at.unknown("year" if unit == "year" else "week" if unit == "week" else "month")
    return _stepped(unit, step, at, default)


def _weekday(wanted: int, step: int, default: date) -> date:
    """`last` and `next` weekday are of the week before and after, `this` of the same week; weeks begin on Monday."""
    return default - timedelta(default.weekday()) + timedelta(7 * step + wanted)


def _stepped(unit: str, step: int, at: _Found, default: date) -> When:
    if unit == "week":
        return at.days(default - timedelta(default.weekday()) + timedelta(7 * step), 7, "week")
    if unit == "month":
        first = _after_months(default.replace(day=1), step)
        return at.months(first.year, first.month, 1, "month")
    if unit == "year":
        return at.months(default.year + step, 1, 12, "year")
    month = _SEASONS.get(unit) or _MONTHS[unit]
    year = default.year
    if step < 0 and date(year, month, 1) >= default.replace(day=1):
        year -= 1
    if step > 0 and date(year, month, 1) <= default:
        year += 1
    return at.months(year, month, 3 if unit in _SEASONS else 1, "season" if unit in _SEASONS else "month")


def _moved(count: int, unit: str, at: _Found, default: date) -> When:
    if unit in _UNITS:
        return at.days(default + timedelta(count * _UNITS[unit]), 1, "day")
    return at.days(_after_months(default, count * (12 if unit == "year" else 1)), 1, "day")


def _ago(_: str, g: _Groups, at: _Found, default: date | None) -> When:
    if default is None:
        return at.unknown("day")
    return _moved(-_number(_at(g, "ago_n")), _at(g, "ago_unit").lower(), at, default)


def _ahead(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    """`in three weeks` is a time only beside a day to count from; else it is a duration."""
    return None if default is None else _moved(_number(_at(g, "in_n")), _at(g, "in_unit").lower(), at, default)


def _lone_weekday(_: str, g: _Groups, at: _Found, default: date | None) -> When:
    """News tells what was: the last such day, the day of publication among them."""
    if default is None:
        return at.unknown("day")
    wanted = _WEEKDAYS[_at(g, "weekday").lower()]
    return at.days(default - timedelta((default.weekday() - wanted) % 7), 1, "day")


def _lone_part(_: str, g: _Groups, at: _Found, default: date | None) -> When:
    name, part = _at(g, "lone_p"), g["part2"] or g["part2_of"]
    if name.isdecimal():
        return _thirds(at.months(int(name), 1, 12, "year"), part)
    if default is None:
        return at.unknown("month")
    return _thirds(at.months(_nearest_year(_month(name), 15, default), _month(name), 1, "month"), part)


def _year(text: str, g: _Groups, at: _Found, _: date | None) -> When | None:
    year = int(_at(g, "year"))
    if not _BEFORE_YEAR.search(text, max(0, at.start - 12), at.start) and (
        year < 1800 or _COUNTED.match(text, at.end) is not None
    ):
        return None
    if year < 1800 and _COUNTED.match(text, at.end) is not None:
        return None
    return at.months(year, 1, 12, "year")


def _chinese(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    year = _han(_at(g, "zh_y"))
    if not 1000 <= year < 2100:
        return None
    if g["zh_d"]:
        return at.day(year, _han(_at(g, "zh_m")), _han(_at(g, "zh_d")), default)
    if g["zh_m"]:
        return at.months(year, _han(_at(g, "zh_m")), 1, "month")
    if g["zh_season"]:
        return at.months(year, _SEASONS[_at(g, "zh_season")], 3, "season")
    if g["zh_half"]:
        return at.months(year, 1 if g["zh_half"] == "上" else 7, 6, "season")
    edges = {"初": "early", "底": "late", "末": "late", "中": "mid"}
    return _thirds(at.months(year, 1, 12, "year"), edges[_at(g, "zh_edge")[-1]] if g["zh_edge"] else None)


def _chinese_near(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    word = _at(g, "zhn")
    step = {"前": -2, "去": -1, "昨": -1, "上": -1, "今": 0, "本": 0, "这": 0, "明": 1, "下": 1, "后": 2}[word[0]]
    precision: Precision = "year" if word[-1] == "年" else "month" if word[-1] == "月" else "week"
    if word[-1] in "天日":
        return at.unknown("day") if default is None else at.days(default + timedelta(step), 1, "day")
    if default is None:
        return at.unknown("day" if g["zhn_d"] else precision)
    if word[-1] != "年":
        return _stepped(precision, step, at, default)
    if g["zhn_d"]:
        return at.day(default.year + step, _han(_at(g, "zhn_m")), _han(_at(g, "zhn_d")), default)
    if g["zhn_m"]:
        return at.months(default.year + step, _han(_at(g, "zhn_m")), 1, "month")
    return at.months(default.year + step, 1, 12, "year")


def _chinese_day(_: str, g: _Groups, at: _Found, default: date | None) -> When | None:
    return at.day(None, _han(_at(g, "zhs_m")), _han(_at(g, "zhs_d")), default)


_READERS: Final[Mapping[str, Callable[[str, _Groups, _Found, date | None], When | None]]] = {
    "iso_y": _iso,
    "cy": _compact,
    "dmy_d": _day_first,
    "mdy_m": _month_first,
    "my_m": _month_of_year,
    "us_a": _slashes,
    "season": _season,
    "half": _half,
    "quarter": _quarter,
    "q": _q,
    "decade": _decade,
    "near": _near,
    "step": _step,
    "ago_n": _ago,
    "in_n": _ahead,
    "weekday": _lone_weekday,
    "lone_p": _lone_part,
    "year": _year,
    "zh_y": _chinese,
    "zhn": _chinese_near,
    "zhs_m": _chinese_day,
}


def _with_lone_months(text: str, points: list[When], default: date | None) -> list[When]:
    """`points` and the months that stand alone between them."""
    lone = []
    for m in _LONE_MONTH.finditer(text):
        if any(p.start < m.end() and m.start() < p.end for p in points):
            continue
        at, month = _Found(m.start(), m.end(), m[0]), _month(m["m"])
        lone.append(
            at.unknown("month") if default is None else at.months(_nearest_year(month, 15, default), month, 1, "month")
        )
    return sorted([*points, *lone], key=lambda p: p.start) if lone else points


def _joined(text: str, points: list[When], default: date | None) -> list[When]:
    """Points as they are, and pairs that a range joins as one."""
    found: list[When] = []
    for point in points:
        point = _with_second_day(text, _with_first_day(text, point))
        if found and (whole := _range(text, found[-1], point)) is not None:
            found[-1] = whole
        else:
            found.append(point)
    return found


def _with_first_day(text: str, point: When) -> When:
    """`22 to 24 August 2025`: the day before the mark belongs to the point behind it."""
    if point.precision != "day" or (before := _DAYS_BEFORE.search(text, max(0, point.start - 20), point.start)) is None:
        return point
    if not text[point.start].isdecimal():
        return point
    both = before[2].strip().lower().split()[0] == "and"
    if both and not re.search(r"between\s+(?:the\s+)?$", text[: before.start()][-14:], re.IGNORECASE):
        return point
    first = _day(before[1])
    new = replace(point, start=before.start(), text=text[before.start() : point.end])
    if point.from_day is None:
        return replace(new, precision="range")
    if first >= point.from_day.day:
        return point
    return replace(new, from_day=point.from_day.replace(day=first), precision="range")


def _with_second_day(text: str, point: When) -> When:
    """`May 22 to 24, 2025`: the day behind the mark belongs to the point before it."""
    if point.precision != "day" or text[point.start].isdecimal():
        return point
    after = _DAY_AFTER.match(text, point.end)
    if after is None or (point.from_day is None and after[2] is None):
        return point
    last = _day(after[1])
    from_day = point.from_day
    if from_day is None or last <= from_day.day or last > monthrange(from_day.year, from_day.month)[1]:
        return point
    return replace(
        point,
        end=after.end(),
        to_day=from_day.replace(day=last),
        precision="range",
        text=text[point.start : after.end()],
    )


def _range(text: str, one: When, other: When) -> When | None:
    """One time from the start of `one` to the end of `other` where the words between say so."""
    between = _JOIN.fullmatch(text, one.end, other.start)
    if between is None or one.precision == "range" or other.precision == "range":
        return None
    if "and" in between[0].lower() and not re.search(r"between\s+(?:the\s+)?$", text[: one.start][-14:], re.IGNORECASE):
        return None
    first = one.from_day
    if first is None or other.from_day is None or other.to_day is None:
        return None
    if not any(c.isdecimal() and len(c) == 4 for c in re.findall(r"\d+", one.text)) and first > other.from_day:
        first = first.replace(year=other.from_day.year) if (first.month, first.day) != (2, 29) else first
    if first > other.to_day:
        return None
    return When(one.start, other.end, first, other.to_day, "range", text[one.start : other.end])
