"""The words of time in English, how times are written with them, and what each form means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Final, TypeVar

from dateutil.easter import easter

from quern.jobs.text.dates import calendar
from quern.jobs.text.dates.calendar import Part, Reading, Setting, a_day, nth_weekday
from quern.jobs.text.numbers import ORDINALS, english_value
from quern.schemas.words.patterns import lazy_pattern

_Rule = TypeVar("_Rule", bound=Callable[..., object])

MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS: Final = "mon tue wed thu fri sat sun".split()
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
DECADES: Final = "twenties thirties forties fifties sixties seventies eighties nineties".split()
STEPS: Final = {
    **dict.fromkeys(("last", "past", "previous", "preceding", "prior"), -1),
    **dict.fromkeys(("this", "current", "that", "same"), 0),
    **dict.fromkeys(("next", "coming", "upcoming", "following"), 1),
}
# Steps that count from the time of which the text spoke last.
FROM_ANCHOR: Final = ("that", "same", "previous", "preceding", "following")
VAGUE: Final = {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 3}
TODAY: Final = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
PARTS: Final[dict[str, Part]] = {
    **dict.fromkeys(("early", "start", "beginning", "dawn"), "start"),
    **dict.fromkeys(("mid", "middle"), "mid"),
    **dict.fromkeys(("late", "end", "close"), "end"),
}
# Units from the exact to the vague: `that year` is not told by a time that is vaguer.
FINENESS: Final = ("day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade", "century")

# ---- the words of time, as pieces of expressions

MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
WEEKDAY: Final = r"(?P<weekday>(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?)\b\.?"
SEASON: Final = rf"(?P<season>{'|'.join(SEASONS)})\b"
ORDINAL: Final = rf"(?:(?:twenty|thirty)[- ](?:{'|'.join(ORDINALS[:9])})|{'|'.join(ORDINALS)}|thirtieth)\b"
NTH: Final = rf"(?P<n>last\b|\d\d?(?:st|nd|rd|th)\b|{ORDINAL})"
FIGURES: Final = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\d:%]|[.,]\d|\s?[ap]\.?m\b)"
DAY: Final = rf"(?P<day>{FIGURES}|{ORDINAL})"
_ONES: Final = "one|two|three|four|five|six|seven|eight|nine"
_TWO_DIGITS: Final = (
    rf"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:{_ONES}))?"
    r"|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
YEAR: Final = (
    r"(?P<year>(?:1\d|2[01])\d\d(?![\d\u2e80-\u9fff]|[.,]\d)"
    rf"|(?:nineteen|twenty) {_TWO_DIGITS}\b|two thousand(?: and)?(?: (?:{_TWO_DIGITS}|{_ONES})\b)?)"
)
COUNT: Final = (
    rf"(?P<n>\d{{1,4}}|{_TWO_DIGITS}|{_ONES}"
    r"|(?:an? )?(?:few|couple(?: of)?)|several|an?)\b"
)
UNIT: Final = (
    r"(?:(?P<business>business|working|work|trading) )?"
    r"(?P<unit>days?|weeks?|weekends?|fortnights?|months?|quarters?|years?|yrs?|decades?|century|centuries)\b"
)
STEP: Final = rf"(?P<step>{'|'.join(STEPS)})\b"
LEAD: Final = rf"(?:{WEEKDAY},? (?:the )?)?"
TO: Final = r"(?:\s?[-–—~]{1,2}\s?|\s(?:to|until|till|through)\s)"
OF_YEAR: Final = rf"(?:[-/,]?\s?(?:of |in )?{YEAR}|,? ?['’](?P<short>\d\d)\b)"


def nameless(expression: str) -> str:
    """An expression without the names of its groups, to stand in one beside another."""
    return re.sub(r"\?P<\w+>", "?:", expression)


def month_number(m: re.Match[str]) -> int:
    """The month that a match names, 1 to 12."""
    return 1 + MONTHS.index(m["month"][:3].lower())


def weekday_number(m: re.Match[str]) -> int:
    """The weekday that a match names, 0 for Monday."""
    return WEEKDAYS.index(m["weekday"][:3].lower())


def unit_name(word: str) -> str:
    """A unit in the singular, in full."""
    singular = {"yr": "year", "centurie": "century"}
    plain = word.lower().rstrip("s")
    return singular.get(plain, plain)


def number(words: str) -> int:
    """The number that figures, a number in words or an ordinal write; -1 for the last."""
    plain = words.lower().removesuffix(" of")
    if plain[0].isdigit():
        return int(re.sub(r"\D", "", plain))
    if plain == "last":
        return -1
    last = plain.replace("-", " ").split()[-1]
    if last in VAGUE:
        return VAGUE[last]
    if last in ORDINALS:
        return 1 + ORDINALS.index(last) + {"twenty": 20, "thirty": 30}.get(plain[:6], 0) * (last != plain)
    return 30 if last == "thirtieth" else english_value(plain) or 0


def year_number(words: str) -> int:
    """A year in figures or in words, of which the first may be its hundreds: `nineteen ninety six`."""
    if words.isdigit() or words.lower().startswith("two thousand"):
        return int(words) if words.isdigit() else english_value(words) or 0
    high, _, low = words.partition(" ")
    return 100 * (english_value(high) or 0) + (english_value(low) or 0)


def compiled(rules: dict[str, _Rule]) -> tuple[tuple[re.Pattern[str], _Rule], ...]:
    """Rules by their expressions, each compiled when it is first tried."""
    return tuple((lazy_pattern(expression, re.IGNORECASE), rule) for expression, rule in rules.items())


# ---- holidays

_FIXED: Final = {
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25), "xmas": (12, 25),
    "boxing day": (12, 26), "new years eve": (12, 31), "new years day": (1, 1), "valentines day": (2, 14),
    "womens day": (3, 8), "st patricks day": (3, 17), "earth day": (4, 22), "may day": (5, 1), "juneteenth": (6, 19),
    "canada day": (7, 1), "independence day": (7, 4), "bastille day": (7, 14), "halloween": (10, 31),
    "international workers day": (5, 1), "labour day": (5, 1), "all saints day": (11, 1),
    "armistice day": (11, 11), "veterans day": (11, 11),
}  # fmt: skip
# Days from Easter Sunday.
_BY_EASTER: Final = {"good friday": -2, "easter monday": 1, "easter sunday": 0, "ash wednesday": -46, "easter": 0}
# Month, weekday, which one, and days from it.
_NTH: Final = {
    "thanksgiving day": (11, 3, 4, 0), "thanksgiving": (11, 3, 4, 0), "black friday": (11, 3, 4, 1),
    "labor day": (9, 0, 1, 0), "memorial day": (5, 0, -1, 0), "mothers day": (5, 6, 2, 0), "fathers day": (6, 6, 3, 0),
    "martin luther king day": (1, 0, 3, 0), "presidents day": (2, 0, 3, 0), "columbus day": (10, 0, 2, 0),
}  # fmt: skip
# An expression for each name, the longer first; apostrophes may stand before or behind the s.
HOLIDAYS: Final = "|".join(
    re.sub(r"s (?=day|eve)", "['’]?s?['’]? ", name).replace("st ", r"st\.? ")
    for name in sorted((*_FIXED, *_BY_EASTER, *_NTH), key=len, reverse=True)
)


def holiday(words: str, year: int) -> date:
    """The day in a year of the holiday that an expression of `HOLIDAYS` has matched."""
    name = re.sub(r"['’.]", "", " ".join(words.lower().split()))
    if name in _FIXED:
        return date(year, *_FIXED[name])
    if name in _BY_EASTER:
        sunday: date = easter(year)
        return sunday + timedelta(_BY_EASTER[name])
    month, weekday, n, beside = _NTH[name]
    first, end = date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
    return nth_weekday(first, end - timedelta(1), weekday, n) + timedelta(beside)


_PREPOSITION: Final = (
    "in|by|for|from|to|until|till|since|before|after|between|during|around|about|over|through|throughout|than"
)
_BEFORE_YEAR: Final = lazy_pattern(
    rf"(?:[-–(]|\b(?:{_PREPOSITION}|of|and|or|early|late|mid|the|year|circa|c\.|summer|spring|autumn|winter))\s*$",
    re.IGNORECASE,
)
_BEFORE_DAY: Final = lazy_pattern(rf"\b(?:{_PREPOSITION}|on|at|last|next|this)\s+$", re.IGNORECASE)
_BEFORE_MONTH: Final = lazy_pattern(
    rf"(?:^|-|\b(?:{_PREPOSITION}|of|and|early|late|mid|last|next|this)(?:\s+the)?)\s*$", re.IGNORECASE
)
_BEFORE_SEASON: Final = lazy_pattern(
    r"\b(?:(?:in|since|until|by)\s+(?:the\s+)?|(?:over|through|during|of)\s+the\s+|the\s+whole\s+)$", re.IGNORECASE
)
_SMALL: Final = ("may", "march", "mar", "dec", "jan")  # Months that are other words too.
# How a year is told from a number: what it counts, measures or numbers.
_COUNTED: Final = lazy_pattern(
    r"\s*(?:%|°|(?:per|percent|km|kg|mph|feet|miles?|met(?:re|er)s?|dollars?|euros?|hours?|rpm|[mb]illion|people|men"
    r"|women|words|hrs?|GMT|UTC)\b| \d)|-(?!present\b|now\b|today\b)[A-Za-z]"
)
_PLURAL: Final = lazy_pattern(r"\s+(?!(?:was|is|has|as|this|its|his)\b)(?:[a-z]{3,}\s+)?[a-z]{2,}s\b")
_NUMBERED: Final = lazy_pattern(
    r"\b(?:flight|room|page|chapter|section|article|act|volume|version|model|building|unit|highway|route|bus|line|office"
    r"|gate|no\.?|number|order|case|form|iso|rfc|windows)\s+$|\d $",
    re.IGNORECASE,
)
_AHEAD: Final = lazy_pattern(
    r"(?:\b(?:will|shall|to be|going to|scheduled|due|expected|plans?)\b|['’]ll\b)[^.;!?]*$", re.IGNORECASE
)
# `built in three years` says how long it took.
_TOOK: Final = lazy_pattern(
    r"\b(?:\w+ed|was|were|had|did|won|made|took|grew|rose|fell|became|lost|sold|came|time|first|once|twice)\b",
    re.IGNORECASE,
)
BETWEEN: Final = lazy_pattern(r"\bbetween\s+(?:the\s+)?$", re.IGNORECASE)


class Rules:
    """The rules, over one text; `anchor` is the time to a day, month or year that it has named last."""

    def __init__(self, text: str, setting: Setting) -> None:
        self.text, self.setting = text, setting
        self.anchor: Reading | None = None

    def year_month_day(self, m: re.Match[str]) -> Reading | None:
        """`2016-04-08`, `20160408`."""
        return calendar.day_of(int(m["year"]), int(m["m"]), int(m["d"]))

    def in_figures(self, m: re.Match[str]) -> Reading | None:
        """A day in figures, in the order of the text; where both orders are possible and none is known, `ambiguous`."""
        one, two, year = int(m["one"]), int(m["two"]), m.groupdict().get("year")
        dots = m.groupdict().get("mark") == "."
        if (year is None and (one, two) == (24, 7)) or max(one, two) > 31 or min(one, two) < 1 or min(one, two) > 12:
            return None
        if year is not None and len(year) == 2 and m["mark"] != "/":
            return None
        if year is None and not (m["weekday"] or m["step"] or self._behind(_BEFORE_DAY, m)):
            # One end of a range, or all of the text.
            before, after = self._before(m)[-1:], self._after(m)
            if not (before in "-–—~" and (before or not after)) and not re.match(rf"{TO}\d\d?/", after):
                return None
        unsure = one <= 12 >= two and one != two and not dots and self.setting.order is None
        if one > 12 or (two <= 12 and (dots or self.setting.order == "day first")):
            one, two = two, one
        day, step = self._dated(m, one, two), STEPS.get((m.groupdict().get("step") or "this").lower(), 0)
        if year is None and day and day.first and step * (day.first - self.setting.today).days <= 0 != step:
            day = calendar.in_year(day, day.first.year + step)
        return replace(day, flaw="ambiguous") if day and unsure and not day.flaw else day

    def day_of_month(self, m: re.Match[str]) -> Reading | None:
        """`2 March 2024`, `the 2nd of March`."""
        day, month = m["day"], m["month"]
        if not (m["year"] or m["short"]):
            if month in _SMALL and not day[-1:].isalpha() and not self._behind(_BEFORE_DAY, m):
                return None
            if day.lower() == "second" and month.islower():
                return None
            if re.match(r",?\s(?:of\s)?\d{3,}\b", self._after(m)):  # A year that none can be: `1 May 9999`.
                return Reading(None, None, "day", flaw="impossible")
        return self._dated(m, month_number(m), number(day))

    def _dated(self, m: re.Match[str], month: int, day: int) -> Reading | None:
        year = self._year(m)
        reading = calendar.day_of(year, month, day) if year else calendar.open_day(month, day, self.setting)
        if reading is not None and m.groupdict().get("weekday"):
            return calendar.with_weekday(reading, weekday_number(m))
        return reading

    def _year(self, m: re.Match[str]) -> int:
        """The year that a match names; one of two digits at most 20 years ahead of the text's, 0 for none."""
        groups = m.groupdict()
        digits = groups.get("year") or groups.get("short")
        if not digits or not digits.isdigit() or len(digits) == 4:
            return year_number(digits or "0")
        last = self.setting.today.year + 20 if self.setting.known else 2069
        return last - (last - int(digits)) % 100

    def days_of_month(self, m: re.Match[str]) -> Reading | None:
        """`22 to 24 August 2025`, `May 22-24, 2025`."""
        if m["and"] and not self._behind(BETWEEN, m):
            return None
        if m["month"] in _SMALL and not m["year"] and not self._behind(_BEFORE_DAY, m):
            return None
        last = self._dated(m, month_number(m), number(m["other"]))
        day = number(m["day"])
        if last is None or last.first is None:
            return None if last is None else replace(last, unit="range")
        first = last.first.replace(day=day) if day < last.first.day else None
        if first is None and m["back"]:
            first = calendar.after_months(last.first.replace(day=1), -1).replace(day=day)
        return replace(last, first=first, unit="range", month=0, open=False) if first else None

    def month(self, m: re.Match[str]) -> Reading | None:
        """`May 2016`, and `May` where the words beside it make it a month."""
        if year := self._year(m):
            return calendar.months(year, month_number(m), 1, "month")
        small, after = m["month"] in _SMALL, self._after(m)
        if small and (not self._behind(_BEFORE_DAY, m) or re.match(r"\s[a-z]", after)):
            return None
        if not re.match(rf"{TO}|[-\s]*$|\s+(?:of\s+)?(?:this|last|next)\b", after, re.IGNORECASE):
            if m.start() == 0 or not self._behind(_BEFORE_MONTH, m):
                return None
            if re.match(r"\s[A-Z]|\s[a-z]+ed\b", after) and not re.search(r"\bin\s$", self._before(m)):
                return None  # `for April Smith`, `May agreed`
        return calendar.open_months(month_number(m), "month", self.setting)

    def month_in_figures(self, m: re.Match[str]) -> Reading | None:
        """`2016-05`."""
        return calendar.months(int(m["year"]), int(m["m"]), 1, "month")

    def season(self, m: re.Match[str]) -> Reading | None:
        """`the summer of 2016`, `in winter`."""
        month = SEASONS[m["season"].lower()]
        if year := self._year(m):
            return calendar.season_of(year, month)
        after = self._after(m)
        if re.match(r"\s(?:of\s)?(?:this|last|next)\syear", after) is None:
            follows = re.match(r"\sof\s|-|\s(?!in|on|at|and|or|is|was|when|to)[A-Za-z]", after)
            if follows or not self._behind(_BEFORE_SEASON, m):
                return None
        return calendar.open_months(month, "season", self.setting)

    def nth_of_year(self, m: re.Match[str]) -> Reading | None:
        """`Q1 2017`, `week 23`, `fourth-quarter`: of the year named, else of the last that has begun it."""
        n, year = number(m["n"]), self._year(m)
        unit = {"q": "quarter", "h": "half"}.get(m["unit"].lower(), unit_name(m["unit"]))
        if unit in ("day", "weekend", "fortnight", "year", "decade", "century"):
            return None
        if year:
            return calendar.nth_of_year(year, n, unit)
        if unit not in ("quarter", "week") or n < 0:
            return None
        here = calendar.nth_of_year(self.setting.today.year, n, unit)
        if here and here.first and here.first > self.setting.today and self.setting.past and unit == "quarter":
            here = calendar.nth_of_year(self.setting.today.year - 1, n, unit)
        return replace(here, relative=True, open=True) if here else None

    def named_year(self, m: re.Match[str]) -> Reading | None:
        """`fiscal year 2016`."""
        return calendar.months(year_number(m["year"]), 1, 12, "year")

    def two_years(self, m: re.Match[str]) -> Reading | None:
        """`1939-45`, `the 2019/20 season`."""
        first = int(m["year"])
        last = first - first % 100 + int(m["two"])
        if last <= first or (last > first + 1 and int(m["two"]) <= 12):
            return None
        return calendar.months(first, 1, 12 * (last - first + 1), "range")

    def lone_year(self, m: re.Match[str]) -> Reading | None:
        """A year alone counts from 1800 where nothing is counted by it, earlier and later ones after a preposition."""
        year, text = year_number(m["year"]), self.text
        if _COUNTED.match(text, m.end()) or self._behind(_NUMBERED, m):
            return None
        plural = _PLURAL.match(text, m.end()) is not None
        preposition, usual = self._behind(_BEFORE_YEAR, m), 1800 <= year < 2100
        return None if (plural or not usual) and (not preposition or (not usual and plural)) else self.named_year(m)

    def decade(self, m: re.Match[str]) -> Reading | None:
        """`the 1990s`, `the twenties`."""
        if word := m["word"]:
            return calendar.months(1920 + 10 * DECADES.index(word.lower()), 1, 120, "decade")
        first = int(m["decade"])
        if first < 100 and not re.search(r"(?:\bthe |early |late |mid-? ?|['’])$", self._before(m), re.IGNORECASE):
            return None
        return calendar.months(first if first > 99 else 1900 + first, 1, 120, "decade")

    def century(self, m: re.Match[str]) -> Reading | None:
        """`the 15th century`."""
        return calendar.century_of(number(m["n"])) if m["n"].lower() != "last" else None

    def today(self, m: re.Match[str]) -> Reading | None:
        """`yesterday`, `the day before yesterday`."""
        step = TODAY[m["word"].lower()]
        step += {"": 0, "before": -1, "after": 1}[(m["way"] or "").lower()]
        return a_day(self.setting.today + timedelta(step), relative=True)

    def weekday(self, m: re.Match[str]) -> Reading | None:
        """News tells what was: the last such day, the day of publication among them; else the nearest."""
        name, text, today = m["weekday"], self.text, self.setting.today
        if not name[0].isupper() and len(name) < 6:
            return None
        if re.match(r"\s(?:mornings|afternoons|evenings|nights)", self._after(m)):
            return None
        if len(name) < 6 and not (m["day"] or self._behind(_BEFORE_DAY, m) or re.match(TO, self._after(m))):
            return None
        if m["day"]:  # `Saturday the 14th`: of the nearest month in which that day is that weekday.
            here = today.replace(day=1)
            for step in sorted(range(-8, 9), key=lambda n: (abs(n), n > 0)):
                month = calendar.after_months(here, step)
                reading = calendar.day_of(month.year, month.month, number(m["day"]))
                if reading and reading.first and reading.first.weekday() == weekday_number(m):
                    return replace(reading, relative=True, open=True)
            return None
        day = today - timedelta((today.weekday() - weekday_number(m)) % 7)
        if not self.setting.past and day < today and _AHEAD.search(text, max(0, m.start() - 60), m.start()):
            day += timedelta(7)
        return replace(a_day(day, "weekday", relative=True), open=True)

    def holiday(self, m: re.Match[str]) -> Reading | None:
        """`Easter 2019`, `next Christmas`."""
        name, today, step = m["holiday"], self.setting.today, STEPS.get((m["step"] or "this").lower(), 0)
        if year := self._year(m):
            return a_day(holiday(name, year))
        years = (today.year, today.year - 1, today.year + 1)
        day = min((holiday(name, y) for y in years if 1 < y < 9999), key=lambda d: abs(d - today))
        if step * (day - today).days <= 0 != step:
            day = holiday(name, day.year + step)
        return Reading(day, day, "day", True, day.month, day.day, open=True)

    def lone_day(self, m: re.Match[str]) -> Reading | None:
        """`on the 17th`: of the month in which it is nearest."""
        before = re.search(r"\bon (?:the )?$", self._before(m), re.IGNORECASE)
        if before is None or re.match(r"\s(?!and\b|at\b|in\b|from\b|to\b|of (?:this|last|next)\b)\w|-", self._after(m)):
            return None
        return calendar.lone_day(number(m["day"]), self.setting)

    def stepped(self, m: re.Match[str]) -> Reading | None:
        """`last week`, `next year`, `this quarter`, `that day`, `the following day`."""
        word, unit = m["step"].lower(), unit_name(m["unit"])
        step, day, relative = STEPS[word], self.setting.today, True
        if m["unit"][-1] in "sS":
            return None
        if word == "past" and unit in ("decade", "century"):
            return Reading(calendar.moved(day, -1, unit), day - timedelta(1), "range", True)
        if m["business"]:
            unit = "business" if unit == "day" else unit
        if word in FROM_ANCHOR or (unit == "day" and step):
            anchor = self._anchor(unit if unit in FINENESS else "day")
            if anchor is None and word not in ("previous", "preceding") and self.setting.known:
                return None
            day, relative = (anchor.first, anchor.relative) if anchor and anchor.first else (day, True)
        if re.match(r" of (?!this|last|next)", self._after(m)) and word not in ("this", "that"):
            return None
        if unit in ("month", "quarter", "year", "decade", "century"):
            day = day.replace(day=1)
        reading = calendar.unit_around("day" if unit == "business" else unit, calendar.moved(day, step, unit))
        if m["business"] and unit == "week" and reading.first:
            reading = replace(reading, last=reading.first + timedelta(4))
        return replace(reading, relative=relative)

    def steps(self, m: re.Match[str]) -> Reading | None:
        """`the last 3 months`, `the next two days`: so many units up to the text's day, or from it."""
        step, unit, n, today = STEPS[m["step"].lower()], unit_name(m["unit"]), number(m["n"]), self.setting.today
        if not step or unit == "weekend":
            return None
        if unit in ("quarter", "decade", "century") and m["step"].lower() != "past":  # Whole ones.
            here = calendar.unit_around(unit, today)
            if here.first is None or here.last is None:
                return None
            today = here.first if step < 0 else here.last
        unit = "business" if m["business"] else unit
        if step < 0:
            return Reading(calendar.moved(today, -n, unit), today - timedelta(1), "range", True)
        first = today + timedelta(1)
        last = calendar.moved(first, n, unit) - timedelta(1) if unit != "business" else calendar.moved(today, n, unit)
        return Reading(first, last, "range", True)

    def stepped_weekday(self, m: re.Match[str]) -> Reading | None:
        """`last` and `next` weekday are of the week before and after, `this` of the same week."""
        step, today, weekday = STEPS[m["step"].lower()], self.setting.today, weekday_number(m)
        if m["this"] and step:  # `this past Wednesday`
            ahead = (weekday - today.weekday() - 1) % 7 + 1
            return a_day(today + timedelta(ahead if step > 0 else ahead - 7 or -7), "weekday", relative=True)
        return a_day(calendar.weekday_of(today + timedelta(7 * step), weekday), "weekday", relative=True)

    def stepped_month(self, m: re.Match[str]) -> Reading | None:
        """`last March`, `next May`, `this summer`."""
        step, today = STEPS[m["step"].lower()], self.setting.today
        if m["step"].lower() in ("that", "same") or (m["month"] or "") in ("may", "march"):
            return None
        month = month_number(m) if m["month"] else SEASONS[m["season"].lower()]
        year = today.year
        if step < 0 and date(year, month, 1) >= today.replace(day=1):
            year -= 1
        if step > 0 and date(year, month, 1) <= today:
            year += 1
        reading = calendar.months(year, month, 1, "month") if m["month"] else calendar.season_of(year, month)
        return replace(reading, relative=True)

    def part_of_day(self, m: re.Match[str]) -> Reading | None:
        """`this morning`, `last night`, `that evening`."""
        word = m["step"].lower()
        if word == "that":
            anchor = self._anchor("day")
            return replace(anchor, unit="day") if anchor else None
        if word not in ("this", "last", "next") or (word == "last" and m["time"].lower() != "night"):
            return None
        return a_day(self.setting.today + timedelta(STEPS[word]), relative=True)

    def ago(self, m: re.Match[str]) -> Reading | None:
        """`two weeks ago`, `a year earlier`, `3 weeks later`, `four days from today`."""
        unit, n, way = unit_name(m["unit"]), number(m["n"]), m["way"].lower()
        day, relative = self.setting.today, True
        if way in ("earlier", "later", "previously"):
            anchor = self._anchor(unit)
            if anchor is None and way == "later" and self.setting.known:
                return None
            if anchor and anchor.first:
                day, relative = anchor.first, anchor.relative
        sign = -1 if way in ("ago", "earlier", "previously") else 1
        return a_day(calendar.moved(day, sign * n, "business" if m["business"] else unit), relative=relative)

    def ahead(self, m: re.Match[str]) -> Reading | None:
        """`in three weeks`, where the text does not tell how long something took."""
        unit, n, today = unit_name(m["unit"]), number(m["n"]), self.setting.today
        if self.text.startswith(" of", m.end()) or unit == "weekend" or not self.setting.known:
            return None
        if self.setting.past and _TOOK.search(self.text, max(0, m.start() - 60), m.start()):
            return None
        last = calendar.moved(today, n, "business" if m["business"] else unit)
        if m["within"]:
            return Reading(today + timedelta(1), last, "range", True)
        return a_day(last, relative=True)

    def bare(self, m: re.Match[str]) -> Reading | None:
        """`the year`, a time only beside another: `the end of the year`."""
        return replace(calendar.unit_around(unit_name(m["unit"]), self.setting.today), relative=True, bare=True)

    def _before(self, m: re.Match[str]) -> str:
        return self.text[max(0, m.start() - 16) : m.start()]

    def _after(self, m: re.Match[str]) -> str:
        return self.text[m.end() : m.end() + 16]

    def _behind(self, words: re.Pattern[str], m: re.Match[str]) -> bool:
        """Whether one of the words stands before a match."""
        return words.search(self.text, max(0, m.start() - 20), m.start()) is not None

    def _anchor(self, unit: str) -> Reading | None:
        """The time that the text spoke of last, if that is told as exactly as the unit."""
        anchor = self.anchor
        if anchor is None or anchor.first is None:
            return None
        precision = "day" if anchor.unit == "weekday" else anchor.unit
        return anchor if FINENESS.index(precision) <= FINENESS.index(unit) else None


RULES: Final = compiled({
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<m>\d\d?)(?P=mark)(?P<d>\d\d?)(?!\d)": Rules.year_month_day,
    r"(?P<year>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>[0-2]\d|3[01])(?!\d)": Rules.year_month_day,
    rf"{LEAD}(?P<one>\d\d?)(?P<mark>[-/.])(?P<two>\d\d?)(?P=mark)(?P<year>\d{{4}}|\d\d)(?![\d/])": Rules.in_figures,
    rf"{LEAD}{DAY}\s?(?:{TO}|(?P<and> ?and ))(?P<back>the )?(?P<other>{FIGURES}|{ORDINAL})\s?(?:of )?{MONTH}{OF_YEAR}?":
        Rules.days_of_month,
    rf"{LEAD}{MONTH}\s?(?:the )?{DAY}(?:{TO}|(?P<and> ?and ))(?P<back>the )?(?P<other>{FIGURES})(?!/){OF_YEAR}?":
        Rules.days_of_month,
    rf"{LEAD}{MONTH}[-/]?\s?(?:the )?{DAY}{OF_YEAR}?": Rules.day_of_month,
    rf"{LEAD}(?:the )?{DAY}[-/]?\s?(?:of )?(?:the )?{MONTH}{OF_YEAR}?": Rules.day_of_month,
    rf"{YEAR}[-/,]?\s?{MONTH}[-/]?\s?{DAY}(?P<short>)?(?P<weekday>)?": Rules.day_of_month,
    rf"{MONTH}{OF_YEAR}?": Rules.month,
    rf"{SEASON}(?:,? (?:of )?{YEAR}(?![-–/]\d\d))?": Rules.season,
    rf"{YEAR} ?-?(?P<unit>[qh])(?P<n>[1-4])\b": Rules.nth_of_year,
    rf"(?P<unit>q)(?P<n>[1-4])(?:[ /,-]+(?:of )?{YEAR})?": Rules.nth_of_year,
    rf"{NTH}[- ](?P<unit>quarter|half)\b(?:(?: of)? {YEAR})?": Rules.nth_of_year,
    rf"(?P<unit>week) (?P<n>\d\d?)\b(?:,? (?:of )?{YEAR})?": Rules.nth_of_year,
    rf"(?:year|fy) ?{YEAR}(?![-–/]\d\d)": Rules.named_year,
    rf"(?:(?P<decade>(?:1\d|20)?\d0)['’]?\s?s|(?P<word>{'|'.join(DECADES)}))\b": Rules.decade,
    rf"{NTH}[- ]centur(?:y|ies)\b": Rules.century,
    r"(?P<year>(?:1\d|20)\d\d)[-–/](?P<two>\d\d)(?![\d/-])": Rules.two_years,
    r"(?P<year>(?:19|20)\d\d)[-/](?P<m>0?[1-9]|1[0-2])(?![\d/-])": Rules.month_in_figures,
    rf"(?:{STEP} )?{LEAD}(?P<one>\d\d?)/(?P<two>\d\d?)(?![\d/%]|\.\d| of\b)": Rules.in_figures,
    YEAR: Rules.lone_year,
    rf"(?:day (?P<way>before|after) )?(?P<word>{'|'.join(TODAY)})\b": Rules.today,
    rf"{STEP} {COUNT} {UNIT}": Rules.steps,
    rf"{COUNT} {STEP} {UNIT}": Rules.steps,
    rf"{STEP} {UNIT}": Rules.stepped,
    rf"(?P<this>this )?{STEP} {WEEKDAY}": Rules.stepped_weekday,
    rf"{STEP} (?:{MONTH}|{SEASON})(?! \d)": Rules.stepped_month,
    rf"{STEP} (?P<time>morning|afternoon|evening|night)\b": Rules.part_of_day,
    rf"{COUNT} {UNIT} (?P<way>ago|earlier|later|hence|previously|from (?:now|today))\b": Rules.ago,
    rf"(?:(?P<within>with)?in) {COUNT} {UNIT}": Rules.ahead,
    rf"{WEEKDAY}(?:,? (?:the )?(?P<day>\d\d?(?:st|nd|rd|th)\b|{ORDINAL}(?! [a-z])"
    r"|(?:1[3-9]|2\d|3[01])\b(?![:/.-]\d| ?[ap]m)))?": Rules.weekday,
    rf"(?:{STEP} )?(?P<holiday>{HOLIDAYS})\b(?:,? (?:of )?{YEAR})?": Rules.holiday,
    rf"(?P<day>\d\d?(?:st|nd|rd|th)\b|{ORDINAL})": Rules.lone_day,
    r"(?P<unit>day|week|month|year|decade|century)\b(?! (?:before|after))": Rules.bare,
})  # fmt: skip
