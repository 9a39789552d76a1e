"""The table `timelines`: events by entity, by community of the query graph and by site (Xinyu, section 3.6.2).

Needs whole tables: an event belongs to as many topics as it names. In memory are days, title and names of each event,
and the community of each chunk. A timeline whose events are those of last night is taken over.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from statistics import median_low
from typing import ClassVar, Final

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.events.leaders import documents_of
from quern.jobs.queries.rules.units import STOP_WORDS
from quern.jobs.text.names import display_name, name_key
from quern.schemas.digests import text_digest
from quern.schemas.settings import TimelineSettings
from quern.schemas.tables import TIMELINES, Table
from quern.schemas.words.scripts import CJK

_WORD: Final = re.compile(rf"[^\W\d_{CJK}]{{4,}}")
# Up to so many days between first and last event the unit is one that gives at most about thirty marks.
_SPREADS: Final = ((31, "day"), (210, "week"), (3 * 366, "month"), (8 * 366, "quarter"))
_UNITS: Final = ("day", "week", "month", "quarter", "year")
_UNIT_OF: Final = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "season": "quarter"}


def keywords(names: Iterable[str], titles: Sequence[str], topic: str, most: int) -> list[str]:
    """Names that several events share, then words that several titles share, commonest first, without the topic."""
    keys = set(name_key(topic).split())
    shared = [name for name, n in _ranked(Counter(names)) if n > 1 and not set(name_key(name).split()) <= keys]
    words = Counter(w for title in titles for w in {w.lower() for w in _WORD.findall(title)} - STOP_WORDS - keys)
    said = {part for name in shared for part in name_key(name).split()}
    rest = [word for word, n in _ranked(words) if n > 1 and word not in said]
    return [*shared, *rest][:most]


def _ranked(counted: Counter[str]) -> list[tuple[str, int]]:
    """Commonest first; of as common ones the first by alphabet, so that equal events give equal keywords."""
    return sorted(counted.items(), key=lambda known: (-known[1], known[0]))


def granularity(days: Sequence[date], precisions: Sequence[str]) -> str:
    """The unit, `day` to `year`: as the spread of the events asks, but no finer than half of their dates are."""
    spread = (max(days) - min(days)).days
    by_spread = next((unit for most, unit in _SPREADS if spread <= most), "year")
    exact = median_low(sorted(_UNITS.index(_UNIT_OF.get(p, "month" if p == "range" else "year")) for p in precisions))
    return _UNITS[max(_UNITS.index(by_spread), exact)]


@dataclass(frozen=True)
class Event:
    """An event as timelines are made of it."""

    event_id: str  # Its key.
    from_day: datetime  # First day.
    to_day: datetime  # Last day.
    precision: str  # Unit of its date.
    title: str  # What happened.
    entities: tuple[str, ...]  # Whom it names.
    chunk_id: str  # Chunk whose report was kept.
    documents: tuple[str, ...]  # Document of each report.

    @classmethod
    def read(cls, events: Stage) -> list[Event]:
        """The events in the order of their keys, so that equal tables give equal timelines."""
        columns = ["event_id", "from_day", "to_day", "precision", "title", "entities", "chunk_id"]
        found = []
        for batch in events.batches([*columns, "sources"]):
            rows = batch.select(columns).to_pylist()
            for row, documents in zip(rows, documents_of(batch.column("sources")), strict=True):
                found.append(cls(**row | {"entities": tuple(row["entities"]), "documents": tuple(documents)}))
        return sorted(found, key=lambda event: event.event_id)

    @property
    def place(self) -> tuple[datetime, datetime, str]:
        """Where it stands in the order of time: by its first day, the more exact first."""
        return (self.from_day, self.to_day, self.event_id)

    @property
    def fingerprint(self) -> str:
        """All that a timeline depends on of it: its key says the rest."""
        return "\x1f".join([self.event_id, str(len(self.documents)), *self.entities])


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
    incremental: ClassVar[bool] = True
    tables: ClassVar[tuple[Table, ...]] = (TIMELINES,)

    def configuration(self) -> Mapping[str, object]:
        """The settings."""
        return self.settings.results()

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """The timelines of the `events`, which `documents` give their sites, and `communities` theirs."""
        published = self.of_last_night(TIMELINES.name, run)
        batches = published.batches() if published else ()
        before = {row["timeline_id"]: row for batch in batches for row in batch.to_pylist()}
        written = computed = 0
        with run.writer(TIMELINES) as writer:
            for topic in self._topics(inputs):
                known = before.get(topic.timeline_id)
                same = known is not None and known["digest"] == topic.digest
                written, computed = written + 1, computed + (not same)
                if same and known:
                    writer.add(known)
                    continue
                events, titles = topic.events, [event.title for event in topic.events]
                named = [name for event in events for name in event.entities]
                words = keywords(named, titles, topic.name, self.settings.keywords)
                unit = granularity([e.from_day.date() for e in events], [e.precision for e in events])
                writer.add(
                    {
                        "timeline_id": topic.timeline_id,
                        "kind": topic.kind,
                        # Keywords stand for a community's name.
                        "topic": topic.name or ", ".join(words[:3]) or titles[0],
                        "keywords": words,
                        "granularity": unit,
                        "from_day": events[0].from_day,
                        "to_day": max(event.to_day for event in events),
                        "event_count": len(events),
                        "event_ids": [event.event_id for event in events],
                        "titles": titles,
                        "digest": topic.digest,
                    }
                )
        counts = Counts(inputs["events"].rows, written, written - computed, computed, 0)
        return Made((writer.stage(),), counts)

    def _topics(self, inputs: Mapping[str, Stage]) -> Iterator[Topic]:
        """All topics with events enough, each kind in the order of its keys."""
        # Chunk to its community of the coarsest level; a chunk that is alone in its community has none.
        columns = ["community_id", "level", "chunk_count", "chunk_ids"]
        rows = (row for batch in inputs["communities"].batches(columns) for row in batch.to_pylist())
        community = {
            chunk: row["community_id"]
            for row in rows
            if row["level"] == 0 and row["chunk_count"] > 1
            for chunk in row["chunk_ids"]
        }
        site_of = {
            doc: site
            for batch in inputs["documents"].batches(["doc_id", "site"])
            for doc, site in zip(*(column.to_pylist() for column in batch.columns), strict=True)
            if site
        }
        entities, chunks, sites = (defaultdict[str, list[Event]](list) for _ in range(3))
        forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for event in Event.read(inputs["events"]):
            keys = {key: name for name in reversed(event.entities) if (key := name_key(name))}
            for key, name in keys.items():
                entities[key].append(event)
                forms[key][name] += 1
            if event.chunk_id in community:
                chunks[community[event.chunk_id]].append(event)
            for site in {site_of[doc] for doc in event.documents if doc in site_of}:
                sites[site].append(event)
        for key, events in sorted(entities.items()):
            yield from self._topic("entity", key, display_name(forms[key]), events)
        for _, events in sorted(chunks.items()):
            yield from self._topic("community", "", "", events)
        for site, events in sorted(sites.items()):
            yield from self._topic("site", site, site, events)

    def _topic(self, kind: str, key: str, name: str, events: list[Event]) -> Iterator[Topic]:
        """The topic, if it has events enough; of too many those stay that most reports tell, then the most exact."""
        if len(events) < self.settings.least:
            return
        if len(events) > self.settings.most:
            events = sorted(events, key=lambda e: (-len(e.documents), e.to_day - e.from_day, e.place))[
                : self.settings.most
            ]
        yield Topic(kind, key, name, tuple(sorted(events, key=lambda e: e.place)))
