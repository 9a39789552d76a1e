"""Points in time that an English text names: one rule a form, over the line of codes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.numeric import NumericDate
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.tokens import Line, Token
from quern.jobs.text.dates.when import Order
from quern.schemas.words.patterns import lazy_pattern


@dataclass(frozen=True)
class Setting:
    """What a time is read against.

    Attributes:
        reference: The day of the text, usually that of its publication.
        order: In which order it writes day and month in digits; null where that is not known.
        told: Whether it tells what was: it has a reference and speaks of nothing that is to come.
        now: The time of the text, where that is known to the hour.
    """

    reference: date | None
    order: Order | None
    told: bool
    now: datetime | None = None


@dataclass(slots=True)
class Point:
    """A time at its place.

    Attributes:
        first: First token.
        end: Token after the last.
        reading: Its meaning.
        outer_first: First token with the words that belong to it.
        outer_end: Token after the last of these.
    """

    first: int
    end: int
    reading: Reading
    outer_first: int = -1
    outer_end: int = -1


@dataclass(frozen=True)
class Match:
    """A form that was found in the line of codes.

    Attributes:
        line: The text's tokens.
        found: The match over the codes.
        setting: What times are read against.
        anchor: The time to a day, month or year of which the text has spoken last.
    """

    line: Line
    found: re.Match[str]
    setting: Setting
    anchor: Reading | None

    def token(self, group: str) -> Token | None:
        """The token of a group."""
        return self.line.tokens[self.found.start(group)] if self.has(group) else None

    def number(self, group: str) -> int:
        """The number of a token; a month that is written as another word too is one all the same."""
        token = self.token(group)
        value = token.value if token is not None else 0
        return abs(value) if isinstance(value, int) else 0

    def word(self, group: str) -> str:
        """The word of a group, in small letters."""
        token = self.token(group)
        return "" if token is None else self.line.text[token.start : token.end].lower()

    def has(self, group: str) -> bool:
        """Whether a group took part."""
        return group in self.found.re.groupindex and self.found.start(group) >= 0

    @property
    def before(self) -> str:
        """The code before the match; ^ where it begins the text."""
        at = self.found.start()
        return self.line.codes[at - 1] if at else "^"

    @property
    def after(self) -> str:
        """The code after the match; $ where it ends the text."""
        return self.line.codes[self.found.end() : self.found.end() + 1] or "$"

    def small(self, group: str) -> bool:
        """Whether a month's name is written small, and is a word of its own then: may, march."""
        token = self.token(group)
        return token is not None and isinstance(token.value, int) and token.value < 0


Rule = Callable[[Match], Reading | None]

# ---- days of a month

# Words after which a month or a day of a month stands for a time.
_PREPOSITIONS: Final = frozenset("iI12345679NLT")
_LEAD: Final = r"(?:(?P<W>W)\.?[,(]?(?:t|It)?)?"


def _dated(m: Match, month: int, day: int) -> Reading | None:
    """The day of a month, of the year in `y` if there is one; the weekday before it must be its own."""
    if m.has("y") or m.has("short"):
        found = readings.day_of(_written_year(m), month, day)
    else:
        found = readings.open_day(month, day, m.setting.reference, told=m.setting.told)
    if found is not None and m.has("W"):
        return with_weekday(found, m.number("W"))
    return found


def _written_year(m: Match) -> int:
    """The year behind a month or day, also in short: `5 May '16`."""
    return m.number("y") if m.has("y") else _full_year(m.number("short"), m.setting.reference)


def with_weekday(reading: Reading, weekday: int) -> Reading:
    """A day that the text also calls by its weekday, told as contradictory where it is another one.

    An open year is the nearest in which the day is that weekday.
    """
    day = reading.first
    if day is None or day.weekday() == weekday:
        return reading
    if not reading.open:
        return replace(reading, flaw="contradictory")
    for year in (day.year - 1, day.year + 1):
        other = readings.day_of(year, reading.month, reading.day)
        if other is not None and other.first is not None and other.first.weekday() == weekday:
            return replace(reading, first=other.first, last=other.last)
    return reading


def _day_first(m: Match) -> Reading | None:
    if m.small("m") and not m.has("y") and m.found["d"] != "o" and m.before not in _PREPOSITIONS:
        return None
    if m.found["d"] == "e" and not m.has("y") and m.small("m"):
        return None
    return _dated(m, m.number("m"), m.number("d"))


def _month_first(m: Match) -> Reading | None:
    if m.small("m") and m.found["d"] not in "o" and not m.has("y") and m.after not in "ip,.-67kJ$":
        return None
    if not m.has("y") and m.after in ("U", "H", "B", "M", "k") and m.found["d"] in "ade":
        return None if m.after != "k" or m.found["d"] == "e" else _dated(m, m.number("m"), m.number("d"))
    if m.found["d"] == "e" and not m.has("y") and (m.small("m") or m.after == "x"):
        return None
    return _dated(m, m.number("m"), m.number("d"))


def _days_of_month(m: Match) -> Reading | None:
    """`22 to 24 August 2025`, `May 22-24, 2025`, `from the 27th to the 3rd of April`."""
    if m.found["j"] == "8" and "2" not in m.line.codes[max(0, m.found.start() - 2) : m.found.start()]:
        return None
    if m.small("m") and not m.has("y") and m.found["d"] != "o" and m.before not in _PREPOSITIONS:
        return None
    month, one, other = m.number("m"), m.number("d"), m.number("e")
    last = _dated(m, month, other)
    if last is None or last.first is None:
        return None if last is None else replace(last, precision="range", unit="range")
    if one < other:
        first = last.first.replace(day=one)
    elif not m.has("back"):
        return None
    else:
        first = readings.after_months(last.first.replace(day=1), -1)
        first = first.replace(day=one)
    length = f"P{(last.first - first).days}D"
    if last.open:
        timex = f"(XXXX-{first:%m-%d},XXXX-{last.first:%m-%d},{length})"
    else:
        timex = readings.interval(first, last.first, length)
    return Reading(first, last.last, "range", timex, unit="range", month=last.month, day=last.day)


def _weekday_and_day(m: Match) -> Reading | None:
    """`Friday 23`, `Saturday the 14th`: the nearest month in which that day is that weekday."""
    reference, day, weekday = m.setting.reference, m.number("d"), m.number("W")
    if m.found["d"] == "o" and word_follows(m) and m.word("d").isalpha():
        return None  # `on Tuesday the first of them`
    if m.found["d"] != "o" and (m.after in ("k", "m", "-", "H", "U", ":") or m.number("d") < 13):
        return None
    timex = f"XXXX-WXX-{weekday + 1}"
    if reference is None:
        return Reading(None, None, "day", timex, unit="weekday")
    here = reference.replace(day=1)
    for step in (0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6, -7, 7, -8, 8):
        first = readings.after_months(here, step)
        found = readings.day_of(first.year, first.month, day)
        if found is not None and found.first is not None and found.first.weekday() == weekday:
            return replace(found, timex=timex)
    return None


_HOUR: Final = lazy_pattern(r"I(?:k|[ab]m)|$")


def _lone_day(m: Match) -> Reading | None:
    """`on the 17th`: of the month in which it is nearest."""
    reference, day = m.setting.reference, m.number("d")
    begin = m.line.tokens[m.found.start() - (2 if m.before == "t" else 1)].start
    if m.line.text[begin : begin + 2].lower() != "on":
        return None
    if m.before == "I" and not _HOUR.match(m.line.codes, m.found.end()):
        return None  # `on 15`, `on 15 at 8:00`
    if m.after in ("x", "f", "-", "u", "U", "M", "S", "W", "b", "p") and word_follows(m):
        return None
    if m.found["d"] != "o" and m.after not in ("$", ".", "1", "2", "3", "4", "I"):
        return None
    return readings.lone_day(day, reference, told=m.setting.told)


# ---- dates in digits


def _digits(m: Match) -> Reading | None:
    token = m.token("g")
    if token is None or not isinstance(token.value, NumericDate):
        return None
    found = numeric_day(token.value, m.setting)
    if found is not None and m.has("W"):
        return with_weekday(found, m.number("W"))
    return found


def numeric_day(written: NumericDate, setting: Setting) -> Reading | None:
    """A date in digits, in the order of the setting; where both orders are possible and none is known, `ambiguous`."""
    one, two, year = written.one, written.two, written.year
    ambiguous = False
    if not written.ordered:
        if max(one, two) > 31 or min(one, two) < 1 or (one > 12 and two > 12):
            return None
        if one > 12 or (two <= 12 and (written.dots or setting.order == "day first")):
            one, two = two, one
        ambiguous = written.one <= 12 >= written.two and one != two and not written.dots and setting.order is None
    if year is None:
        found = readings.open_day(one, two, setting.reference, told=setting.told)
    else:
        found = readings.day_of(_full_year(year, setting.reference) if written.short else year, one, two)
    if found is not None and ambiguous and not found.flaw:
        return replace(found, flaw="ambiguous")
    return found


def _full_year(short: int, reference: date | None) -> int:
    """A year of two digits: at most 20 years ahead of the text's, 1970 to 2069 without one (POSIX has 1969 to 2068)."""
    last = reference.year + 20 if reference is not None else 2069
    return last - (last - short) % 100


_SECOND: Final = lazy_pattern("[-67]t?[JG]")


def _digits_without_year(m: Match) -> Reading | None:
    """`on 22/04`, `10/1-11/2`, `next 5/12`; a fraction, a score, `24/7` are none."""
    token = m.token("g")
    if token is None or not isinstance(token.value, NumericDate) or (token.value.one, token.value.two) == (24, 7):
        return None
    joined = m.before == "-" or _SECOND.match(m.line.codes, m.found.end()) is not None
    led = m.before in _PREPOSITIONS or m.before == "W" or m.has("step") or m.has("W")
    if not joined and (m.after in "fuUH" or not (led or len(m.line.codes) == 1)):
        return None
    found, reference, step = _digits(m), m.setting.reference, _value(m, "step")
    if found is None or found.first is None or reference is None or not step or not found.open:
        return found
    if step == 1 and found.first <= reference:
        return readings.in_year(found, reference.year + (found.first.year == reference.year))
    if step == -1 and found.first >= reference:
        return readings.in_year(found, reference.year - (found.first.year == reference.year))
    return found


def _digits_of_month(m: Match) -> Reading | None:
    token = m.token("g")
    if token is None or not isinstance(token.value, NumericDate) or token.value.year is None:
        return None
    return readings.month_of(token.value.year, token.value.one)


def _spaced(m: Match) -> Reading | None:
    """`2016 10 16` after a preposition."""
    if m.before not in _PREPOSITIONS:
        return None
    return readings.day_of(m.number("y"), m.number("m"), m.number("d"))


# ---- months, seasons, quarters, years


def _month_of_year(m: Match) -> Reading | None:
    return readings.month_of(_written_year(m), m.number("m"))


def _lone_month(m: Match) -> Reading | None:
    """A month alone is one only where a word or a range says so: may, march and mar are other words too."""
    token = m.token("m")
    if token is None or (m.after in ("x", "W") and _goes_on(m)):
        return None
    if _BESIDE_YEAR.match(m.line.codes, m.found.end()) and not m.small("m"):
        return readings.open_month(m.number("m"), m.setting.reference, told=m.setting.told)
    before = m.line.codes[max(0, m.found.start() - 3) : m.found.start()]
    if m.small("m") and (not re.search(r"[1256734][t]?$|[iI]t?$", before) or _names_more(m)):
        return None
    if not re.search(r"[iI12345679f8]t?$|E-?$|[LNT]$|-$|^$", before) and m.after not in ("-", "6", "7"):
        return None
    if not before and m.after not in ("-", "6", "7", "$"):
        return None
    return readings.open_month(m.number("m"), m.setting.reference, told=m.setting.told)


def word_follows(m: Match) -> bool:
    """Whether a word stands right after the match."""
    return m.found.end() < len(m.line.tokens) and m.line.text[m.line.tokens[m.found.end()].start].isalpha()


def _names_more(m: Match) -> bool:
    """Whether the word behind a month that is written small is neither a function word nor a time of its own."""
    if not word_follows(m) or m.after != "x":
        return False
    token = m.line.tokens[m.found.end()]
    return m.line.text[token.start : token.end].lower() not in _FUNCTION


_BESIDE_YEAR: Final = lazy_pattern("f?t?[LNT]u")
_FUNCTION: Final = frozenset(
    "or for but with is was were we i he she they it when where as because so if has had".split()
)
_PAST_TENSE: Final = lazy_pattern(r"[a-z]+ed\b")


def _goes_on(m: Match) -> bool:
    """Whether a name or a verb follows on the month: `for April Smith`, `May agreed`."""
    if m.found.end() >= len(m.line.tokens):
        return False
    following = m.line.tokens[m.found.end()]
    token = m.line.tokens[m.found.end() - 1]
    if m.line.text[token.end : following.start].strip() or m.before in "12675":
        return False
    word = m.line.text[following.start : following.end]
    return (word[0].isupper() and m.number("m") in (4, 5, 6, 8) and m.before not in "iI") or bool(
        _PAST_TENSE.fullmatch(word) and m.before not in "iI5"
    )


def _season_of_year(m: Match) -> Reading | None:
    return readings.season_of(m.number("y"), str(_value(m, "s")))


def _lone_season(m: Match) -> Reading | None:
    """`in summer`, `in the fall`, `the whole winter`; not `the fall of Rome`, `the winter games`."""
    if m.after == "f" and _BESIDE_YEAR.match(m.line.codes, m.found.end()):
        return readings.open_season(str(_value(m, "s")), m.setting.reference, told=m.setting.told)
    if (
        m.after in ("f", "x", "-", "u", "U")
        and (m.word("s") in ("fall", "spring") or m.before != "i")
        and word_follows(m)
    ):
        return None
    if m.before == "t" and m.word("s") in ("fall", "spring") and m.line.codes[m.found.start() - 2] not in "iI5":
        return None
    return readings.open_season(str(_value(m, "s")), m.setting.reference, told=m.setting.told)


def _value(m: Match, group: str) -> object:
    token = m.token(group)
    return None if token is None else token.value


def _quarter(m: Match) -> Reading | None:
    """`Q1 2017`, `2017 q1`, `the third quarter of 2019`, `fourth-quarter`."""
    n = 4 if m.has("l") else m.number("n")
    if (m.has("u") and _value(m, "u") != "quarter") or not 1 <= n <= 4:
        return None
    if m.has("y"):
        return readings.quarter_of(m.number("y"), n)
    if m.has("l") or m.after == "f":
        return None
    reference = m.setting.reference
    if reference is None:
        return Reading(None, None, "season", f"XXXX-Q{n}", unit="quarter")
    year = reference.year - (3 * n - 2 > reference.month and m.setting.told)
    return replace(readings.quarter_of(year, n), timex=f"XXXX-Q{n}")


def _half(m: Match) -> Reading | None:
    if _value(m, "u") != "half" and m.word("h") != "h":
        return None
    n = m.number("n")
    return readings.half_of(m.number("y"), n) if 1 <= n <= 2 else None


_BEFORE_YEAR: Final = lazy_pattern(
    r"\b(?:in|since|by|until|till|during|from|of|to|between|before|after|and|or|around|about|for|than|year|circa|c\."
    r"|early|late|mid|the|winter|summer|spring|autumn|through)[\s(-]*$",
    re.IGNORECASE,
)
# After these a number before a noun in the plural is a count: for 2000 passengers; not so in 2000 sales fell.
_COUNTING: Final = lazy_pattern(r"\b(?:for|than|about|around|of|to|and|or|over|through|the)\s+$", re.IGNORECASE)
_NUMBERED: Final = lazy_pattern(
    r"\b(?:flight|room|page|chapter|section|article|act|volume|version|model|building|suite|unit|highway|route|box|bus"
    r"|line|windows|office|gate|no\.?|number|order|case|form|iso|rfc)\s+$",
    re.IGNORECASE,
)
_JOINED_ON: Final = lazy_pattern(r"-(?!present\b|now\b|today\b)[A-Za-z]")
_COUNTED: Final = lazy_pattern(r"\s+(?!was\b|is\b|has\b|as\b|this\b|its\b|his\b)(?:[a-z]{3,}\s+)?[a-z]{2,}s\b")
_MEASURED: Final = lazy_pattern(
    r"\s*(?:%|per\b|percent\b|km|kg|mph|feet|miles?\b|metres?\b|meters?\b|dollars?\b|euros?\b|hours?\b|rpm|kcal|mm\b|million"
    r"|billion|m\b|°|hrs?\b|GMT|UTC|EST|people\b|men\b|women\b|words\b)"
)


def _numbers_a_thing(m: Match, token: Token) -> bool:
    """Whether it is the number of a thing, or a part of a word: `Room 2019`, `a 1900-page book`."""
    text = m.line.text
    return bool(_NUMBERED.search(text, max(0, token.start - 12), token.start) or _JOINED_ON.match(text, token.end))


def _year(m: Match) -> Reading | None:
    """A year alone counts from 1800 where nothing is counted by it, earlier and later ones after a preposition."""
    year, token, text = m.number("y"), m.token("y"), m.line.text
    if token is None or _MEASURED.match(text, token.end) or "n" in (m.before, m.after) or _numbers_a_thing(m, token):
        return None
    at = m.found.start()
    range_after = re.match(r"-Y", m.line.codes[at + 1 : at + 3]) and 0 < m.line.tokens[at + 2].value - year < 300  # type: ignore[operator]
    range_before = re.fullmatch(r"Y-", m.line.codes[max(0, at - 2) : at])
    if range_after or range_before:
        return readings.year_of(year)
    counted = _COUNTED.match(text, token.end) is not None
    if counted and _COUNTING.search(text, max(0, token.start - 12), token.start):
        return None
    if not _BEFORE_YEAR.search(text, max(0, token.start - 12), token.start) and (not 1800 <= year < 2100 or counted):
        return None
    if not 1800 <= year < 2100 and counted:
        return None
    return readings.year_of(year)


def _two_years(m: Match) -> Reading | None:
    """`1939-45`, `the 2019/20 season`."""
    token = m.token("y")
    if token is None or not isinstance(token.value, NumericDate) or token.value.year is None:
        return None
    first = token.value.year
    last = first - first % 100 + token.value.one
    if last <= first:
        return None
    return readings.months(first, 1, 12 * (last - first + 1), "range", f"({first}-01-01,{last}-01-01,P{last - first}Y)")


def _year_and_day(m: Match) -> Reading | None:
    """`2020/23/Sep`."""
    token = m.token("g")
    if token is None or not isinstance(token.value, NumericDate) or token.value.year is None:
        return None
    return readings.day_of(token.value.year, m.number("m"), token.value.one)


def _named_year(m: Match) -> Reading | None:
    """`the year 2011`."""
    return readings.year_of(m.number("y")) if _value(m, "u") == "year" else None


def _fiscal(m: Match) -> Reading | None:
    """`FY2018`, `cy18`, read as years of the calendar."""
    token, year = m.token("y"), m.number("y")
    if token is None or (m.line.tokens[m.found.start()].end != token.start and year < 1000):
        return None
    return readings.year_of(year if year > 99 else _full_year(year, m.setting.reference))


def _decade(m: Match) -> Reading | None:
    first = m.number("y")
    if m.found["y"] in "hd" and m.line.codes[m.found.start() - 1 : m.found.start()] not in ("t", "E", "-", "s"):
        return None
    first = first if first > 99 else 1900 + first
    return readings.decade_of(first) if first % 10 == 0 else None


def _century(m: Match) -> Reading | None:
    if _value(m, "u") != "century":
        return None
    return readings.century_of(m.number("n"))


def _week_of_year(m: Match) -> Reading | None:
    """`week 23`, `week 3 of 2027`, as ISO 8601 counts weeks."""
    if _value(m, "u") != "week" or (not m.has("y") and (m.before not in "tiI1," or m.after in ("f", "x"))):
        return None
    year = m.number("y") or (m.setting.reference.year if m.setting.reference else 0)
    if not year:
        n = m.number("n")
        return Reading(None, None, "week", f"XXXX-W{n:02}", unit="week") if 1 <= n <= 53 else None
    return readings.iso_week(year, m.number("n"))


# The rules in the order in which they are tried: letters with which they begin, expression, reading.
ABSOLUTE: Final[tuple[tuple[str, str, Rule], ...]] = (
    ("Y", r"(?P<y>Y)[-/,]?(?P<m>M)\.?[-/]?(?P<d>[ad])(?![-/])", lambda m: _dated(m, m.number("m"), m.number("d"))),
    ("Y", r"(?P<y>Y)[-/](?P<d>[ad])[-/](?P<m>M)", lambda m: _dated(m, m.number("m"), m.number("d"))),
    (
        "adoeW",
        rf"{_LEAD}(?P<d>[adoe])(?P<j>[67-]|8)(?P<back>t)?(?P<e>[adoe])f?(?P<m>M)\.?(?:,?f?(?P<y>Y))?",
        _days_of_month,
    ),
    (
        "MW",
        rf"{_LEAD}(?P<m>M)\.?t?(?P<d>[ado])(?P<j>[67-]|8)(?P<back>t)?(?P<e>[ado])(?![-/kmM:pUH])(?:,?f?(?P<y>Y))?",
        _days_of_month,
    ),
    ("adoeW", rf"{_LEAD}(?P<d>[adoe])f?t?[-/]?(?P<m>M)\.?(?:[-/,]{{0,1}}f?(?P<y>Y))?", _day_first),
    ("MW", rf"{_LEAD}(?P<m>M)\.?t?[-/]?(?P<d>[adoe])(?:[,-]{{0,1}}[fi]?(?P<y>Y)|,?s(?P<short>[adh]))?", _month_first),
    ("M", r"(?P<m>M)\.?(?:[,/-]|ft?|it?)?(?P<y>Y)", _month_of_year),
    ("M", r"(?P<m>M)\.?,?s(?P<short>[dh])", _month_of_year),
    ("GW", rf"{_LEAD}(?P<g>G)", _digits),
    ("JWLNT", rf"(?P<step>[LNT])?{_LEAD}(?P<g>J)", _digits_without_year),
    ("V", r"(?P<g>V)", _digits_of_month),
    ("Y", r"(?P<y>Y)(?P<m>a)(?P<d>[ad])(?!-)", _spaced),
    ("Y", r"(?P<y>Y)-?Q(?P<n>a)", _quarter),
    ("Y", r"(?P<y>Y),?t?(?P<n>o)-?(?P<u>u)", _quarter),
    ("Q", r"Q(?P<n>a)(?:[fs-]|ft)?(?P<y>Y)?", _quarter),
    ("oL", r"(?:(?P<n>o)|(?P<l>L))-?(?P<u>u)(?:(?:f|i)t?)?(?P<y>Y)", _quarter),
    ("o", r"(?P<n>o)-?(?P<u>u)", _quarter),
    ("o", r"(?P<n>o)(?P<u>u)(?:(?:f|i)t?)?(?P<y>Y)", _half),
    ("H", r"(?P<h>H)(?P<n>a)f?(?P<y>Y)", _half),
    ("S", r"(?P<s>S)-?(?:f|i)?t?(?P<y>Y)", _season_of_year),
    ("o", r"(?P<n>o)-?(?P<u>u)", _century),
    ("Y", r"(?P<y>Y)s?D", _decade),
    ("hd", r"(?P<y>[hd])s?D", _decade),
    ("c", r"(?<=t)(?P<y>c)", _decade),
    ("C", r"C(?P<y>[dhYa])", _fiscal),
    ("j", r"(?P<g>j)[-/](?P<m>M)", _year_and_day),
    ("j", r"(?P<y>j)", _two_years),
    ("u", r"(?P<u>u)(?P<y>Y)", _named_year),
    ("u", r"(?P<u>u)(?P<n>[adh])(?:,?f?(?P<y>Y))?", _week_of_year),
    ("W", r"(?P<W>W),?t?(?P<d>[do])", _weekday_and_day),
    ("oad", r"(?:(?<=It)|(?<=I))(?P<d>[oad])", _lone_day),
    ("S", r"(?:(?<=[it579])|(?<=tx))(?P<s>S)", _lone_season),
    ("M", r"(?P<m>M)", _lone_month),
    ("Y", r"(?P<y>Y)", _year),
)
