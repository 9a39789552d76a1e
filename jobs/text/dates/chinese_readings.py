"""What a Chinese form means: the groups of `chinese_forms` as days."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from quern.jobs.text.chinese_numerals import value as numeral_value
from quern.jobs.text.dates import readings
from quern.jobs.text.dates.chinese_words import (
    DAYS,
    ERAS,
    HOLIDAYS,
    LUNAR_HOLIDAYS,
    PARTS,
    SEASONS,
    STEPS,
    UNITS,
    WEEKDAYS,
)
from quern.jobs.text.dates.points import Setting
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.when import Part


def is_lunar(m: re.Match[str]) -> bool:
    """Whether the words themselves are those of the Chinese calendar: 初一, 腊月, 正月."""
    month, day = m["m"] or m["rm"] or "", m["d"] or m["rd"] or ""
    return month in ("正", "腊", "冬") or day[:1] in ("初", "廿") or (m["era"] not in (None, *_SOLAR) and bool(month))


_SOLAR: Final = ("民国", "民國", "中华民国", "中華民國", "明治", "大正", "昭和", "平成", "令和")


def number(numeral: str | None) -> int:
    """A number in digits or in Chinese numerals; 元 is the first, 正 the first month."""
    if not numeral:
        return 0
    if numeral.isdecimal():
        return int(numeral)
    numeral = numeral.replace("初", "").replace("廿", "二十")
    special = {"元": 1, "正": 1, "冬": 11, "腊": 12, "半": 0, "几": 3}
    if numeral in special:
        return special[numeral]
    if len(numeral) > 1 and all(c in "零〇一二三四五六七八九" for c in numeral):
        return int("".join(str("零一二三四五六七八九".index(c.replace("〇", "零"))) for c in numeral))
    return numeral_value(numeral) or 0


def read(m: re.Match[str], setting: Setting, anchor: date | None) -> Reading | None:
    """The meaning of one match, by the group that took part in it."""
    for groups, reader in _READERS:
        if any(m[group] for group in groups):
            return reader(m, setting, anchor)
    return _without_year(m, setting)


def _iso(digits: str) -> Reading | None:
    year, month, day = (int(part) for part in digits.split("-"))
    return readings.day_of(year if year > 99 else 2000 + year, month, day)


def _long(m: re.Match[str], now: date | None) -> Reading | None:
    """Decades and centuries: 20世纪80年代, 九十年代, 21世纪."""
    if m["cent2"]:
        return readings.century_of(_century(m["cent2"], now))
    years = number(m["cdec"] or m["dec"])
    century = _century(m["cent"], now) - 1 if m["cent"] else 19
    if years >= 1000:
        century, years = divmod(years, 100)
    if not 0 <= years <= 90 or years % 10 or not 0 < century < 30:
        return None
    found = readings.decade_of(100 * century + years)
    part = m["cpart"] or m["dpart"]
    return readings.part_of(found, PARTS[part[0]]) if part else found


def _century(word: str, now: date | None) -> int:
    """Which century is meant: 21世纪, 上世纪, 本世纪."""
    if word[0] not in "上本":
        return number(word)
    return (now.year if now is not None else 2000) // 100 + (word == "本")


def _with_year(m: re.Match[str], setting: Setting, anchor: date | None) -> Reading | None:
    """A time of a year that the text names or tells from its own."""
    if m["era"]:
        year = ERAS[m["era"]] + (number(m["ey"]) or 1) - 1
    elif m["y"]:
        year = number(m["y"])
    elif m["y2"]:
        year = number(m["y2"])
        year += 1900 if year >= 50 else 2000
    else:
        here = anchor if m["yr"][0] in "当當同次翌" else setting.reference
        if here is None:
            return replace(_unknown(m), flaw="unanchored" if m["yr"][0] in "当當同次翌" else "")
        year = here.year + STEPS[m["yr"][0]]
    if not 1 <= year <= 9999 or (m["y"] and not 100 <= year < 2200):
        return None
    return _in_year(m, year, "")


def _unknown(m: re.Match[str]) -> Reading:
    precision = "day" if m["d"] else "month" if m["m"] else "year"
    return Reading(None, None, precision, "XXXX", unit=precision)  # type: ignore[arg-type]


def _in_year(m: re.Match[str], year: int, prefix: str) -> Reading | None:
    """What follows on a year, in that year; the year itself where nothing does."""

    def group(name: str) -> str | None:
        return m[prefix + name]

    if group("m"):
        return _month(m, year, prefix)
    if group("q") or group("q2"):
        return readings.quarter_of(year, number(group("q") or group("q2")))
    if half := group("half"):
        return readings.half_of(year, 1 if half in "上前" else 2)
    if season := group("s"):
        return readings.season_of(year, SEASONS[season[0]])
    if edge := group("yedge"):
        return readings.part_of(readings.year_of(year), PARTS[edge.replace("年", "")[0]])
    if week := group("yweek"):
        return readings.iso_week(year, number(week)) if number(week) else None
    if month := group("ymonth"):
        return readings.month_of(year, number(month)) if 1 <= number(month) <= 12 else None
    if unit := group("firstu"):
        return _edge_units(number(group("firstn")), unit, year)
    if unit := group("lastu"):
        return _edge_units(-(number(group("lastn")) or 1), unit, year)
    if holiday := group("yhol"):
        return _holiday(holiday, year)
    return readings.year_of(year)


def _edge_units(count: int, word: str, year: int) -> Reading:
    """So many units from the start of a year, or up to its end where the count is negative."""
    unit = _unit_of(word)
    first, end = date(year, 1, 1), date(year, 12, 31)
    if unit == "week":  # Whole weeks, as ISO 8601 counts them.
        first, end = readings.monday(date(year, 1, 4)), readings.monday(date(year, 12, 28)) + timedelta(6)
    end += timedelta(1)
    if count > 0:
        end = readings.moved(first, count, unit)
    else:
        first = readings.moved(end, count, unit)
    length = f"P{abs(count)}{unit[0].upper()}"
    return readings.days(first, end - timedelta(1), "range", readings.interval(first, end, length))


def _holiday(name: str, year: int) -> Reading | None:
    if name in LUNAR_HOLIDAYS:
        return Reading(None, None, "day", f"{year:04}-XX-XX", flaw="lunar", unit="day")
    return readings.day_of(year, *HOLIDAYS[name])


def _month(m: re.Match[str], year: int, prefix: str) -> Reading | None:
    month = number(m[prefix + "m"])
    if not 1 <= month <= 12:
        return None
    if day := m[prefix + "d"]:
        return readings.day_of(year, month, number(day))
    found = readings.month_of(year, month)
    if part := m[prefix + "mpart"]:
        return readings.part_of(found, PARTS[part[0]])
    if "星期" in m[0] or "周" in m[0] or "礼拜" in m[0]:
        return _nth(m, found, prefix)
    return found


def _nth(m: re.Match[str], month: Reading, prefix: str) -> Reading | None:
    """四月的最后一个星期一, 五月第二周."""
    if month.first is None or month.last is None:
        return None
    n = number(m[prefix + "nth"])
    if weekday := m[prefix + "nthday"]:
        wanted = WEEKDAYS[weekday]
        if not n:
            return readings.a_day(month.last - timedelta((month.last.weekday() - wanted) % 7))
        return readings.a_day(month.first + timedelta((wanted - month.first.weekday()) % 7 + 7 * (n - 1)))
    if not n:
        return readings.week_of(month.last - timedelta((month.last.weekday() - 3) % 7))
    return readings.week_of(month.first + timedelta((3 - month.first.weekday()) % 7 + 7 * (n - 1)))


def _without_year(m: re.Match[str], setting: Setting) -> Reading | None:
    """A time whose year is open: 3月5日, 第一季度, 上半年, 国庆节."""
    now, told = setting.reference, setting.told
    if (edge := m["ryedge"]) and not edge.startswith("年"):
        return None
    if m["rq"] and "季度" not in m[0]:
        return None
    if m["rm"]:
        return _open_month(m, setting)
    if season := m["rs"]:
        return readings.open_season(SEASONS[season[0]], now, told=told) if len(season) > 1 else None
    if m["rlastu"] or m["rfirstu"] or m["ryweek"] or m["rymonth"]:
        return None
    if (holiday := m["ryhol"]) and now is not None and holiday in HOLIDAYS:
        return readings.open_day(*HOLIDAYS[holiday], now, told=told)
    if now is None:
        return Reading(None, None, "season", "XXXX", unit="season")
    return _in_year(m, now.year, "r")


def _open_month(m: re.Match[str], setting: Setting) -> Reading | None:
    month = number(m["rm"])
    if m["rm"] in ("元", "冬") and not m["rd"]:
        return None
    if m["rd"]:
        return readings.open_day(month, number(m["rd"]), setting.reference, told=setting.told)
    found = readings.open_month(month, setting.reference, told=setting.told)
    if found.first is None:
        return found
    if m["rmpart"]:
        return readings.part_of(found, PARTS[m["rmpart"][0]])
    if "星期" in m[0] or "周" in m[0] or "礼拜" in m[0]:
        return _nth(m, found, "r")
    return found


def _near(word: str, now: date | None, anchor: date | None) -> Reading:
    if word[0] in "当當次翌":
        if anchor is None:
            return Reading(None, None, "day", "XXXX-XX-XX", flaw="unanchored", unit="near")
        now = anchor
    if now is None:
        return Reading(None, None, "day", "XXXX-XX-XX", unit="near")
    step = DAYS.get(word, STEPS.get(word[0], 0))
    return replace(readings.a_day(now + timedelta(step)), unit="near")


def _week(m: re.Match[str], now: date | None) -> Reading | None:
    """上周, 下周五, 本周末."""
    if now is None:
        return Reading(None, None, "day" if m["wkd"] else "week", "XXXX-WXX", unit="week")
    day = now + timedelta(7 * STEPS[m["wk"]])
    if not m["wkd"]:
        return readings.week_of(day)
    return readings.weekend_of(day) if m["wkd"] == "末" else readings.weekday_of(day, WEEKDAYS[m["wkd"]])


def _weekend(now: date | None) -> Reading:
    if now is None:
        return Reading(None, None, "week", "XXXX-WXX-WE", unit="weekend")
    return readings.weekend_of(now)


def _weekday(weekday: int, setting: Setting) -> Reading:
    """News tells what was: the last such day, the day of publication among them; else the next."""
    timex, now = f"XXXX-WXX-{weekday + 1}", setting.reference
    if now is None:
        return Reading(None, None, "day", timex, unit="weekday")
    day = now - timedelta((now.weekday() - weekday) % 7)
    if not setting.told and day < now:
        day += timedelta(7)
    return Reading(day, day, "day", timex, unit="weekday")


def _step(m: re.Match[str], now: date | None) -> Reading | None:
    """上个月, 本季度, 上半月, 月底."""
    if now is None:
        return Reading(None, None, "month", "XXXX-XX", unit="month")
    if m["edge"]:
        part: Part = PARTS[m["edge"][1]]
        unit = readings.month_of(now.year, now.month) if m["edge"][0] == "月" else readings.year_of(now.year)
        return readings.part_of(unit, part)
    if m["mhalf"]:
        first, middle = now.replace(day=1), now.replace(day=15)
        last = readings.month_of(now.year, now.month).last or middle
        if m["mhalf"] == "上":
            return readings.days(first, middle, "range", readings.interval(first, middle + timedelta(1), "P15D"))
        first = middle + timedelta(1)
        return readings.days(first, last, "range", readings.interval(first, last + timedelta(1), f"P{last.day - 15}D"))
    if m["hstep"]:
        half = now.year * 2 + (now.month > 6) + STEPS[m["hstep"]]
        return readings.half_of(half // 2, half % 2 + 1)
    if m["qstep"]:
        day = readings.moved(now.replace(day=1), STEPS[m["qstep"]], "quarter")
        return readings.unit_around("quarter", day)
    first = readings.after_months(now.replace(day=1), STEPS[m["mstep"]])
    if m["msd"]:
        return readings.day_of(first.year, first.month, number(m["msd"]))
    found = readings.month_of(first.year, first.month)
    return readings.part_of(found, PARTS[m["mspart"][0]]) if m["mspart"] else found


def _unit_of(word: str) -> str:
    return UNITS.get(word.removeprefix("个"), "")


def _past(m: re.Match[str], now: date | None) -> Reading | None:
    """过去三年, 未来5天, 前1周."""
    count, unit, word = number(m["pastn"]), _unit_of(m["pastu"]), m["pastw"].removesuffix("的")
    if not 0 < count < 5000 or unit in ("century", "decade") or (len(word) == 1 and count > 99):
        return None  # 前161年 is before our era.
    if unit == "month" and "个" not in m["pastu"] and len(word) == 1:
        return None
    if unit == "moment":
        return readings.moment(now)
    if now is None:
        return Reading(None, None, "range", "XXXX", unit="range")
    length = f"P{count}{unit[0].upper()}"
    if word in ("过去", "過去", "最近", "近", "前", "上"):
        first, end = readings.moved(now, -count, unit), now
    else:
        first = now + timedelta(1)
        end = readings.moved(now, count, unit) + timedelta(1)
    return readings.days(first, end - timedelta(1), "range", readings.interval(first, end, length))


def _ago(m: re.Match[str], now: date | None) -> Reading | None:
    """三天前, 两年后."""
    count, unit = number(m["agon"]), _unit_of(m["agou"])
    if m["agon"] == "半":
        count, unit = (6, "month") if unit == "year" else (15, "day") if unit == "month" else (0, unit)
    if not 0 < count < 5000 or unit in ("century", "decade") or (unit == "month" and "个" not in m["agou"]):
        return None
    if unit == "moment" or now is None:
        return readings.moment(now)
    return readings.a_day(readings.moved(now, -count if m["ago"] == "前" else count, unit))


_Reader = Callable[[re.Match[str], Setting, date | None], Reading | None]
_READERS: Final[tuple[tuple[tuple[str, ...], _Reader], ...]] = (
    (("cent", "cent2", "dec"), lambda m, setting, _: _long(m, setting.reference)),
    (("iso",), lambda m, _, __: _iso(m["iso"])),
    (("era", "y", "y2", "yr"), _with_year),
    (("near",), lambda m, setting, anchor: _near(m["near"], setting.reference, anchor)),
    (("wk",), lambda m, setting, _: _week(m, setting.reference)),
    (("wdd",), lambda m, setting, _: _weekday(WEEKDAYS[m["wdd"]], setting)),
    (("mstep", "qstep", "hstep", "mhalf", "edge"), lambda m, setting, _: _step(m, setting.reference)),
    (("weekend",), lambda _, setting, __: _weekend(setting.reference)),
    (("pastn",), lambda m, setting, _: _past(m, setting.reference)),
    (("agon",), lambda m, setting, _: _ago(m, setting.reference)),
    (("hn",), lambda _, setting, __: readings.moment(setting.reference)),
    (
        ("day", "day2", "day3"),
        lambda m, setting, _: readings.lone_day(
            number(m["day"] or m["day2"] or m["day3"]), setting.reference, told=setting.told
        ),
    ),
)
