"""What the rules of relative times share: the unit and the step that a text names, and the day that it counts from."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.points import Match
from quern.jobs.text.dates.readings import Reading

# A count that the text leaves vague.
COUNT: Final = "[abdehzgn]"
# Further parts of a length: `and 2 weeks and 2 days`.
MORE: Final = rf"(?:[8,]{{0,2}}{COUNT}[uU]){{0,3}}"
# How far before a time the verb may stand that says whether it is to come or was, in characters: half a sentence.
NEAR_VERB: Final = 60
FINENESS: Final = ("day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade", "century")


def unknown(precision: str, timex: str = "") -> Reading:
    """A time that is only known beside another."""
    match precision:
        case "month" | "week" | "year":
            return Reading(None, None, precision, timex or "XXXX", unit=precision)
        case "quarter" | "half" | "season":
            return Reading(None, None, "season", timex or "XXXX", unit=precision)
        case "decade" | "century":
            return Reading(None, None, "year", timex or "XXX", unit=precision)
    return Reading(None, None, "day", timex or "XXXX-XX-XX", unit=precision)


def unit_of(m: Match) -> str:
    """The unit that a match names; empty where it names none."""
    token = m.token("u")
    return str(token.value) if token is not None else ""


def step_of(m: Match, group: str = "L") -> int | None:
    """-1, 0, 1 for last, this, next; None for that and the same."""
    token = m.token(group)
    return token.value if token is not None and isinstance(token.value, int) else None


def around(unit: str, day: date, step: int) -> Reading | None:
    """The unit so many steps from the one in which a day lies."""
    if unit in ("day", "week", "weekend", "fortnight"):
        return readings.unit_around(unit, day + timedelta(step * {"day": 1, "fortnight": 14}.get(unit, 7)))
    return readings.unit_around(unit, readings.moved(day.replace(day=1), step, unit))


def anchor_day(m: Match, unit: str) -> date | None:
    """The day from which the text counts: of the time that it spoke of last, if that is told as exactly as the unit."""
    anchor = m.anchor
    if anchor is None or FINENESS.index(anchor.unit) > FINENESS.index(unit):
        return None
    return anchor.first


def further(m: Match, day: date, sign: int) -> date:
    """The day moved by the further parts of a length too."""
    if not m.has("more"):
        return day
    count = 0
    for token in m.line.tokens[m.found.start("more") : m.found.end("more")]:
        if isinstance(token.value, int):
            count = token.value
        elif isinstance(token.value, str):
            day = readings.moved(day, sign * count, token.value)
    return day
