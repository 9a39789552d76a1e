"""A timeline as an SVG file for a document: a strip to scale over the list of its events, readable without a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from quern.indexes.catalog import Snapshot
from quern.pipelines.answers.views.labels import wrapped
from quern.pipelines.answers.views.report import page_environment
from quern.pipelines.timelines.page import Entry, entries_of, units_of
from quern.schemas.timelines import Timeline
from quern.schemas.words.calendar import MONTHS
from quern.schemas.words.lines import one_line

# In SVG units.
_WIDTH: Final = 760
_LEFT: Final = 210
_TITLE: Final = _WIDTH - _LEFT - 10
_SIZE, _LINE = 13, 18
_LANE, _MOST_LANES = 14, 8
_MOST_LINES: Final = 3
_MONTHS: Final = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000)  # Steps of the scale.


@dataclass(frozen=True)
class Mark:
    """An event on the scale: a point for a day, a span with soft ends for what is vaguer."""

    entry: Entry
    x: float
    y: float
    width: float


@dataclass(frozen=True)
class Tick:
    """A line of the scale with its date."""

    x: float
    label: str


@dataclass(frozen=True)
class Row:
    """A line of the list: the heading of a unit, or an event with the lines of its title."""

    y: float
    heading: str = ""
    entry: Entry | None = None
    lines: Sequence[str] = ()
    date_lines: Sequence[str] = ()

    @property
    def href(self) -> str | None:
        """The address of the page that is quoted, if a reader may follow it."""
        return next((r.href for r in self.entry.reports if r.href), None) if self.entry else None


@dataclass(frozen=True)
class TimelinePicture:
    """The strip, the list and what both say in words."""

    topic: str
    summary: str
    height: float
    scale_bottom: float
    marks: Sequence[Mark]
    ticks: Sequence[Tick]
    rows: Sequence[Row]
    heading: Sequence[str]
    width: int = _WIDTH
    left: int = _LEFT


def timeline_picture(timeline: Timeline, snapshot: Snapshot) -> str:
    """The SVG file as text."""
    entries = entries_of(timeline, snapshot)
    return page_environment().get_template("timeline.svg.j2").render(picture=_picture(timeline, entries))


def _picture(timeline: Timeline, entries: Sequence[Entry]) -> TimelinePicture:
    heading = wrapped(timeline.topic, _WIDTH, 2, 22)
    top = 26.0 * len(heading) + 22
    marks = _marks(entries, top)
    ticks = _ticks(entries)
    bottom = max((mark.y for mark in marks), default=top) + 34
    rows, height = _rows(timeline, entries, bottom + 12)
    told = "; ".join(f"{entry.words}: {one_line(entry.event.title)}" for entry in entries)
    count = f"{len(entries)} {'event' if len(entries) == 1 else 'events'} in the order of time"
    summary = f"{count}. {told}." if entries else "No events."
    return TimelinePicture(one_line(timeline.topic), summary, height, bottom, marks, ticks, rows, heading)


def _bounds(entries: Sequence[Entry]) -> tuple[float, float]:
    """The ends of the scale, as days; there is some room beside the events."""
    first = min(entry.event.from_day.toordinal() for entry in entries)
    last = max(entry.event.to_day.toordinal() + 1 for entry in entries)
    room = max(1.0, (last - first) * 0.04)
    return first - room, last + room


def _marks(entries: Sequence[Entry], top: float) -> list[Mark]:
    if not entries:
        return []
    first, last = _bounds(entries)
    ends: list[float] = []
    found = []
    for entry in entries:
        start, end = (
            (day - first) / (last - first) * _WIDTH
            for day in (entry.event.from_day.toordinal(), entry.event.to_day.toordinal() + 1)
        )
        # Soft ends of a span need room.
        width = max(18, end - start) if entry.vague else 12
        x = (start + end - width) / 2
        lane = next((n for n, taken in enumerate(ends) if taken < x - 2), len(ends))
        if lane == _MOST_LANES:  # Where all are taken, in the one that is free first.
            lane = ends.index(min(ends))
        ends[lane : lane + 1] = [x + width]
        found.append(Mark(entry, x, top + _LANE * lane, width))
    return found


def _ticks(entries: Sequence[Entry]) -> list[Tick]:
    """Some ten lines of the scale, on days or on first days of months; the first one and Januaries tell the year."""
    if not entries:
        return []
    first, last = _bounds(entries)
    start, end = (date.fromordinal(int(min(max(day, 1), date.max.toordinal()))) for day in (first, last))
    wanted = (last - first) / 9
    if by_days := wanted < 16:
        step = next((step for step in (1, 2, 7, 14) if step >= wanted), 14)
        numbers = range(-(-start.toordinal() // step) * step, end.toordinal() + 1, step)
        days = [date.fromordinal(n) for n in numbers if n >= first]
    else:
        step = next((step for step in _MONTHS if step * 30.4 >= wanted), _MONTHS[-1])
        from_month, to_month = (12 * day.year + day.month - 1 for day in (start, end))
        months = range(-(-from_month // step) * step, to_month + 1, step)
        days = [day for m in months if (day := date(m // 12, m % 12 + 1, 1)).toordinal() >= first]
    ticks = []
    for n, day in enumerate(days):
        month, year = MONTHS[day.month - 1][:3], f" {day.year}" if n == 0 else ""
        label = f"{day.day} {month}{year}" if by_days else str(day.year) if day.month == 1 else f"{month}{year}"
        ticks.append(Tick((day.toordinal() - first) / (last - first) * _WIDTH, label))
    return ticks


def _rows(timeline: Timeline, entries: Sequence[Entry], top: float) -> tuple[list[Row], float]:
    y = top
    rows = []
    for unit in units_of(timeline, entries):
        y += 26
        rows.append(Row(y, heading=unit.name))
        y += 8
        for entry in unit.entries:
            mark = f" ({', '.join(entry.marks)})" if entry.marks else ""
            lines = wrapped(entry.event.title, _TITLE, _MOST_LINES, _SIZE)
            dates = wrapped(entry.words + mark, _LEFT - 34, _MOST_LINES, _SIZE)
            rows.append(Row(y + _LINE - 4, entry=entry, lines=lines, date_lines=dates))
            y += _LINE * max(len(lines), len(dates)) + 8
    return rows, y + 16
