"""Times a step from the text's day, or from the day that it spoke of last: `last week`, `next May`, `this morning`."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.points import Match, Rule
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.relative import COUNT, MORE, anchor_day, around, further, step_of, unit_of, unknown


def _stepped_unit(m: Match) -> Reading | None:
    """`last week`, `next year`, `this quarter`, `that day`, `the following day`."""
    unit, step, day = unit_of(m), step_of(m), m.setting.reference
    word = m.word("L")
    if unit == "half" or (m.after == "f" and not _names_unit(m)) or (unit == "day" and word == "past"):
        return None
    if word == "past" and unit in ("decade", "century") and day is not None:
        first = readings.moved(day, -1, unit)
        years = 10 if unit == "decade" else 100
        timex = readings.interval(first, day, f"P{years}Y")
        return readings.days(first, day - timedelta(1), "range", timex)
    anchored = step is None or word in ("following", "previous", "preceding") or (unit == "day" and bool(step))
    if anchored:
        day = anchor_day(m, unit)
    lost = anchored and day is None
    if lost:
        day = m.setting.reference
    step = step or 0
    if day is None:
        return unknown(unit)
    found = around(unit, day, step)
    return (
        replace(found, flaw="unanchored")
        if found is not None and lost and word not in ("previous", "preceding")
        else found
    )


def _names_unit(m: Match) -> bool:
    """Whether the `of` behind the match goes on to a time, so that the words before it may be one beside that."""
    return m.word("L") in ("this", "that", "the")


def _working_week(m: Match) -> Reading | None:
    if unit_of(m) == "day" and m.setting.reference is not None:
        return readings.a_day(readings.moved(m.setting.reference, step_of(m) or 0, "business"))
    if unit_of(m) != "week":
        return None
    found = _stepped_unit(m)
    if found is None or found.first is None:
        return found
    return replace(found, last=found.first + timedelta(4))


def _stepped_units(m: Match) -> Reading | None:
    """`the last 3 months`, `the next two days`, `5 upcoming years`: so many units up to the text's day, or from it."""
    unit, step, count, reference = unit_of(m), step_of(m), m.number("n"), m.setting.reference
    if not step or not 0 < count < 5000 or unit in ("half", "weekend"):
        return None
    if m.after == "f" and m.word("L") in ("last", "next"):
        return None
    years = {"decade": 10, "century": 100}.get(unit)
    length = f"P{count * years}Y" if years else f"P{count}{'BD' if m.has('B') else unit[0].upper()}"
    if reference is None:
        return replace(unknown(unit), precision="range", unit="range")
    if unit == "quarter" or (years and m.word("L") != "past"):
        return _whole_units(unit, step, count, reference, length)
    if m.has("B"):
        unit = "business"
    if step < 0:
        first, end = further(m, readings.moved(reference, -count, unit), -1), reference
    else:
        first = reference + timedelta(1)
        end = further(m, readings.moved(reference, count, unit), 1) + timedelta(1)
    return readings.days(first, end - timedelta(1), "range", readings.interval(first, end, length))


def _whole_units(unit: str, step: int, count: int, reference: date, length: str) -> Reading | None:
    """So many whole quarters or decades before or behind the one of today."""
    here = readings.unit_around(unit, reference)
    if here is None or here.first is None or here.last is None:
        return None
    if step < 0:
        first, end = readings.moved(here.first, -count, unit), here.first
    else:
        first = here.last + timedelta(1)
        end = readings.moved(first, count, unit)
    return readings.days(first, end - timedelta(1), "range", readings.interval(first, end, length))


def _stepped_weekday(m: Match) -> Reading | None:
    """`last` and `next` weekday are of the week before and after, `this` of the same week."""
    step, reference = step_of(m), m.setting.reference
    if reference is None:
        return replace(unknown("day", f"XXXX-WXX-{m.number('W') + 1}"), unit="weekday")
    if m.has("this") and step:  # `this past Wednesday`
        day = reference + timedelta(step)
        while day.weekday() != m.number("W"):
            day += timedelta(step)
        return replace(readings.a_day(day), unit="weekday")
    return replace(readings.weekday_of(reference + timedelta(7 * (step or 0)), m.number("W")), unit="weekday")


def _stepped_month(m: Match) -> Reading | None:
    """`last March`, `next May`, `this summer`."""
    reference, step = m.setting.reference, step_of(m)
    token = m.token("S")
    if m.has("M") and m.small("M") and m.number("M") in (3, 5):
        return None
    if reference is None:
        return unknown("month" if m.has("M") else "season")
    month = m.number("M") if token is None else {"SP": 3, "SU": 6, "FA": 9, "WI": 12}[str(token.value)]
    year = reference.year
    if step == -1 and date(year, month, 1) >= reference.replace(day=1):
        year -= 1
    if step == 1 and date(year, month, 1) <= reference:
        year += 1
    return readings.month_of(year, month) if token is None else readings.season_of(year, str(token.value))


def _part_of_day(m: Match) -> Reading | None:
    """`this morning`, `last night`, `that evening`."""
    step, day = step_of(m), m.setting.reference
    if step and m.word("p") != "night":
        return None
    if step is None and (day := anchor_day(m, "day")) is None:
        return replace(unknown("day"), flaw="unanchored")
    if day is None:
        return unknown("day")
    return replace(readings.a_day(day + timedelta(step or 0)), unit="near")


def _beyond(m: Match) -> Reading | None:
    """`the week after next`, `the year before last`."""
    unit, day = unit_of(m), m.setting.reference
    if unit not in ("week", "weekend", "month", "year", "quarter"):
        return None
    return unknown(unit) if day is None else around(unit, day, 2 if m.has("after") else -2)


STEPPED: Final[tuple[tuple[str, str, Rule], ...]] = (
    ("LN", rf"(?P<L>[LN])g?(?P<n>{COUNT})f?(?P<B>B)?(?P<u>U)(?P<more>{MORE})", _stepped_units),
    ("abdeh", r"(?P<n>[abdeh])(?P<L>[LN])(?P<u>U)", _stepped_units),
    ("LNT", r"(?P<this>T)?(?P<L>[LNT])(?P<W>W)", _stepped_weekday),
    ("LNT", r"(?P<L>[LNT])(?:(?P<M>M)|(?P<S>S))(?![ad])", _stepped_month),
    ("LT", r"(?P<L>[LT])(?P<p>p)", _part_of_day),
    ("LNT", r"(?P<L>[LNT])(?P<B>B)(?P<u>u)", _working_week),
    ("LNT", r"(?P<L>[LNT])(?P<u>u)", _stepped_unit),
    ("u", r"(?P<u>u)(?:3L|(?P<after>4)N)(?=[^uUW]|$)", _beyond),
)
