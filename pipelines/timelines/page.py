"""A timeline as one HTML page that needs nothing beside it, in the look of the report; hostile texts change nothing.

Each event has its reports, each with the sentence that tells it marked in what stands around it. Without its script
the page is a list in the order of time; with it, a strip to scale stands above that.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Final

from markupsafe import Markup

from quern.indexes.catalog import Snapshot
from quern.indexes.storage import write_text
from quern.jobs.text.date_words import date_words
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
    href: str | None  # The address of its page, if a reader may follow it.
    passage: Markup


@dataclass(frozen=True)
class Entry:
    """An event as a page shows it."""

    id: str
    event: TimelineEvent
    words: str  # Its date in words, in the language of its title.
    when: str  # For the script: its first and last day since 1970, and whether the date is sure.
    marks: Sequence[str]  # What a reader should know of its date.
    reports: Sequence[Report]


def entries_of(timeline: Timeline, snapshot: Snapshot) -> list[Entry]:
    """The events with what their pages say; one whose sentence its page does not have is left out, as an error."""
    keys = sorted({source.doc_id for event in timeline.events for source in event.sources})
    rows = snapshot.table("documents").lookup("doc_id", keys, ["doc_id", "text"]).to_pylist()
    texts: dict[str, str] = {row["doc_id"]: row["text"] for row in rows}
    entries = []
    for number, event in enumerate(timeline.events, 1):
        first = event.sources[0]
        if texts.get(first.doc_id, "")[first.start : first.end] != event.summary:
            log.error("gate=timeline event_id=%s dropped: its document does not have its sentence", event.event_id)
            continue
        reports = []
        for source in event.sources:
            text, start, end = texts.get(source.doc_id, ""), source.start, source.end
            if not 0 <= start < end <= len(text):
                continue
            # What stands around the sentence, from a word on and up to one, with the sentence marked.
            before, after = max(0, start - _CONTEXT), min(len(text), end + _CONTEXT)
            before = text.find(" ", before, start) + 1 if before and " " in text[before:start] else before
            after = text.rfind(" ", end, after) if after < len(text) and " " in text[end:after] else after
            shown = printable(text)
            parts = ("… " if before else "", shown[before:start], shown[start:end], shown[end:after])
            dots = " …" if after < len(text) else ""
            passage = Markup("{}{}<mark>{}</mark>{}{}").format(*parts, dots)
            reports.append(Report(source, web_address(source.url), passage))
        chinese = HAN_CHARACTER.search(event.title) is not None
        words = date_words(event.timex, event.from_day, event.to_day, chinese=chinese)
        by_report = event.date_from == "document"
        days = [(day - _EPOCH).days for day in (event.from_day, event.to_day)]
        when = f"{days[0]},{days[1]},{event.expected + 2 * by_report}"
        marks = [mark for mark, holds in (("expected", event.expected), ("date of its report", by_report)) if holds]
        entries.append(Entry(f"e{number}", event, words, when, marks, reports))
    return entries


def write_timeline(timeline: Timeline, snapshot: Snapshot, path: Path) -> None:
    """Write the page to the file at `path`: events by month where the timeline is one of days or weeks, else by year.

    Raises:
        TimelineError: Its name does not end in .html, or it cannot be written.
    """
    if path.suffix != ".html":
        raise TimelineError(f"--html {path}: name a file that ends in .html")
    by_month = timeline.granularity in ("day", "week")

    def unit(entry: Entry) -> str:
        first = entry.event.from_day
        return f"{MONTHS[first.month - 1]} {first.year}" if by_month else str(first.year)

    environment = page_environment()
    entries = entries_of(timeline, snapshot)
    page = environment.get_template("timeline.html.j2").render(
        timeline=timeline,
        units=[(name, list(group)) for name, group in groupby(entries, key=unit)],
        entries=entries,
        **inlined(environment, ["report.css.j2"], "timeline_page.js"),
    )
    try:
        write_text(path, page.rstrip("\n") + "\n")
    except OSError as error:
        raise TimelineError(f"--html {path} cannot be written: {error.strerror}") from error
