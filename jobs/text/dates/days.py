"""Days that an English text names: of a month, in words or in digits."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.numeric import NumericDate
from quern.jobs.text.dates.points import (
    LEAD,
    PREPOSITIONS,
    Match,
    Rule,
    Setting,
    full_year,
    value_of,
    with_weekday,
    word_follows,
    written_year,
)
from quern.jobs.text.dates.readings import Reading
from quern.schemas.words.patterns import lazy_pattern


def _dated(m: Match, month: int, day: int) -> Reading | None:
    """The day of a month, of the year in `y` if there is one; the weekday before it must be its own."""
    if m.has("y") or m.has("short"):
        found = readings.day_of(written_year(m), month, day)
    else:
        found = readings.open_day(month, day, m.setting.reference, told=m.setting.told)
    if found is not None and m.has("W"):
        return with_weekday(found, m.number("W"))
    return found


def _day_first(m: Match) -> Reading | None:
    if m.small("m") and not m.has("y") and m.found["d"] != "o" and m.before not in PREPOSITIONS:
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
    if m.small("m") and not m.has("y") and m.found["d"] != "o" and m.before not in PREPOSITIONS:
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
        found = readings.day_of(full_year(year, setting.reference) if written.short else year, one, two)
    if found is not None and ambiguous and not found.flaw:
        return replace(found, flaw="ambiguous")
    return found


_SECOND: Final = lazy_pattern("[-67]t?[JG]")


def _digits_without_year(m: Match) -> Reading | None:
    """`on 22/04`, `10/1-11/2`, `next 5/12`; a fraction, a score, `24/7` are none."""
    token = m.token("g")
    if token is None or not isinstance(token.value, NumericDate) or (token.value.one, token.value.two) == (24, 7):
        return None
    joined = m.before == "-" or _SECOND.match(m.line.codes, m.found.end()) is not None
    led = m.before in PREPOSITIONS or m.before == "W" or m.has("step") or m.has("W")
    if not joined and (m.after in "fuUH" or not (led or len(m.line.codes) == 1)):
        return None
    found, reference, step = _digits(m), m.setting.reference, value_of(m, "step")
    if found is None or found.first is None or reference is None or not step or not found.open:
        return found
    if step == 1 and found.first <= reference:
        return readings.in_year(found, reference.year + (found.first.year == reference.year))
    if step == -1 and found.first >= reference:
        return readings.in_year(found, reference.year - (found.first.year == reference.year))
    return found


def _spaced(m: Match) -> Reading | None:
    """`2016 10 16` after a preposition."""
    if m.before not in PREPOSITIONS:
        return None
    return readings.day_of(m.number("y"), m.number("m"), m.number("d"))


def _year_and_day(m: Match) -> Reading | None:
    """`2020/23/Sep`."""
    token = m.token("g")
    if token is None or not isinstance(token.value, NumericDate) or token.value.year is None:
        return None
    return readings.day_of(token.value.year, m.number("m"), token.value.one)


# The rules in the order in which they are tried: letters with which they begin, expression, reading.
DAYS: Final[tuple[tuple[str, str, Rule], ...]] = (
    ("Y", r"(?P<y>Y)[-/,]?(?P<m>M)\.?[-/]?(?P<d>[ad])(?![-/])", lambda m: _dated(m, m.number("m"), m.number("d"))),
    ("Y", r"(?P<y>Y)[-/](?P<d>[ad])[-/](?P<m>M)", lambda m: _dated(m, m.number("m"), m.number("d"))),
    (
        "adoeW",
        rf"{LEAD}(?P<d>[adoe])(?P<j>[67-]|8)(?P<back>t)?(?P<e>[adoe])f?(?P<m>M)\.?(?:,?f?(?P<y>Y))?",
        _days_of_month,
    ),
    (
        "MW",
        rf"{LEAD}(?P<m>M)\.?t?(?P<d>[ado])(?P<j>[67-]|8)(?P<back>t)?(?P<e>[ado])(?![-/kmM:pUH])(?:,?f?(?P<y>Y))?",
        _days_of_month,
    ),
    ("adoeW", rf"{LEAD}(?P<d>[adoe])f?t?[-/]?(?P<m>M)\.?(?:[-/,]{{0,1}}f?(?P<y>Y))?", _day_first),
    ("MW", rf"{LEAD}(?P<m>M)\.?t?[-/]?(?P<d>[adoe])(?:[,-]{{0,1}}[fi]?(?P<y>Y)|,?s(?P<short>[adh]))?", _month_first),
    ("GW", rf"{LEAD}(?P<g>G)", _digits),
    ("JWLNT", rf"(?P<step>[LNT])?{LEAD}(?P<g>J)", _digits_without_year),
    ("Y", r"(?P<y>Y)(?P<m>a)(?P<d>[ad])(?!-)", _spaced),
    ("j", r"(?P<g>j)[-/](?P<m>M)", _year_and_day),
    ("W", r"(?P<W>W),?t?(?P<d>[do])", _weekday_and_day),
    ("oad", r"(?:(?<=It)|(?<=I))(?P<d>[oad])", _lone_day),
)
