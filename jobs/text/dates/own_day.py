"""Times that the text's own day alone tells: `today`, `Monday`, `the weekend`, `the year`, `to date`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.points import Match, Rule, word_follows
from quern.jobs.text.dates.readings import Reading
from quern.jobs.text.dates.relative import NEAR_VERB, anchor_day, unit_of, unknown
from quern.schemas.words.patterns import lazy_pattern

_FUTURE: Final = lazy_pattern(r"(?:\b(?:will|shall|to be|going to|scheduled|due|expected|plans?)\b|['’]ll\b)[^.;!?]*$")
_THROUGH_WEEKDAY: Final = lazy_pattern("[67-]t?W")


def _near(m: Match) -> Reading | None:
    """`today`, `yesterday`, `now`."""
    token, reference = m.token("R"), m.setting.reference
    step = token.value if token is not None else None
    if step is None:
        return readings.moment(reference)
    if reference is None or not isinstance(step, int):
        return unknown("day")
    return replace(readings.a_day(reference + timedelta(step)), unit="near")


def _day_beside(m: Match) -> Reading | None:
    """`the day before yesterday`, `the day after tomorrow`."""
    token, reference = m.token("R"), m.setting.reference
    if unit_of(m) != "day" or token is None or not isinstance(token.value, int):
        return None
    if reference is None:
        return unknown("day")
    step = 1 if m.has("after") else -1
    return readings.a_day(reference + timedelta(token.value + step))


def _ranging(m: Match) -> bool:
    """Whether another weekday stands at the other end of a range: `Mon-Thu`."""
    codes, start = m.line.codes, m.found.start()
    before = codes[max(0, start - 2) : start]
    return _THROUGH_WEEKDAY.match(codes, m.found.end()) is not None or (before[:1] == "W" and before[1:] in "67-")


def _weekday(m: Match) -> Reading | None:
    """News tells what was: the last such day, the day of publication among them; else the nearest."""
    token, reference = m.token("W"), m.setting.reference
    word = m.line.text[token.start : token.end] if token is not None else ""
    if len(word) < 6 and (not word[0].isupper() or not (m.before in "I12679NLTu8(" or m.after in "km)" or _ranging(m))):
        return None
    if m.before == "x" and m.after == "x" and not word[0].isupper() and len(word) < 6:
        return None
    weekday = m.number("W")
    if m.before in "oL" and m.after == "f":  # `the first Monday of May`
        return None
    timex = f"XXXX-WXX-{weekday + 1}"
    if reference is None:
        return Reading(None, None, "day", timex, unit="weekday")
    day = reference - timedelta((reference.weekday() - weekday) % 7)
    if not m.setting.told and day < reference and token is not None:
        before = m.line.text[max(0, token.start - NEAR_VERB) : token.start]
        day += timedelta(7 if _FUTURE.search(before) else 0)
    return Reading(day, day, "day", timex, unit="weekday")


def _weekend(m: Match) -> Reading | None:
    """`the weekend`: of the week of the text."""
    if unit_of(m) != "weekend" or m.before not in "tIi9" or m.after == "f":
        return None
    if m.setting.reference is None:
        return unknown("weekend", "XXXX-WXX-WE")
    return readings.weekend_of(m.setting.reference)


def _said_more(m: Match) -> bool:
    """Whether the words behind `the week` say which one it is: `of 5 May`, `starting on`, `ended`."""
    if m.after not in "fx5":
        return False
    token = m.line.tokens[m.found.end()]
    return m.line.text[token.start : token.end].lower() in ("of", "starting", "beginning", "ended", "ending")


def _bare_unit(m: Match) -> Reading | None:
    """`the year`, a time only beside another: `the end of the year`."""
    unit, reference = unit_of(m), m.setting.reference
    if m.after in "34" or (unit == "week" and _said_more(m)) or unit in ("half", "quarter", "century", "weekend"):
        return None
    if reference is None:
        return replace(unknown(unit), bare=True)
    found = readings.unit_around(unit, reference)
    if found is None:
        return None
    at = m.found.start() - 2
    alone = at >= 0 and m.line.codes[at] in "iI" and m.after in "$.,"  # `blocked for the day`
    return replace(found, flaw="unanchored") if alone else replace(found, bare=True)


def _day_before(m: Match) -> Reading | None:
    """`the day before`, `the day after`, at the end of a clause: beside the day that was spoken of last."""
    if unit_of(m) != "day" or m.after not in ("$", ".", ",", ")", "-"):
        return None
    day = anchor_day(m, "day") or m.setting.reference
    if day is None:
        return unknown("day")
    found = readings.a_day(day + timedelta(1 if m.has("after") else -1))
    return found if anchor_day(m, "day") else replace(found, flaw="unanchored")


def _to_date(m: Match) -> Reading | None:
    """`to date`, `year to date`."""
    reference = m.setting.reference
    if m.word("x") != "date" or (word_follows(m) and not m.has("u")):
        return None
    if m.has("u"):
        if reference is None or unit_of(m) not in ("year", "month", "week", "quarter"):
            return None
        around = readings.unit_around(unit_of(m), reference)
        return None if around is None else replace(around, last=reference)
    return readings.moment(reference)


def _present(m: Match) -> Reading | None:
    """`1990 to the present`, where it is no verb and names nothing else."""
    return None if m.word("x") != "present" or word_follows(m) else readings.moment(m.setting.reference)


def _this_moment(m: Match) -> Reading | None:
    """`at this time`, `the current date`."""
    word, reference = m.word("x"), m.setting.reference
    if not (word == "date" or (word in ("time", "moment", "point") and m.before == "I")):
        return None
    return readings.moment(reference)


OWN_DAY: Final[tuple[tuple[str, str, Rule], ...]] = (
    ("u", r"(?P<u>u)(?:3|(?P<after>4))(?P<R>R)", _day_beside),
    ("u", r"(?P<u>u)-?6-?(?P<x>x)", _to_date),
    ("R", r"(?P<R>R)", _near),
    ("T", r"T(?P<x>x)", _this_moment),
    ("x", r"(?:(?<=[YMGado][67-])|(?<=[YMGado][67-]t))(?P<x>x)", _present),
    ("W", r"(?P<W>W)", _weekday),
    ("u", r"(?P<u>u)(?:3|(?P<after>4))(?=[.,)]|$)", _day_before),
    ("u", r"(?P<u>u)", _weekend),
    ("u", r"(?<=t)(?P<u>u)", _bare_unit),
)
