"""The table `timelines`: events by entity, by community of the query graph and by site (Xinyu, section 3.6.2).

Needs whole tables: an event belongs to as many topics as it names. In memory are days, title and names of each event,
and the community of each chunk. A timeline whose events are those of last night is taken over.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.events.leaders import documents_of
from quern.jobs.text.names import display_name, name_key
from quern.jobs.timelines.topics import granularity, keywords
from quern.schemas.digests import text_digest
from quern.schemas.settings import TimelineSettings
from quern.schemas.tables import TIMELINES, Table


@dataclass(frozen=True)
class Event:
    """An event as timelines are made of it."""

    event_id: str  # Its key.
    from_day: datetime  # First day.
    to_day: datetime  # Last day.
    precision: str  # Unit of its date.
    title: str  # What happened.
    entities: tuple[str, ...]  # Whom it names.
    sources: int  # How many reports there are of it.

    @property
    def place(self) -> tuple[datetime, datetime, str]:
        """Where it stands in the order of time: by its first day, the more exact first."""
        return (self.from_day, self.to_day, self.event_id)

    @property
    def fingerprint(self) -> str:
        """All that a timeline depends on of it: its key says the rest."""
        return "\x1f".join([self.event_id, str(self.sources), *self.entities])


@dataclass(frozen=True)
class Topic:
    """Events that have something in common."""

    kind: str  # What that is.
    key: str  # By which the topic is known; empty for a community, which its events make.
    name: str  # What it is called; empty for a community.
    events: tuple[Event, ...]  # The events, in the order of time.

    @property
    def timeline_id(self) -> str:
        """The key of its timeline."""
        members = [] if self.key else [event.event_id for event in self.events]
        return text_digest(self.kind, self.key, *members)[:20]

    @property
    def digest(self) -> str:
        """Digest of what its timeline depends on."""
        return text_digest(self.name, *(event.fingerprint for event in self.events))


@dataclass(frozen=True)
class BuildTimelines(TableJob):
    """The timelines of all topics that have events enough."""

    settings: TimelineSettings  # How many events and keywords they have.

    name: ClassVar[str] = "timelines"
    version: ClassVar[int] = 3

    @property
    def incremental(self) -> bool:
        """Timelines of last night are taken over where their events are the same."""
        return True

    @property
    def tables(self) -> tuple[Table, ...]:
        """`timelines`."""
        return (TIMELINES,)

    def configuration(self) -> Mapping[str, object]:
        """The settings."""
        return self.settings.results()

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """The timelines of the `events`, which `documents` give their sites, and `communities` theirs."""
        before = self._before(run)
        written = computed = 0
        with run.writer(TIMELINES) as writer:
            for topic in self._topics(inputs):
                known = before.get(topic.timeline_id)
                same = known is not None and known["digest"] == topic.digest
                writer.add(known if same and known else self._row(topic))
                written, computed = written + 1, computed + (not same)
        counts = Counts(inputs["events"].rows, written, written - computed, computed, 0)
        return Made((writer.stage(),), counts)

    def _before(self, run: Run) -> dict[str, dict[str, Any]]:
        """Last night's timelines by their keys, all in memory: if made in the same way, and as they were written."""
        published = self.of_last_night(TIMELINES.name, run)
        if published is None:
            return {}
        return {row["timeline_id"]: row for batch in published.batches() for row in batch.to_pylist()}

    def _row(self, topic: Topic) -> dict[str, Any]:
        events, most = topic.events, self.settings.keywords
        titles = [event.title for event in events]
        named = [name for event in events for name in event.entities]
        words = keywords(named, titles, topic.name, most)
        return {
            "timeline_id": topic.timeline_id,
            "kind": topic.kind,
            "topic": topic.name or ", ".join(words[:3]) or titles[0],  # Keywords that stand for a community's name.
            "keywords": words,
            "granularity": granularity([e.from_day.date() for e in events], [e.precision for e in events]),
            "from_day": events[0].from_day,
            "to_day": max(event.to_day for event in events),
            "event_count": len(events),
            "event_ids": [event.event_id for event in events],
            "titles": titles,
            "digest": topic.digest,
        }

    def _topics(self, inputs: Mapping[str, Stage]) -> Iterator[Topic]:
        """All topics with events enough, each kind in the order of its keys."""
        read = _read(inputs["events"])
        # Chunk to its community of the coarsest level; a chunk that is alone in its community has none.
        communities = inputs["communities"]
        columns = ["community_id", "level", "chunk_count", "chunk_ids"]
        rows = (row for batch in communities.batches(columns) for row in batch.to_pylist())
        community = {
            chunk: row["community_id"]
            for row in rows
            if row["level"] == 0 and row["chunk_count"] > 1
            for chunk in row["chunk_ids"]
        }
        yield from self._by_entity(read)
        chunks: defaultdict[str, list[Event]] = defaultdict(list)
        sites: defaultdict[str, list[Event]] = defaultdict(list)
        site_of = {
            doc: site
            for batch in inputs["documents"].batches(["doc_id", "site"])
            for doc, site in zip(*(column.to_pylist() for column in batch.columns), strict=True)
            if site
        }
        for one in read:
            if one.chunk in community:
                chunks[community[one.chunk]].append(one.event)
            for site in {site_of[doc] for doc in one.documents if doc in site_of}:
                sites[site].append(one.event)
        for _, events in sorted(chunks.items()):
            yield from self._topic("community", "", "", events)
        for site, events in sorted(sites.items()):
            yield from self._topic("site", site, site, events)

    def _by_entity(self, read: list[_Read]) -> Iterator[Topic]:
        events: defaultdict[str, list[Event]] = defaultdict(list)
        forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one in read:
            keys = {key: name for name in reversed(one.event.entities) if (key := name_key(name))}
            for key, name in keys.items():
                events[key].append(one.event)
                forms[key][name] += 1
        for key in sorted(events):
            yield from self._topic("entity", key, display_name(forms[key]), events[key])

    def _topic(self, kind: str, key: str, name: str, events: list[Event]) -> Iterator[Topic]:
        """The topic, if it has events enough; of too many those stay that most reports tell, then the most exact."""
        if len(events) < self.settings.least:
            return
        if len(events) > self.settings.most:
            events = sorted(events, key=lambda e: (-e.sources, e.to_day - e.from_day, e.place))[: self.settings.most]
        yield Topic(kind, key, name, tuple(sorted(events, key=lambda e: e.place)))


@dataclass(frozen=True)
class _Read:
    """An event and what its topics are found by."""

    event: Event  # The event.
    chunk: str  # Chunk whose report was kept.
    documents: tuple[str, ...]  # Documents of all reports.


def _read(events: Stage) -> list[_Read]:
    """The events in the order of their keys, so that equal tables give equal timelines."""
    columns = ["event_id", "from_day", "to_day", "precision", "title", "entities"]
    found = []
    for batch in events.batches([*columns, "chunk_id", "sources"]):
        rows = batch.select(columns).to_pylist()
        told = documents_of(batch.column("sources"))
        for row, chunk, documents in zip(rows, batch.column("chunk_id").to_pylist(), told, strict=True):
            event = Event(**{**row, "entities": tuple(row["entities"]), "sources": len(documents)})
            found.append(_Read(event, chunk, tuple(dict.fromkeys(documents))))
    return sorted(found, key=lambda one: one.event.event_id)
