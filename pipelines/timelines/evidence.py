"""The events that the evidence of questions reports, put beside it: what an answer's timeline is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence, ReportedEvent
from quern.pipelines.retrieve.evidence import Found
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.timelines.events import events_of
from quern.schemas.answers import Hit
from quern.schemas.tables import EVENTS
from quern.schemas.timelines import TimelineEvent, TimelineSource
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
    rows = zip(inputs, found, as_of, strict=True)
    return [_with_events(given, one.hits, of_chunk, loaded, day) for given, one, day in rows]


def _with_events(
    given: AnswerInput,
    hits: Sequence[Hit],
    of_chunk: dict[str, list[str]],
    loaded: dict[str, TimelineEvent],
    as_of: date | None,
) -> AnswerInput:
    seen: set[str] = set()
    chunks = {hit.chunk_id for hit in hits}
    evidence: list[Evidence] = []
    for hit, own in zip(hits, given.evidence, strict=True):
        new = sorted(set(of_chunk.get(hit.chunk_id, ())) - seen)
        seen.update(new)
        known = [loaded[key] for key in new if as_of is None or loaded[key].sources[0].chunk_id in chunks]
        events = [_reported(event, hit) for event in sorted(known, key=lambda event: event.place)]
        evidence.append(replace(own, events=tuple(events)) if events else own)
    return replace(given, evidence=evidence)


def _reported(event: TimelineEvent, hit: Hit) -> ReportedEvent:
    """The event as the chunk of `hit` reports it: another report than the one it was titled by has its own words."""
    source = _source(event, hit)
    start, end = source.start - hit.start, source.end - hit.start
    kept = source == event.sources[0]
    return ReportedEvent(
        event_id=event.event_id,
        start=start,
        end=end,
        timex=event.timex,
        from_day=event.from_day,
        to_day=event.to_day,
        precision=event.precision,
        date_from=event.date_from,
        expected=event.expected,
        title=event.title if kept else shortened(hit.text[start:end], 120),
    )


def _source(event: TimelineEvent, hit: Hit) -> TimelineSource:
    return next(source for source in event.sources if source.chunk_id == hit.chunk_id)
