"""The events of a snapshot as a search reads them: by the chunks that report them, their days and their names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from math import log
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.graph.structure import read_columns
from quern.indexes.vectors import Floats, vector_matrix
from quern.jobs.text.names import display_name, name_key
from quern.jobs.text.plain_text import publication
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.errors import QuernError
from quern.schemas.tables import EVENTS
from quern.schemas.timelines import TimelineEvent, TimelineSource

_COLUMNS: Final = ["event_id", "sources", "entities", "from_day", "to_day"]
_DOCUMENT: Final = ["doc_id", "url", "title", "site", "site_name", "published_at", "utc_offset"]
_SHOWN: Final = [name for name in EVENTS.schema.names if name not in ("vector", "chunk_id", "doc_id", "start", "end")]


class NoEventsError(QuernError):
    """A snapshot that has no table of events; the message says what to do."""


# Of the chunks that report each of some events: whether the event may be told.
Held = Callable[[pa.ListArray], npt.NDArray[np.bool_]]


class EventIndex:
    """Keys, sources, days and names of a snapshot's events; some 300 bytes of memory an event."""

    def __init__(self, searcher: Searcher) -> None:
        self.snapshot = searcher.snapshot

    @cached_property
    def _rows(self) -> pa.Table:
        if EVENTS.name not in self.snapshot.manifest.tables:
            raise NoEventsError(
                f"snapshot {self.snapshot.manifest.build_id} has no events: it was built before there were; build again"
            )
        return read_columns(self.snapshot.table(EVENTS.name), _COLUMNS).combine_chunks()

    @cached_property
    def _of_chunk(self) -> dict[str, list[str]]:
        _, _, chunks = self._spans
        events: defaultdict[str, list[str]] = defaultdict(list)
        for event, own in zip(self._rows["event_id"].to_pylist(), chunks.to_pylist(), strict=True):
            for chunk in own:
                events[chunk].append(event)
        return dict(events)

    def of_chunks(self, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """Keys of the events that each chunk reports, in no particular order."""
        return {chunk: self._of_chunk[chunk] for chunk in chunk_ids if chunk in self._of_chunk}

    @cached_property
    def _spans(self) -> tuple[npt.NDArray[np.datetime64], npt.NDArray[np.datetime64], pa.ListArray]:
        """First and last day of each event, and the chunks that report it."""
        starts, ends = (self._rows[name].to_numpy().astype("datetime64[D]") for name in ("from_day", "to_day"))
        sources = self._rows["sources"].combine_chunks()
        return starts, ends, pa.ListArray.from_arrays(sources.offsets, sources.values.field("chunk_id"))

    def within(self, first: date | None, last: date | None, most: int, held: Held | None = None) -> list[str]:
        """Keys of the events of these days, `most` of them: those with most reports, of equals evenly over time.

        An event of a longer time than that asked for is none of it, nor is one of which `held` says so.
        """
        starts, ends, chunks = self._spans
        inside = np.ones(len(starts), dtype=np.bool_)
        if first is not None:
            inside &= starts >= np.datetime64(first)
        if last is not None:
            inside &= ends <= np.datetime64(last)
        rows = np.flatnonzero(inside)
        if held is not None:
            rows = rows[held(chunks.take(pa.array(rows)))]
        ids: list[str] = self._rows["event_id"].take(pa.array(rows)).to_pylist()
        if len(rows) <= most:
            return ids
        reports = pc.list_value_length(chunks.take(pa.array(rows))).to_numpy(zero_copy_only=False)
        order = np.lexsort((np.array(ids), ends[rows], starts[rows], -reports))
        least = reports[order[most - 1]]
        more, equal = order[reports[order] > least], order[reports[order] == least]
        spread = equal[np.linspace(0, len(equal) - 1, most - len(more)).round().astype(np.int64)]
        return [ids[n] for n in np.concatenate([more, spread])]

    def load(self, event_ids: Sequence[str]) -> list[TimelineEvent]:
        """The events of these keys, in the order of time, with the addresses of their reports."""
        rows = self.snapshot.table(EVENTS.name).lookup("event_id", sorted(set(event_ids)), _SHOWN).to_pylist()
        documents = sorted({source["doc_id"] for row in rows for source in row["sources"]})
        of = self.snapshot.table("documents").lookup("doc_id", documents, _DOCUMENT).to_pylist()
        by_id = {row["doc_id"]: row for row in of}
        events = []
        for row in rows:
            sources = []
            for source in row["sources"]:
                document = by_id.get(source["doc_id"], {})
                sources.append(
                    TimelineSource(
                        chunk_id=source["chunk_id"],
                        doc_id=source["doc_id"],
                        url=document.get("url"),
                        title=document.get("title"),
                        site=document.get("site_name") or document.get("site"),
                        published_at=publication(document) if document else None,
                        start=source["start"],
                        end=source["end"],
                    )
                )
            days = {"from_day": row["from_day"].date(), "to_day": row["to_day"].date()}
            offset = by_id.get(sources[0].doc_id, {}).get("utc_offset")
            published = publication({"published_at": row["published_at"], "utc_offset": offset})
            events.append(TimelineEvent(**{**row, **days, "published_at": published, "sources": sources}))
        return sorted(events, key=lambda event: event.place)

    @cached_property
    def names(self) -> dict[str, dict[str, int]]:
        """Each name as it is compared, with its forms and how many events have each."""
        spellings: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        for entities in self._rows["entities"].to_pylist():
            for name in entities:
                spellings[name_key(name)][name] += 1
        return {key: dict(forms) for key, forms in spellings.items()}

    @cached_property
    def _by_word(self) -> dict[str, set[str]]:
        """Word to the names that have it."""
        keys: defaultdict[str, set[str]] = defaultdict(set)
        for key in self.names:
            for word in key.split():
                keys[word].add(key)
        return dict(keys)

    def of_documents(self, doc_ids: Sequence[str]) -> dict[str, list[str]]:
        """Keys of the events that each document was the first to report, in no particular order."""
        documents = pc.list_element(self._rows["sources"].combine_chunks(), 0).field("doc_id")
        rows = pc.is_in(documents, pa.array(doc_ids, pa.string()))
        events: defaultdict[str, list[str]] = defaultdict(list)
        for document, event in zip(documents.filter(rows), self._rows["event_id"].filter(rows), strict=True):
            events[document.as_py()].append(event.as_py())
        return dict(events)

    def called(self, key: str) -> str:
        """The commonest form of a name."""
        return display_name(Counter(self.names[key]))

    def rarity(self, word: str) -> float:
        """How much a word of a name tells: its idf among names."""
        return log(1 + len(self.names) / (1 + len(self._by_word.get(word, ()))))

    def near_names(self, name: str) -> dict[str, float]:
        """Names that share words with `name`, each with how alike they are, in (0, 1]: Dice's measure by rarity."""
        words = set(name_key(name).split())
        weight = {word: self.rarity(word) for word in words}
        similarities = {}
        for key in sorted({key for word in words for key in self._by_word.get(word, ())}):
            others = set(key.split())
            shared = sum(weight[word] for word in words & others)
            similarities[key] = 2 * shared / (sum(weight.values()) + sum(map(self.rarity, others)))
        return similarities

    def spelt_like(self, name: str) -> list[str]:
        """The names that are spelt most like `name`, in their commonest forms; the likest first."""
        # Ratio of Ratcliff and Obershelp; at the .6 of `difflib` short names match many.
        near = get_close_matches(name_key(name), self.names, n=3, cutoff=0.7)
        return [self.called(key) for key in near]

    def naming(self, keys: dict[str, float]) -> dict[str, float]:
        """Keys of the events that have one of these names, each with the most that a name of it counts."""
        scores: dict[str, float] = {}
        for event, names in zip(self._rows["event_id"].to_pylist(), self._rows["entities"].to_pylist(), strict=True):
            best = max((keys.get(name_key(name), 0.0) for name in names), default=0.0)
            if best > 0:
                scores[event] = best
        return scores

    def vectors(self, event_ids: Sequence[str]) -> Floats:
        """The vectors of these events, in their order, shape (events, d)."""
        rows = self.snapshot.table(EVENTS.name).lookup("event_id", list(event_ids), ["event_id", "vector"])
        place = {key: at for at, key in enumerate(rows["event_id"].to_pylist())}
        matrix = vector_matrix(rows["vector"].combine_chunks())
        return matrix[[place[key] for key in event_ids]]


def events_of(searcher: Searcher) -> EventIndex:
    """The events of a searcher's snapshot, read once."""
    return searcher.held(EventIndex)
