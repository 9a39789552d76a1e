"""Table `found_events`: what each chunk reports to have happened, before reports of one event are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any, ClassVar, Final, Literal

import pyarrow as pa

from quern.jobs.core.contract import Outcome, Reject, outcome
from quern.jobs.events.dating import LEAD
from quern.jobs.events.passage import Passage
from quern.jobs.events.rule import Report, read_reports
from quern.jobs.events.task import ChunkEvents, EventInput, event_task, report_of
from quern.jobs.events.timex import period
from quern.jobs.tasks.table import TaskJob
from quern.jobs.tasks.task import Task
from quern.jobs.text.plain_text import publication
from quern.schemas.contract.table import Table
from quern.schemas.digests import text_digest
from quern.schemas.settings import EventSettings, GeneratorSettings
from quern.schemas.tables import EVENTS
from quern.schemas.words import sentences

FOUND_EVENTS: Final = Table("found_events", EVENTS.key, EVENTS.without("sources", "vector").schema)


@dataclass(frozen=True)
class FindEvents(TaskJob[EventInput, ChunkEvents]):
    """The events of each chunk, by rule or by a model."""

    settings: EventSettings = field(default_factory=EventSettings)  # How many, and how long their titles are.
    generator: GeneratorSettings = field(default_factory=GeneratorSettings)  # What finds them.

    name: ClassVar[str] = "find_events"
    version: ClassVar[int] = 7
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("chunk_id", "doc_id", "text", "start", "title", "published_at", "utc_offset")
    key: ClassVar[str] = "chunk_id"

    @property
    def makes(self) -> Table:
        """`events` without what merging and embedding add."""
        return FOUND_EVENTS

    @property
    def task(self) -> Task[EventInput, ChunkEvents]:
        """Finding events with these settings."""
        return event_task(self.settings.per_chunk, self.settings.title_words)

    def configuration(self) -> Mapping[str, object]:
        """How many events, and what finds them; of a model also the prompt."""
        kept = {"per_chunk": self.settings.per_chunk, "title_words": self.settings.title_words, "lead": LEAD}
        return {**kept, "sentences": sentences.VERSION, **self.task.configuration(self.generator)}

    def inputs(self, rows: Sequence[Mapping[str, Any]]) -> list[EventInput]:
        """Text, title and date of each chunk."""
        return [EventInput(passage_of(row)) for row in rows]

    def made(self, row: Mapping[str, Any], output: ChunkEvents) -> list[dict[str, object]]:
        """A row for each event."""
        passage = passage_of(row)
        return [self._row(row, report_of(passage, event, self.settings.title_words)) for event in output.events]

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """What the rule finds in each chunk; events without any date are counted as `no_date`."""
        made: list[dict[str, object]] = []
        parents: list[int] = []
        rejects: list[Reject] = []
        # Python per row: regular expressions over its sentences.
        for n, (row, given) in enumerate(zip(*self.given(batch), strict=True)):
            found = read_reports(given.passage, self.settings.per_chunk, self.settings.title_words)
            made += [self._row(row, report) for report in found.reports]
            parents += [n] * len(found.reports)
            if found.undated:
                detail = f"{found.undated} sentences tell an event, and neither they nor the document say when"
                rejects.append(Reject(n, "no_date", detail))
        return outcome(self.makes, made, parents, rejects)

    def _row(self, chunk: Mapping[str, Any], report: Report) -> dict[str, object]:
        sentence, dating = report.sentence, report.dating
        days = period(dating.timex)
        if days is None:
            raise ValueError(f"{dating.timex!r} is no TIMEX value")
        row: dict[str, object] = {
            "chunk_id": chunk["chunk_id"],
            "doc_id": chunk["doc_id"],
            "start": chunk["start"] + sentence.start,
            "end": chunk["start"] + sentence.end,
            "from_day": _midnight(days.from_day),
            "to_day": _midnight(days.to_day),
            "precision": days.precision,
            "timex": dating.timex,
            "date_from": dating.date_from,
            "expected": dating.expected,
            "title": report.title,
            "summary": sentence.text,
            "entities": list(report.entities),
            "published_at": chunk["published_at"],
        }
        return {"event_id": text_digest(*(str(value) for value in row.values()))[:20], **row}


def find_events(settings: EventSettings, generator: GeneratorSettings) -> FindEvents:
    """The job with these settings: by the rule, unless a model is wanted for events too."""
    return FindEvents(settings, generator if settings.by_model else GeneratorSettings())


def passage_of(chunk: Mapping[str, Any]) -> Passage:
    """A chunk as events are found in it."""
    published = publication(chunk)
    return Passage(chunk["text"], chunk["title"] or "", published.date() if published else None, chunk["start"])


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
