"""Times so many units from the text's day or hour, or from the day that it spoke of last: `two weeks ago`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.points import Match, Rule
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.relative import (
    COUNT,
    FINENESS,
    MORE,
    NEAR_VERB,
    anchor_day,
    around,
    further,
    unit_of,
    unknown,
)
from quern.schemas.words.patterns import lazy_pattern

_N: Final = rf"g?(?P<n>{COUNT})f?"
_TOLD: Final = lazy_pattern(
    r"\b(?:\w+ed|was|were|had|did|won|made|took|grew|rose|fell|became|lost|sold|came)\b|\b(?:time|first|once|twice)\s*$"
)


def _weekdays_ago(m: Match) -> Reading | None:
    """`two Sundays ago`."""
    day, count = m.setting.reference, m.number("n")
    if day is None:
        return unknown("day")
    if m.word("A") in ("ago", "earlier"):
        return readings.a_day(day - timedelta((day.weekday() - m.number("W") - 1) % 7 + 1 + 7 * (count - 1)))
    return readings.a_day(day + timedelta((m.number("W") - day.weekday() - 1) % 7 + 1 + 7 * (count - 1)))


def _unit_ago(m: Match) -> Reading | None:
    """`the year-ago quarter`, `a year-earlier loss`."""
    unit, day = unit_of(m), m.setting.reference
    if unit not in ("week", "month", "quarter", "year"):
        return None
    return unknown(unit) if day is None else around(unit, day, -1)


def _took(m: Match) -> bool:
    """Whether the text tells what was, and how long it took: `built in three years`."""
    at = m.line.tokens[m.found.start()].start
    return m.setting.told and _TOLD.search(m.line.text, max(0, at - NEAR_VERB), at) is not None


def _ahead(m: Match) -> Reading | None:
    """`in three weeks` where the text does not tell how long something took."""
    unit, count, reference = unit_of(m), m.number("n"), m.setting.reference
    token = m.line.tokens[m.found.start()]
    if m.after == "f" or reference is None or not 0 < count < 5000 or unit in ("half", "weekend"):
        return None
    if _took(m):
        return None
    end = readings.moved(reference, count, "business" if m.has("B") else unit)
    if m.line.text[token.start : token.end].lower() == "within":
        first = reference + timedelta(1)
        return readings.days(first, end, "range", readings.interval(reference, end, f"P{count}{unit[0].upper()}"))
    return replace(readings.a_day(end), unit="shifted")


def _ago(m: Match) -> Reading | None:
    """`two weeks ago`, `a year earlier`, `3 weeks later`."""
    unit, count = unit_of(m), m.number("n")
    word = m.word("A")
    day = m.setting.reference if word in ("ago", "hence") else anchor_day(m, unit) if unit in FINENESS else None
    if not 0 < count < 5000 or unit == "half":
        return None
    lost = day is None and word == "later"
    day = day or m.setting.reference
    if day is None:
        return unknown("day")
    sign = 1 if word in ("later", "hence") else -1
    then = readings.moved(day, sign * count, "business" if m.has("B") else unit)
    found = readings.a_day(further(m, then, sign))
    return replace(found, flaw="unanchored") if lost else found


def _moment(m: Match) -> Reading | None:
    """`ten minutes ago`, `in two hours`: told from the moment of writing."""
    codes, reference, now = m.found[0], m.setting.reference, m.setting.now
    if codes[0] == "i" and (m.after == "f" or _took(m)):
        return None
    values = {c: t.value for c, t in zip(codes, m.line.tokens[m.found.start() :], strict=False)}
    unit, count = values["H"], next(v for c, v in values.items() if c in COUNT)
    if now is None or not isinstance(unit, int) or not isinstance(count, int):
        return replace(readings.moment(reference), timex=reference.isoformat() if reference else "PRESENT_REF")
    back = "L" in codes or (m.word("A") in ("ago", "earlier") if m.has("A") else False)
    then = (now + timedelta(seconds=count * unit * (-1 if back else 1))).date()
    first, last = sorted((then, now.date())) if "L" in codes or "N" in codes else (then, then)
    return Reading(first, last, "day", then.isoformat(), unit="now", present=True)


COUNTED: Final[tuple[tuple[str, str, Rule], ...]] = (
    ("LN", rf"[LN]{COUNT}H(?!f)", _moment),
    ("abdeh", r"[abdeh][LN]H", _moment),
    ("abe", r"(?P<n>[abe])(?P<W>[wW])(?P<A>A|l|1R)", _weekdays_ago),
    ("gabdehzn", rf"{_N}(?P<B>B)?(?P<u>[uU])(?P<more>{MORE})(?P<A>[AlF])", _ago),
    ("abdehgzn", rf"(?P<n>{COUNT})H(?P<A>[AlF])", _moment),
    ("abdehgzn", rf"(?P<n>{COUNT})H1R", _moment),
    ("i", rf"i(?:x0)?t?{_N}(?P<B>B)?(?P<u>[uU])(?:s(?:[xD]x)?)?(?![1-6])", _ahead),
    ("i", rf"i(?:{COUNT})H", _moment),
    ("u", r"(?P<u>u)-A", _unit_ago),
)
