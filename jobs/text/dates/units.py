"""Units of the calendar that an English text names: months, seasons, quarters, years, decades, centuries, weeks."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.numeric import NumericDate
from quern.jobs.text.dates.points import (
    BESIDE_YEAR,
    Match,
    Rule,
    full_year,
    value_of,
    word_follows,
    written_year,
)
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.tokens import Token
from quern.schemas.words.patterns import lazy_pattern


def _month_of_year(m: Match) -> Reading | None:
    return readings.month_of(written_year(m), m.number("m"))


def _digits_of_month(m: Match) -> Reading | None:
    token = m.token("g")
    if token is None or not isinstance(token.value, NumericDate) or token.value.year is None:
        return None
    return readings.month_of(token.value.year, token.value.one)


def _lone_month(m: Match) -> Reading | None:
    """A month alone is one only where a word or a range says so: may, march and mar are other words too."""
    token = m.token("m")
    if token is None or (m.after in ("x", "W") and _goes_on(m)):
        return None
    if BESIDE_YEAR.match(m.line.codes, m.found.end()) and not m.small("m"):
        return readings.open_month(m.number("m"), m.setting.reference, told=m.setting.told)
    before = m.line.codes[max(0, m.found.start() - 3) : m.found.start()]
    if m.small("m") and (not re.search(r"[1256734][t]?$|[iI]t?$", before) or _names_more(m)):
        return None
    if not re.search(r"[iI12345679f8]t?$|E-?$|[LNT]$|-$|^$", before) and m.after not in ("-", "6", "7"):
        return None
    if not before and m.after not in ("-", "6", "7", "$"):
        return None
    return readings.open_month(m.number("m"), m.setting.reference, told=m.setting.told)


def _names_more(m: Match) -> bool:
    """Whether the word behind a month that is written small is neither a function word nor a time of its own."""
    if not word_follows(m) or m.after != "x":
        return False
    token = m.line.tokens[m.found.end()]
    return m.line.text[token.start : token.end].lower() not in _FUNCTION


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
    return readings.season_of(m.number("y"), str(value_of(m, "s")))


def _lone_season(m: Match) -> Reading | None:
    """`in summer`, `in the fall`, `the whole winter`; not `the fall of Rome`, `the winter games`."""
    if m.after == "f" and BESIDE_YEAR.match(m.line.codes, m.found.end()):
        return readings.open_season(str(value_of(m, "s")), m.setting.reference, told=m.setting.told)
    if (
        m.after in ("f", "x", "-", "u", "U")
        and (m.word("s") in ("fall", "spring") or m.before != "i")
        and word_follows(m)
    ):
        return None
    if m.before == "t" and m.word("s") in ("fall", "spring") and m.line.codes[m.found.start() - 2] not in "iI5":
        return None
    return readings.open_season(str(value_of(m, "s")), m.setting.reference, told=m.setting.told)


def _quarter(m: Match) -> Reading | None:
    """`Q1 2017`, `2017 q1`, `the third quarter of 2019`, `fourth-quarter`."""
    n = 4 if m.has("l") else m.number("n")
    if (m.has("u") and value_of(m, "u") != "quarter") or not 1 <= n <= 4:
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
    if value_of(m, "u") != "half" and m.word("h") != "h":
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


def _named_year(m: Match) -> Reading | None:
    """`the year 2011`."""
    return readings.year_of(m.number("y")) if value_of(m, "u") == "year" else None


def _fiscal(m: Match) -> Reading | None:
    """`FY2018`, `cy18`, read as years of the calendar."""
    token, year = m.token("y"), m.number("y")
    if token is None or (m.line.tokens[m.found.start()].end != token.start and year < 1000):
        return None
    return readings.year_of(year if year > 99 else full_year(year, m.setting.reference))


def _decade(m: Match) -> Reading | None:
    first = m.number("y")
    if m.found["y"] in "hd" and m.line.codes[m.found.start() - 1 : m.found.start()] not in ("t", "E", "-", "s"):
        return None
    first = first if first > 99 else 1900 + first
    return readings.decade_of(first) if first % 10 == 0 else None


def _century(m: Match) -> Reading | None:
    if value_of(m, "u") != "century":
        return None
    return readings.century_of(m.number("n"))


def _week_of_year(m: Match) -> Reading | None:
    """`week 23`, `week 3 of 2027`, as ISO 8601 counts weeks."""
    if value_of(m, "u") != "week" or (not m.has("y") and (m.before not in "tiI1," or m.after in ("f", "x"))):
        return None
    year = m.number("y") or (m.setting.reference.year if m.setting.reference else 0)
    if not year:
        n = m.number("n")
        return Reading(None, None, "week", f"XXXX-W{n:02}", unit="week") if 1 <= n <= 53 else None
    return readings.iso_week(year, m.number("n"))


# The rules in the order in which they are tried: letters with which they begin, expression, reading.
UNITS: Final[tuple[tuple[str, str, Rule], ...]] = (
    ("M", r"(?P<m>M)\.?(?:[,/-]|ft?|it?)?(?P<y>Y)", _month_of_year),
    ("M", r"(?P<m>M)\.?,?s(?P<short>[dh])", _month_of_year),
    ("V", r"(?P<g>V)", _digits_of_month),
    ("Y", r"(?P<y>Y)-?Q(?P<n>a)", _quarter),
    ("Y", r"(?P<y>Y),?t?(?P<n>o)-?(?P<u>u)", _quarter),
    ("Q", r"Q(?P<n>a)(?:(?:[fs-]|ft)?(?P<y>Y))?", _quarter),
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
    ("j", r"(?P<y>j)", _two_years),
    ("u", r"(?P<u>u)(?P<y>Y)", _named_year),
    ("u", r"(?P<u>u)(?P<n>[adh])(?:,?f?(?P<y>Y))?", _week_of_year),
    ("S", r"(?:(?<=[it579])|(?<=tx))(?P<s>S)", _lone_season),
    ("M", r"(?P<m>M)", _lone_month),
    ("Y", r"(?P<y>Y)", _year),
)
