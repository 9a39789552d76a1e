"""What a timeline is as it is given to people and programs: events in the order of time, each with its sources."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TimelineSource(BaseModel):
    """A report of an event: `documents.text[start:end]` of its document is the sentence that tells it.

    Attributes:
        chunk_id: The chunk.
        doc_id: The document.
        url: Its address, if it has one.
        title: Its title.
        site: Its site, as that calls itself, else by host name; if known.
        published_at: When it was published, if known.
        start: First character of the sentence in the document's text.
        end: One past the last.
    """

    model_config = ConfigDict(frozen=True)

    chunk_id: str
    doc_id: str
    url: str | None = None
    title: str | None = None
    site: str | None = None
    published_at: datetime | None = None
    start: int
    end: int


class TimelineEvent(BaseModel):
    """An event of a timeline.

    Attributes:
        event_id: Its key in the table `events`.
        timex: When, as a TIMEX value.
        from_day: The first day meant.
        to_day: The last.
        precision: Unit of the date: `day` is precise, others are vague.
        date_from: `text`, or `document` where the report's own date was taken.
        expected: Whether it was yet to come when it was told.
        title: What happened, in a few words.
        summary: The sentence that tells it, as on the page.
        entities: Names of those that its reports name.
        published_at: Publication time of the report.
        score: How well it fits what was asked; higher is better, only the order counts.
        sources: All its reports, the one quoted first.
    """

    model_config = ConfigDict(frozen=True)

    event_id: str
    timex: str
    from_day: date
    to_day: date
    precision: str
    date_from: Literal["text", "document"]
    expected: bool
    title: str
    summary: str
    entities: list[str] = Field(default_factory=list)
    published_at: datetime | None = None
    score: float = 0.0
    sources: list[TimelineSource] = Field(default_factory=list)

    @property
    def place(self) -> tuple[date, date, str]:
        """Where it stands in the order of time: by its first day, the more exact first."""
        return (self.from_day, self.to_day, self.event_id)


class Timeline(BaseModel):
    """Events of a topic, an entity or a span of days, in the order of time.

    Attributes:
        topic: What was asked for; the name of an entity in its commonest form.
        kind: `topic`, `entity` where it is a name that events have, or `span` where nothing but days was asked for.
        snapshot: The snapshot that it is of.
        keywords: What the events name and say most.
        granularity: Unit that suits their spread; null where there are none.
        events: The events.
        near: Where there are none, names of entities that are spelt like the one that was asked for.
    """

    model_config = ConfigDict(frozen=True)

    topic: str
    kind: Literal["topic", "entity", "span"]
    snapshot: str
    keywords: list[str] = Field(default_factory=list)
    granularity: str | None = None
    events: list[TimelineEvent] = Field(default_factory=list)
    near: list[str] = Field(default_factory=list)
