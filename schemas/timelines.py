"""What a timeline is as it is given to people and programs: events in the order of time, each with its sources."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TimelineSource(BaseModel):
    """A report of an event: `documents.text[start:end]` of its document is the sentence that tells it."""

    model_config = ConfigDict(frozen=True)

    chunk_id: str  # The chunk.
    doc_id: str  # The document.
    url: str | None = None  # Its address, if it has one.
    title: str | None = None  # Its title.
    site: str | None = None  # Its site, as that calls itself, else by host name; if known.
    published_at: datetime | None = None  # When it was published, if known.
    start: int  # First character of the sentence in the document's text.
    end: int  # One past the last.


class TimelineEvent(BaseModel):
    """An event of a timeline."""

    model_config = ConfigDict(frozen=True)

    event_id: str  # Its key in the table `events`.
    timex: str  # When, as a TIMEX value.
    from_day: date  # The first day meant.
    to_day: date  # The last.
    precision: str  # Unit of the date: `day` is precise, others are vague.
    date_from: Literal["text", "document"]  # `text`, or `document` where the report's own date was taken.
    expected: bool  # Whether it was yet to come when it was told.
    title: str  # What happened, in a few words.
    summary: str  # The sentence that tells it, as on the page.
    entities: list[str] = Field(default_factory=list)  # Names of those that its reports name.
    published_at: datetime | None = None  # Publication time of the report.
    score: float = 0.0  # How well it fits what was asked; higher is better, only the order counts.
    sources: list[TimelineSource] = Field(default_factory=list)  # All its reports, the one quoted first.

    @property
    def place(self) -> tuple[date, date, str]:
        """Where it stands in the order of time: by its first day, the more exact first."""
        return (self.from_day, self.to_day, self.event_id)


class Timeline(BaseModel):
    """Events of a topic, an entity or a span of days, in the order of time."""

    model_config = ConfigDict(frozen=True)

    topic: str  # What was asked for; the name of an entity in its commonest form.
    # `topic`, `entity` where it is a name that events have, or `span` where nothing but days was asked for.
    kind: Literal["topic", "entity", "span"]
    snapshot: str  # The snapshot that it is of.
    keywords: list[str] = Field(default_factory=list)  # What the events name and say most.
    granularity: str | None = None  # Unit that suits their spread; null where there are none.
    events: list[TimelineEvent] = Field(default_factory=list)  # The events.
    # Where there are none, names of entities that are spelt like the one that was asked for.
    near: list[str] = Field(default_factory=list)
