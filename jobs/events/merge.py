"""The tables `embedded_events` and `events`: reports of one event as one row, the first kept, with all its sources.

Needs the whole table of reports: their days, and their vectors in a memory-mapped file of the build's work directory.
In memory are some 150 bytes a report, and the rows of those that were merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import cached_property, partial
from itertools import chain, islice
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.disk import mapped
from quern.indexes.keys import KeyPlaces
from quern.indexes.stages import Stage
from quern.indexes.vectors import Positions, vector_matrix
from quern.jobs.core.contract import Computed, Counts, Made, View
from quern.jobs.core.run import Run, TableJob
from quern.jobs.events.leaders import NEW, Dated, Led, lead
from quern.jobs.text.search_form import SearchForm
from quern.jobs.vectors.embed import AddVectors, Embed, dimension
from quern.schemas.settings import EmbedSettings, EventSettings, NormaliseSettings
from quern.schemas.tables import EVENTS, Table
from quern.schemas.tables.events import SOURCE

_DAY_US: Final = 86_400_000_000
_SOURCE: Final = ("event_id", "chunk_id", "doc_id", "start", "end")
EMBEDDED_EVENTS: Final = Table("embedded_events", EVENTS.key, EVENTS.without("sources").schema)


def event_texts(events: Stage, form: SearchForm) -> View:
    """`title summary` of each event, as it is searched (Xinyu, section 3.6.2)."""
    return View(events, ("text",), events.rows, {"text": Computed(("title", "summary"), partial(_searched, form=form))})


def _searched(events: pa.RecordBatch, form: SearchForm) -> pa.Array:
    return form.column(pc.binary_join_element_wise(events.column("title"), events.column("summary"), " "))


def embedded_events(settings: EmbedSettings, normalise: NormaliseSettings) -> AddVectors:
    """The events found, each with the vector of its title and summary, by which reports of one event are told."""
    return AddVectors(settings, EMBEDDED_EVENTS, event_texts, normalise)


@dataclass(frozen=True)
class MergeEvents(TableJob):
    """Reports of one event made one row."""

    settings: EventSettings  # From which cosine on reports are of one event.
    embedding: EmbedSettings  # What made their vectors.

    name: ClassVar[str] = "merge_events"
    version: ClassVar[int] = 1
    incremental: ClassVar[bool] = True

    @cached_property
    def _embed(self) -> Embed:
        return Embed(self.embedding)

    @property
    def tables(self) -> tuple[Table, ...]:
        """`events`."""
        return (EVENTS.with_dimension(dimension(self._embed)),)

    def configuration(self) -> Mapping[str, object]:
        """The cosine, and what the vectors are made by."""
        return {"same": self.settings.same, "embed": self._embed.fingerprint()}

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Merge the reports; those of pages that say they are of later than tonight count only by dates they write."""
        (reports,) = inputs.values()
        order = _lay(reports, dimension(self._embed), run)
        events = self.of_last_night(EVENTS.name, run)
        before: Positions | None = None
        if events is not None:
            before = np.full(len(order.dated), NEW, dtype=np.int64)
            for batch in events.batches(["event_id", "sources"]):
                members = batch.column("sources").flatten().field("event_id")
                sizes = pc.list_value_length(batch.column("sources")).to_numpy()
                led_by = batch.column("event_id").take(pa.array(np.repeat(np.arange(batch.num_rows), sizes)))
                member, leader = (order.places.of(ids) for ids in (members, led_by))
                before[member[member >= 0]] = leader[member >= 0]
        led = lead(order.dated, self.settings.same, before)
        with run.writer(self.tables[0]) as writer:
            for batch in _merged(reports, order, led):
                writer.write(batch)
        stage = writer.stage()
        kept, lost = len(order.dated), reports.rows - len(order.dated)
        notes = {"merged": kept - stage.rows, "published_later": lost}
        counts = Counts(reports.rows, stage.rows, kept - led.searched, led.searched, lost, notes=notes)
        return Made((stage,), counts, final=not order.early)


@dataclass(frozen=True)
class _Order:
    """The reports in the order in which they are kept."""

    keys: pa.Array  # Their keys.
    dated: Dated  # Their days and vectors.
    early: bool  # Whether pages were left aside that say they are published after tonight.

    @cached_property
    def places(self) -> KeyPlaces:
        """Where each report is by its key, if it is kept."""
        return KeyPlaces(self.keys)


def _lay(reports: Stage, width: int, run: Run) -> _Order:
    """Precise before vague, earlier before later, what was before what is planned; then by publication and key."""
    columns = ["event_id", "from_day", "to_day", "expected", "published_at"]
    schema = pa.schema([reports.table.schema.field(name) for name in columns])
    rows = pa.Table.from_batches(reports.batches(columns), schema)
    trusted = np.ones(rows.num_rows, dtype=np.bool_)
    early = _published_later(reports, run)
    trusted[list(early)] = False
    run.reject(MergeEvents.name, [(key, "published_later", detail) for key, detail in early.values()])
    first, last, published = (
        rows[name].cast(pa.int64()).fill_null(np.iinfo(np.int64).max).to_numpy()
        for name in ("from_day", "to_day", "published_at")
    )
    key_order = np.empty(rows.num_rows, dtype=np.int64)
    key_order[pc.sort_indices(rows["event_id"]).to_numpy()] = np.arange(rows.num_rows)
    expected = rows["expected"].to_numpy().astype(np.int8)
    order = np.lexsort((key_order, published, expected, first, last - first))
    order = order[trusted[order]]
    place = np.full(rows.num_rows, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    matrix = mapped(run.work / "events.f32", np.float32, (len(order), width))
    at = 0
    for batch in reports.batches(["vector"]):
        vectors = vector_matrix(batch.column(0))
        target = place[at : at + len(vectors)]
        matrix[target[target >= 0]] = vectors[target >= 0]
        at += len(vectors)
    dated = Dated(first[order] // _DAY_US, last[order] // _DAY_US, matrix)
    return _Order(rows["event_id"].combine_chunks().take(pa.array(order)), dated, bool(early))


def _published_later(reports: Stage, run: Run) -> dict[int, tuple[str, str]]:
    """Row to key and detail of reports whose page says that it is published after tonight, but for dates it writes out.

    Such a page is a reject: neither its own day nor what is counted from it dates an event.
    """
    if run.started_at is None:
        return {}
    tonight = datetime.combine(run.started_at.astimezone(UTC).date(), time.max, UTC)
    rejects: dict[int, tuple[str, str]] = {}
    at = 0
    for batch in reports.batches(["event_id", "published_at", "timex", "summary"]):
        later = pc.fill_null(pc.greater(batch.column("published_at"), pa.scalar(tonight)), False)
        for row in np.flatnonzero(later.to_numpy(zero_copy_only=False)):
            key, published, timex, summary = (column[int(row)].as_py() for column in batch.columns)
            if timex[:4] not in summary:
                rejects[at + int(row)] = (key, f"its page says that it is published on {published.date()}: {timex}")
        at += batch.num_rows
    return rejects


@dataclass(frozen=True)
class _Followers:
    """The reports that another leads, by their leaders, in the order in which they are kept."""

    leader: Positions  # Position of each one's leader, never decreasing.
    rows: pa.RecordBatch  # What is kept of them.

    @classmethod
    def of(cls, reports: Stage, order: _Order, led: Led) -> _Followers:
        """The followers among `reports`."""
        names = [*_SOURCE, "entities"]
        kept = [pa.RecordBatch.from_pylist([], schema=pa.schema([reports.table.schema.field(name) for name in names]))]
        places = [np.empty(0, dtype=np.int64)]
        for batch in reports.batches(names) if len(order.keys) else ():
            place = order.places.of(batch.column("event_id"))
            follows = np.flatnonzero((place >= 0) & (led.leader[np.maximum(place, 0)] != place))
            kept.append(batch.take(pa.array(follows)))
            places.append(place[follows])
        place = np.concatenate(places)
        index = np.lexsort((place, led.leader[place]))
        rows = pa.Table.from_batches(kept).combine_chunks().take(pa.array(index)).combine_chunks().to_batches()
        return cls(led.leader[place[index]], rows[0] if rows else kept[0])

    def members(self, own: pa.RecordBatch, leaders: Positions) -> tuple[Positions, pa.RecordBatch]:
        """How many reports each of `leaders` has, and these: its `own`, then those that it leads."""
        first, last = (np.searchsorted(self.leader, leaders, side) for side in ("left", "right"))
        counts = 1 + last - first
        nth = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        followers = self.rows.take(pa.array((np.repeat(first, counts) + nth - 1)[nth > 0]))
        both = pa.Table.from_batches([own, followers]).combine_chunks()
        at = np.where(nth > 0, len(leaders) + np.cumsum(nth > 0) - 1, np.repeat(np.arange(len(leaders)), counts))
        batches = both.take(pa.array(at)).combine_chunks().to_batches()
        return counts, batches[0] if batches else own


def _merged(reports: Stage, order: _Order, led: Led) -> Iterator[pa.RecordBatch]:
    """The reports that lead, each with its sources, and with the names that any of them gives."""
    followers = _Followers.of(reports, order, led)
    schema = EVENTS.with_dimension(order.dated.vectors.shape[1]).schema
    for batch in reports.batches():
        place = order.places.of(batch.column("event_id"))
        leads = (
            np.flatnonzero((place >= 0) & (led.leader[np.maximum(place, 0)] == place)) if len(order.keys) else place[:0]
        )
        rows = batch.take(pa.array(leads))
        counts, members = followers.members(rows.select([*_SOURCE, "entities"]), place[leads])
        sources = pa.StructArray.from_arrays([members.column(name) for name in _SOURCE], fields=list(SOURCE))
        ends = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
        entities = iter(members.column("entities").to_pylist())
        # The names that the reports of each event give, each once.
        names = [list(dict.fromkeys(chain.from_iterable(islice(entities, count))))[:24] for count in counts]
        arrays = {
            "sources": pa.ListArray.from_arrays(ends, sources).cast(schema.field("sources").type),
            "entities": pa.array(names, pa.list_(pa.string())),
        }
        columns = [arrays[name] if name in arrays else rows.column(name) for name in schema.names]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
