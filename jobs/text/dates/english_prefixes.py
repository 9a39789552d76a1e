"""Words before another time, and what they make of it: `the end of ...`, `two weeks before ...`."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from quern.jobs.text.dates import calendar
from quern.jobs.text.dates.calendar import Reading, Setting, a_day
from quern.jobs.text.dates.english_words import (
    COUNT,
    NTH,
    PARTS,
    UNIT,
    WEEKDAY,
    compiled,
    number,
    unit_name,
    weekday_number,
)


def _part(m: re.Match[str], inner: Reading, _: Setting) -> Reading | None:
    if inner.part or inner.unit in ("day", "weekday"):
        return None
    return calendar.part_of(inner, PARTS[m["part"].lower()])


def _nth(m: re.Match[str], inner: Reading, _: Setting) -> Reading | None:
    return calendar.nth_in(inner, number(m["n"]), unit_name(m["unit"]))


def _nth_weekday(m: re.Match[str], inner: Reading, _: Setting) -> Reading | None:
    first, last, n = inner.first, inner.last, number(m["n"])
    if first is None or last is None or inner.unit not in ("month", "year"):
        return None
    return a_day(calendar.nth_weekday(first, last, weekday_number(m), n), relative=inner.relative)


def _units_of(m: re.Match[str], inner: Reading, _: Setting) -> Reading | None:
    """`the first ten days of last year`."""
    n, unit = number(m["n"]), unit_name(m["unit"])
    if inner.first is None or inner.last is None:
        return None
    if m["which"].lower() == "last":
        return replace(inner, first=calendar.moved(inner.last + timedelta(1), -n, unit), unit="range", month=0)
    return replace(inner, last=calendar.moved(inner.first, n, unit) - timedelta(1), unit="range", month=0)


def _shifted(m: re.Match[str], inner: Reading, _: Setting) -> Reading | None:
    """`two weeks before 13 May`."""
    n, unit = number(m["n"]), "business" if m["business"] else unit_name(m["unit"])
    if inner.first is None or inner.last is None or unit == "weekend":
        return None
    if m["way"].lower() == "since":
        return a_day(calendar.moved(inner.first, n, unit), relative=inner.relative)
    if m["way"].lower() == "before":
        return a_day(calendar.moved(inner.first, -n, unit), relative=inner.relative)
    return a_day(calendar.moved(inner.last, n, unit), relative=inner.relative)


def _week_of(m: re.Match[str], inner: Reading, _: Setting) -> Reading | None:
    if inner.first is None or inner.unit not in ("day", "weekday"):
        return None
    if m["way"].lower().startswith("end"):
        return Reading(inner.first - timedelta(6), inner.first, "range", inner.relative)
    return replace(calendar.unit_around(unit_name(m["unit"]), inner.first), relative=inner.relative)


def _up_to(m: re.Match[str], inner: Reading, _: Setting) -> Reading | None:
    """`the three months ended June 30`, `the 12 months to March`, `two weeks starting May 20`."""
    if inner.first is None or inner.last is None or inner.bare:
        return None
    if m["way"].lower() == "starting":
        last = calendar.moved(inner.first, number(m["n"]), unit_name(m["unit"])) - timedelta(1)
        return Reading(inner.first, last, "range", inner.relative)
    first = calendar.moved(inner.last + timedelta(1), -number(m["n"]), unit_name(m["unit"]))
    return Reading(first, inner.last, "range", inner.relative)


def _rest(m: re.Match[str], inner: Reading, setting: Setting) -> Reading | None:
    """`later this week`, `the rest of the year`: from the text's day on; `earlier this month` up to it."""
    today = setting.today
    if inner.first is None or inner.last is None or not inner.first <= today <= inner.last > inner.first:
        return None
    if m["word"].lower() == "earlier":
        return replace(inner, last=today, part=True, bare=False)
    return replace(inner, first=today, part=True, bare=False)


_IN: Final = r"\s?(?:of|in) (?:the )?"
PREFIXES: Final = compiled({
    rf"(?P<part>early|mid|late|(?:{'|'.join(PARTS)})(?=[ -]of ))(?:[- ](?:of )?(?:in )?(?:the )?)": _part,
    rf"{NTH}[- ]{UNIT}{_IN}": _nth,
    rf"{NTH} {WEEKDAY}{_IN}": _nth_weekday,
    rf"(?P<which>first|last) {COUNT} {UNIT}{_IN}": _units_of,
    rf"{COUNT} {UNIT} (?P<way>before|after|from|since) (?:the )?": _shifted,
    r"(?P<unit>week|weekend) (?P<way>of|starting|beginning|ending|ended|end)(?: on)? (?:the )?": _week_of,
    rf"{COUNT} {UNIT} (?P<way>ended|ending|to|starting)(?: on| from)? (?:the )?": _up_to,
    r"(?P<word>later|earlier|(?:rest|remainder) of)(?: in)? (?:the )?": _rest,
})  # fmt: skip
