"""Times in English text.

From each word or number that can begin a time, rules are tried in order: first those for words before another time
(`the end of ...`, `two weeks before ...`), then those for a time of its own. What stands behind it (a year, a weekday,
a week) and a range's other end are joined to it. The pass is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from quern.jobs.text.dates import calendar
from quern.jobs.text.dates.calendar import Reading, Setting, Signal, When, a_day, in_calendar
from quern.jobs.text.dates.english_rules import (
    BETWEEN,
    COUNT,
    DECADES,
    HOLIDAYS,
    MONTH,
    NTH,
    ORDINAL,
    PARTS,
    RULES,
    SEASON,
    STEP,
    TODAY,
    UNIT,
    WEEKDAY,
    Rules,
    compiled,
    nameless,
    number,
    unit_name,
    weekday_number,
)
from quern.schemas.words.patterns import lazy_pattern


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
    way = m["way"].lower()
    day = inner.first if way in ("since", "before") else inner.last
    return a_day(calendar.moved(day, -n if way == "before" else n, unit), relative=inner.relative)


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
    rf"(?P<part>early|mid|late|(?:{'|'.join(PARTS)})(?=[ -]of ))(?:[- ](?:of )?(?:in )?(?:the )?)":
        lambda m, inner, _: (
            calendar.part_of(inner, PARTS[m["part"].lower()])
            if not inner.part and inner.unit not in ("day", "weekday")
            else None
        ),
    rf"{NTH}[- ]{UNIT}{_IN}": lambda m, inner, _: calendar.nth_in(inner, number(m["n"]), unit_name(m["unit"])),
    rf"{NTH} {WEEKDAY}{_IN}": _nth_weekday,
    rf"(?P<which>first|last) {COUNT} {UNIT}{_IN}": _units_of,
    rf"{COUNT} {UNIT} (?P<way>before|after|from|since) (?:the )?": _shifted,
    r"(?P<unit>week|weekend) (?P<way>of|starting|beginning|ending|ended|end)(?: on)? (?:the )?": _week_of,
    rf"{COUNT} {UNIT} (?P<way>ended|ending|to|starting)(?: on| from)? (?:the )?": _up_to,
    r"(?P<word>later|earlier|(?:rest|remainder) of)(?: in)? (?:the )?": _rest,
})  # fmt: skip


# What can begin a time; figures written on to something else are numbers of things.
_START: Final = lazy_pattern(
    rf"(?<![\w$£€¥#%@+&=*\\/])(?<!\w[-.])(?<!\d[:,])(?:\d|q[1-4]|(?:with)?in (?=\S+ (?:\w+ )?{nameless(UNIT)})|(?:"
    + nameless("|".join((MONTH, WEEKDAY, SEASON, ORDINAL, STEP, COUNT, HOLIDAYS)))
    + f"|{'|'.join((*PARTS, *TODAY, *DECADES))}|day|week|year|weekend|rest|remainder|later|earlier)\\b)",
    re.IGNORECASE,
)
_REPEATED: Final = lazy_pattern(r"\b(?:each|every|any|daily|weekly|monthly)\s+(?:other\s+)?$", re.IGNORECASE)
_SIGNAL: Final = lazy_pattern(
    r"\b(?P<word>since|starting|beginning|after|before|until|till|by|prior\s+to|earlier\s+than|later\s+than)"
    r"(?:\s+(?:the|on|in))*\s*$",
    re.IGNORECASE,
)
_SIGNALS: Final[dict[str, Signal]] = {
    "since": "since", "starting": "since", "beginning": "since", "after": "after", "later": "after",
    "before": "before", "prior": "before", "earlier": "before", "until": "until", "till": "until", "by": "until",
}  # fmt: skip
_OR: Final = lazy_pattern(r"\s+or\s+(?:(?P<since>later|after)|earlier|before)\b", re.IGNORECASE)
_JOIN: Final = lazy_pattern(r"(?:\s?[-–—~]{1,2}\s?|\s+(?:to|until|till|through|up\s+to)\s+)(?:the\s+)?", re.IGNORECASE)
_AND: Final = lazy_pattern(r"\s+and\s+(?:the\s+)?", re.IGNORECASE)
_TO_DAY: Final = lazy_pattern(
    r"(?:\s?[-–—~]{1,2}\s?|\s+(?:to|until|till|through)\s+)(?:the\s+)?"
    rf"(\d\d?(?:st|nd|rd|th)\b|{ORDINAL})",
    re.IGNORECASE,
)
_NOW: Final = lazy_pattern(r"(?:the )?(?:present|now|today|date|current date)\b", re.IGNORECASE)
_BEHIND: Final = lazy_pattern(
    r"(?:['’]s|(?:\s+(?:morning|afternoon|evening|night))?)[\s,(-]+(?:(?:of|in|on)\s+)?(?:the\s+)?(?=\w)"
)


_Found = tuple[int, Reading]


def english_times(text: str, setting: Setting) -> list[When]:
    """The times of `text`, in order and disjoint."""
    return _English(text, setting).times()


class _English(Rules):
    """The times of one text."""

    def times(self) -> list[When]:
        times: list[When] = []
        end = 0
        while (start := _START.search(self.text, end)) is not None:
            end = start.end()
            if _REPEATED.search(self.text, max(0, start.start() - 12), start.start()):
                end = self._repeated(start.start()) or end
                continue
            one = self._range(start.start())
            if one is None:
                continue
            end, reading = max(end, one[0]), one[1]
            if reading.unit in ("day", "weekday", "month", "year") and reading.first:
                self.anchor = reading
            times.append(self._when(start.start(), one[0], reading, times[-1].end if times else 0))
        return times

    def _repeated(self, start: int) -> int | None:
        """Where a time that recurs ends: `every Monday and Friday`."""
        end = None
        while one := self._at(start, 0):
            end = one[0]
            if (more := _AND.match(self.text, end)) is None:
                break
            start = more.end()
        return end

    def _when(self, start: int, end: int, reading: Reading, floor: int) -> When:
        text = self.text
        while text[end - 1] in " .,(" and end > start + 1:
            end -= 1
        plain_year = reading.unit == "year" and text[start].isdigit()
        if not plain_year and text[max(floor, start - 4) : start].lower() == "the ":
            start -= 4
        signal: Signal = ""
        if reading.unit != "range":
            if before := _SIGNAL.search(text, max(floor, start - 24), start):
                signal = _SIGNALS[before["word"].lower().split()[0]]
            elif either := _OR.match(text, end):
                signal = "since" if either["since"] else "until"
        return reading.when(text, start, end, self.setting, signal)

    # ---- ranges

    def _range(self, start: int) -> _Found | None:
        """The time that begins at `start`, with the other end of a range that it begins."""
        one = self._at(start, 3)
        if one is None or one[1].bare:
            return None
        end, reading = one
        between = BETWEEN.search(self.text, max(0, start - 12), start)
        join = _JOIN.match(self.text, end) or (_AND.match(self.text, end) if between else None)
        if join is None or reading.unit == "range":
            return one
        if now := _NOW.match(self.text, join.end()):
            other: _Found | None = now.end(), a_day(self.setting.today, relative=True)
        else:
            other = self._at(join.end(), 3)
        if other is None or other[1].unit == "range" or other[1].bare:
            return in_calendar(self._to_day, end, reading) or one
        if join[0] in "-–—" and reading.unit == "year" and other[1].unit not in ("year", "day"):
            return one
        whole = in_calendar(calendar.from_to, reading, other[1])
        return one if whole is None else (other[0], whole)

    def _to_day(self, end: int, day: Reading) -> _Found | None:
        """`4 May to the 7th`: the range to another day of the month, or of the next where that is past it."""
        to = _TO_DAY.match(self.text, end)
        if to is None or day.unit != "day" or day.first is None:
            return None
        n = number(to[1])
        month = day.first if n > day.first.day else calendar.after_months(day.first.replace(day=1), 1)
        last = calendar.day_of(month.year, month.month, n)
        if last is None or last.first is None:
            return None
        return to.end(), replace(day, last=last.first, unit="range", month=0, open=False)

    # ---- one time

    def _at(self, start: int, depth: int) -> _Found | None:
        """The time that begins at `start`, with what stands behind it; deeper ones have words before them."""
        text = self.text
        for pattern, prefix in PREFIXES if depth else ():
            if (m := pattern.match(text, start)) and (inner := self._at(m.end(), depth - 1)):
                reading = in_calendar(prefix, m, inner[1], self.setting)
                if reading is not None:
                    return self._extended(inner[0], reading)
        for pattern, rule in RULES:
            if m := pattern.match(text, start):
                reading = in_calendar(rule, self, m)
                if reading is not None:
                    return self._extended(m.end(), reading) if depth else (m.end(), reading)
        return None

    def _extended(self, end: int, reading: Reading) -> _Found:
        """The time with one behind it that says more of it: `Wednesday next week`, `March of last year`."""
        if (behind := _BEHIND.match(self.text, end, end + 24)) is None:
            return end, reading
        other = self._at(behind.end(), 0)
        whole = in_calendar(self._joined, reading, other[1], behind[0]) if other else None
        return (other[0], whole) if other and whole else (end, reading)

    def _joined(self, a: Reading, b: Reading, between: str) -> Reading | None:
        link = re.sub(r"the|morning|afternoon|evening|night", "", between).strip()
        if a.first is None or b.first is None:
            return None
        if b.unit == "year" and a.open and link in ("", ",", "of", "in"):
            whole = calendar.in_year(a, b.first.year)
            return replace(whole, relative=b.relative) if whole else None
        if a.unit == "year" and b.unit == "quarter" and b.open:
            return calendar.nth_in(a, (b.first.month + 2) // 3, "quarter")
        if {a.unit, b.unit} == {"week", "weekday"} and not (a.part or b.part) and link in ("", ",", "of", "in", "on"):
            week, weekday = (a, b) if a.unit == "week" else (b, a)
            if week.first and weekday.first:
                return replace(a_day(calendar.weekday_of(week.first, weekday.first.weekday())), relative=week.relative)
        if b.unit == "month" and a.unit == "day" and not a.month and link == "of" and a.open:
            return calendar.day_of(b.first.year, b.first.month, a.first.day)
        if link not in ("", ",", "(", "on", ", on"):
            return None
        if a.unit == "weekday" and b.unit == "day":
            return calendar.with_weekday(b, a.first.weekday())
        if (b.unit == "weekday" and a.unit == "day" and not a.relative) or (b.unit == "weekday" and a.month):
            exact = calendar.with_weekday(a, b.first.weekday())
            return exact if not exact.flaw else None
        if a.unit == b.unit == "day" and a.relative and not a.open:
            return b if a.first == b.first or not self.setting.known else replace(b, flaw="contradictory")
        return None
