"""The events of a snapshot as a search reads them: by the chunks that report them, and by their days."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog.folder import Snapshot
from quern.indexes.graph.structure import read_columns
from quern.jobs.text.plain_text import publication
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.errors import QuernError
from quern.schemas.tables import EVENTS
from quern.schemas.timelines import TimelineEvent, TimelineSource

_COLUMNS: Final = ["event_id", "sources", "entities"]
_DOCUMENT: Final = ["doc_id", "url", "title", "site", "site_name", "published_at", "utc_offset"]
_SHOWN: Final = [name for name in EVENTS.schema.names if name not in ("vector", "chunk_id", "doc_id", "start", "end")]


class NoEventsError(QuernError):
    """A snapshot that has no table of events; the message says what to do."""


# Of the chunks that report each of some events: whether the event may be told.
Held = Callable[[pa.ListArray], npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class _Days:
    """When each event was: its key, its first and last day, and the chunks that report it."""

    keys: pa.StringArray
    starts: npt.NDArray[np.datetime64]
    ends: npt.NDArray[np.datetime64]
    chunks: pa.ListArray


@dataclass(frozen=True)
class EventIndex:
    """Keys, sources and days of a snapshot's events; some 300 bytes of memory an event."""

    snapshot: Snapshot

    @cached_property
    def _rows(self) -> pa.Table:
        if EVENTS.name not in self.snapshot.manifest.tables:
            raise NoEventsError(
                f"snapshot {self.snapshot.manifest.build_id} has no events: it was built before there were; build again"
            )
        return read_columns(self.snapshot.table(EVENTS.name), _COLUMNS).combine_chunks()

    @cached_property
    def _of_chunk(self) -> dict[str, list[str]]:
        sources = self._rows["sources"].combine_chunks()
        sizes = np.diff(sources.offsets.to_numpy())
        events = self._rows["event_id"].to_pylist()
        found: defaultdict[str, list[str]] = defaultdict(list)
        chunks = sources.flatten().field("chunk_id").to_pylist()
        for chunk, at in zip(chunks, np.repeat(np.arange(len(events)), sizes).tolist(), strict=True):
            found[chunk].append(events[at])
        return dict(found)

    def of_chunks(self, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """Keys of the events that each chunk reports, in no particular order."""
        return {chunk: self._of_chunk[chunk] for chunk in chunk_ids if chunk in self._of_chunk}

    @cached_property
    def _days(self) -> _Days:
        table = read_columns(self.snapshot.table(EVENTS.name), ["event_id", "from_day", "to_day", "sources"])
        sources = table["sources"].combine_chunks()
        starts, ends = (table[name].to_numpy().astype("datetime64[D]") for name in ("from_day", "to_day"))
        chunks = pa.ListArray.from_arrays(sources.offsets, sources.values.field("chunk_id"))
        return _Days(table["event_id"].combine_chunks(), starts, ends, chunks)

    def within(self, first: date | None, last: date | None, most: int, held: Held | None = None) -> list[str]:
        """Keys of the events of these days, `most` of them: those with most reports, of equals evenly over time.

        An event of a longer time than that asked for is none of it, nor is one of which `held` says so.
        """
        days = self._days
        inside = np.ones(len(days.keys), dtype=np.bool_)
        if first is not None:
            inside &= days.starts >= np.datetime64(first)
        if last is not None:
            inside &= days.ends <= np.datetime64(last)
        rows = np.flatnonzero(inside)
        if held is not None:
            rows = rows[held(days.chunks.take(pa.array(rows)))]
        ids: list[str] = days.keys.take(pa.array(rows)).to_pylist()
        if len(rows) <= most:
            return ids
        reports = pc.list_value_length(days.chunks.take(pa.array(rows))).to_numpy(zero_copy_only=False)
        order = np.lexsort((np.array(ids), days.ends[rows], days.starts[rows], -reports))
        least = reports[order[most - 1]]
        more, equal = order[reports[order] > least], order[reports[order] == least]
        spread = equal[np.linspace(0, len(equal) - 1, most - len(more)).round().astype(np.int64)]
        return [ids[n] for n in np.concatenate([more, spread])]

    def load(self, event_ids: Sequence[str]) -> list[TimelineEvent]:
        """The events of these keys, in the order of time, with the addresses of their reports."""
        rows = self.snapshot.table(EVENTS.name).lookup("event_id", sorted(set(event_ids)), _SHOWN).to_pylist()
        documents = sorted({source["doc_id"] for row in rows for source in row["sources"]})
        of = self.snapshot.table("documents").lookup("doc_id", documents, _DOCUMENT).to_pylist()
        known = {row["doc_id"]: row for row in of}
        return sorted((_event(row, known) for row in rows), key=lambda event: event.place)


def events_of(searcher: Searcher) -> EventIndex:
    """The events of a searcher's snapshot, read once."""
    return searcher.held(_index)


def _index(searcher: Searcher) -> EventIndex:
    return EventIndex(searcher.snapshot)


def _event(row: dict[str, Any], documents: dict[str, dict[str, Any]]) -> TimelineEvent:
    sources = [_source(source, documents.get(source["doc_id"], {})) for source in row["sources"]]
    days = {"from_day": row["from_day"].date(), "to_day": row["to_day"].date()}
    offset = documents.get(row["sources"][0]["doc_id"], {}).get("utc_offset")
    published = publication({"published_at": row["published_at"], "utc_offset": offset})
    return TimelineEvent(**{**row, **days, "published_at": published, "sources": sources})


def _source(source: dict[str, Any], document: dict[str, Any]) -> TimelineSource:
    return TimelineSource(
        chunk_id=source["chunk_id"],
        doc_id=source["doc_id"],
        url=document.get("url"),
        title=document.get("title"),
        site=document.get("site_name") or document.get("site"),
        published_at=publication(document) if document else None,
        start=source["start"],
        end=source["end"],
    )
