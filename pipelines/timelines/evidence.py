"""Events as evidence: those that the evidence of questions reports, and those of a span that names no topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.indexes.keys import positions_in
from quern.indexes.lexical import in_order
from quern.indexes.vectors import Positions
from quern.jobs.reasoning.answering.course import span_without_topic
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence, ReportedEvent
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import Found
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.timelines.events import events_of
from quern.schemas.tables import EVENTS
from quern.schemas.words.lines import shortened


def with_events(
    searcher: Searcher, inputs: Sequence[AnswerInput], found: Sequence[Found], as_of: Sequence[date | None]
) -> list[AnswerInput]:
    """The inputs with the events that their evidence reports; as they are where the snapshot has no events.

    As of a day, an event is known where the report that names and dates it is among the evidence, which is of then.
    """
    if EVENTS.name not in searcher.snapshot.manifest.tables:
        return list(inputs)
    index = events_of(searcher)
    chunks = sorted({hit.chunk_id for one in found for hit in one.hits})
    of_chunk = index.of_chunks(chunks)
    loaded = {e.event_id: e for e in index.load([event for ids in of_chunk.values() for event in ids])}
    enriched: list[AnswerInput] = []
    for given, one, day in zip(inputs, found, as_of, strict=True):
        seen: set[str] = set()
        own_chunks = {hit.chunk_id for hit in one.hits}
        evidence: list[Evidence] = []
        for hit, own in zip(one.hits, given.evidence, strict=True):
            new = sorted(set(of_chunk.get(hit.chunk_id, ())) - seen)
            seen.update(new)
            known = [loaded[key] for key in new if day is None or loaded[key].sources[0].chunk_id in own_chunks]
            events = []
            for event in sorted(known, key=lambda event: event.place):
                source = next(source for source in event.sources if source.chunk_id == hit.chunk_id)
                start, end = source.start - hit.start, source.end - hit.start
                # Its own title only where its report was kept.
                title = event.title if source == event.sources[0] else shortened(hit.text[start:end], 120)
                names = ("event_id", "timex", "from_day", "to_day", "precision", "date_from", "expected")
                copied: dict[str, Any] = {name: getattr(event, name) for name in names}
                events.append(ReportedEvent(start=start, end=end, title=title, **copied))
            evidence.append(replace(own, events=tuple(events)) if events else own)
        enriched.append(replace(given, evidence=evidence))
    return enriched


def with_spans(batch: Batch, ranking: Ranking) -> Ranking:
    """The ranking, where of questions for what happened in a span the chunks that report its events stand alone."""
    spans = {n: span for n, q in enumerate(batch.questions) if (span := span_without_topic(q)) is not None}
    if not spans or EVENTS.name not in batch.searcher.snapshot.manifest.tables:
        return ranking
    index, most = events_of(batch.searcher), batch.settings.retrieve.top_k
    scored, picks = ranking.chunks, {}
    for question, (first, last) in spans.items():
        found_for = partial(_places, batch, question)
        # Twenty events for each chunk that is wanted: some say the same, or may not be found.
        events = index.load(index.within(first, last, most * 20, partial(_told_by_any, found_for)))
        # What many say in the same words (`Please help, it is urgent`) is told once.
        once = {event.summary.casefold(): event for event in reversed(events)}
        unique = [event for event in events if once[event.summary.casefold()] is event]
        # Of each event the first of its reports that may be found, each once.
        places = found_for(pa.array([s.chunk_id for e in unique for s in e.sources], pa.string()))
        owner = np.repeat(np.arange(len(unique)), [len(event.sources) for event in unique])
        _, earliest = np.unique(owner[places >= 0], return_index=True)
        at = np.array(list(dict.fromkeys(places[places >= 0][earliest].tolist())), dtype=np.int64)
        if len(at):
            picks[question] = at[np.unique(np.linspace(0, len(at) - 1, min(most, len(at))).round().astype(np.int64))]
    if not picks:
        return ranking
    kept = ~np.isin(scored.question, list(picks))
    asker = np.concatenate([np.full(len(at), question) for question, at in picks.items()]).astype(np.int64)
    place = np.concatenate([np.arange(len(at)) for at in picks.values()])
    chunks = in_order(
        np.concatenate([scored.question[kept], asker]),
        np.concatenate([scored.chunk[kept], *picks.values()]),
        np.concatenate([scored.score[kept], 1.0 - place / (1 + most)]).astype(np.float32),
    )
    return Ranking(chunks, ranking.reached, ranking.searches)


def _places(batch: Batch, question: int, chunks: pa.Array) -> Positions:
    """Where chunks are among all; -1 for those that may not be found for a question."""
    at = positions_in(batch.graph.chunks.keys, chunks)
    return np.where((at >= 0) & batch.allows(np.full(len(at), question), at), at, -1)


def _told_by_any(places: Callable[[pa.Array], Positions], chunks: pa.ListArray) -> npt.NDArray[np.bool_]:
    """Of which events a chunk that reports them may be found; every event has one report at least."""
    event = chunks.value_parent_indices().to_numpy()
    mask = np.zeros(len(chunks), dtype=np.bool_)
    mask[event[places(chunks.flatten()) >= 0]] = True
    return mask
