"""A timeline as one HTML page that needs nothing beside it, in the look of the report; hostile texts change nothing.

Each event has its reports, each with the sentence that tells it marked in what stands around it. Without its script
the page is a list in the order of time; with it, a strip to scale stands above that.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from pathlib import Path
from typing import Final

from markupsafe import Markup

from quern.indexes.catalog import Snapshot
from quern.indexes.storage import write_text
from quern.jobs.text.date_words import date_words
from quern.jobs.text.plain_text import publication
from quern.pipelines.answers.views.passages import web_address
from quern.pipelines.answers.views.report import inlined, page_environment
from quern.pipelines.timelines.query import TimelineError
from quern.schemas.timelines import Timeline, TimelineEvent, TimelineSource
from quern.schemas.words.calendar import MONTHS
from quern.schemas.words.lines import printable
from quern.schemas.words.scripts import HAN_CHARACTER

log = logging.getLogger(__name__)

_CONTEXT: Final = 240  # Characters of the page on each side of a sentence.
_EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True)
class Report:
    """A report of an event: what its page says, with the sentence that tells the event marked."""

    source: TimelineSource
    published_at: datetime | None
    passage: Markup

    @property
    def href(self) -> str | None:
        """The address of its page, if a reader may follow it."""
        return web_address(self.source.url)


@dataclass(frozen=True)
class Entry:
    """An event as a page shows it."""

    id: str
    event: TimelineEvent
    reports: Sequence[Report]

    @property
    def words(self) -> str:
        """Its date in words, in the language of its title."""
        event = self.event
        return date_words(
            event.timex, event.from_day, event.to_day, chinese=HAN_CHARACTER.search(event.title) is not None
        )

    @property
    def vague(self) -> bool:
        """Whether its date is more than a day."""
        return self.event.to_day > self.event.from_day

    @property
    def when(self) -> str:
        """For the script: its first and last day since 1970, and whether the date is sure."""
        first, last = ((day - _EPOCH).days for day in (self.event.from_day, self.event.to_day))
        return f"{first},{last},{self.event.expected + 2 * (self.event.date_from == 'document')}"

    @property
    def marks(self) -> list[str]:
        """What a reader should know of its date."""
        marks = {"expected": self.event.expected, "date of its report": self.event.date_from == "document"}
        return [mark for mark, holds in marks.items() if holds]


@dataclass(frozen=True)
class Unit:
    """The events of a month or of a year."""

    name: str
    entries: Sequence[Entry]


def entries_of(timeline: Timeline, snapshot: Snapshot) -> list[Entry]:
    """The events with what their pages say; one whose sentence its page does not have is left out, as an error."""
    keys = sorted({source.doc_id for event in timeline.events for source in event.sources})
    columns = ["doc_id", "text", "published_at", "utc_offset"]
    rows = snapshot.table("documents").lookup("doc_id", keys, columns).to_pylist()
    documents = {row["doc_id"]: row for row in rows}
    entries = []
    for number, event in enumerate(timeline.events, 1):
        first = event.sources[0]
        if documents.get(first.doc_id, {"text": ""})["text"][first.start : first.end] != event.summary:
            log.error("gate=timeline event_id=%s dropped: its document does not have its sentence", event.event_id)
            continue
        reports = []
        for source in event.sources:
            row = documents.get(source.doc_id)
            text, start, end = row["text"] if row else "", source.start, source.end
            if row is None or not 0 <= start < end <= len(text):
                continue
            # What stands around the sentence, from a word on and up to one, with the sentence marked.
            before, after = max(0, start - _CONTEXT), min(len(text), end + _CONTEXT)
            before = text.find(" ", before, start) + 1 if before and " " in text[before:start] else before
            after = text.rfind(" ", end, after) if after < len(text) and " " in text[end:after] else after
            shown = printable(text)
            parts = ("… " if before else "", shown[before:start], shown[start:end], shown[end:after])
            dots = " …" if after < len(text) else ""
            passage = Markup("{}{}<mark>{}</mark>{}{}").format(*parts, dots)
            reports.append(Report(source, publication(row), passage))
        entries.append(Entry(f"e{number}", event, reports))
    return entries


def units_of(timeline: Timeline, entries: Sequence[Entry]) -> list[Unit]:
    """The events by month where the timeline is one of days or weeks, else by year."""
    by_month = timeline.granularity in ("day", "week")

    def name(entry: Entry) -> str:
        first = entry.event.from_day
        return f"{MONTHS[first.month - 1]} {first.year}" if by_month else str(first.year)

    return [Unit(unit, list(group)) for unit, group in groupby(entries, key=name)]


def timeline_page(timeline: Timeline, snapshot: Snapshot) -> str:
    """The page."""
    environment = page_environment()
    entries = entries_of(timeline, snapshot)
    return environment.get_template("timeline.html.j2").render(
        timeline=timeline,
        units=units_of(timeline, entries),
        entries=entries,
        **inlined(environment, ["report.css.j2"], "timeline_page.js"),
    )


def write_timeline(page: str, path: Path) -> None:
    """Write a page to the file at `path`.

    Raises:
        TimelineError: Its name does not end in .html, or it cannot be written.
    """
    if path.suffix != ".html":
        raise TimelineError(f"--html {path}: name a file that ends in .html")
    try:
        write_text(path, page.rstrip("\n") + "\n")
    except OSError as error:
        raise TimelineError(f"--html {path} cannot be written: {error.strerror}") from error
