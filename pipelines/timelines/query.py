"""Timelines at query time: of a topic, from the chunks found for it (Xinyu, section 3.6.2); of an entity, by its name.

A topic's default timeline has one event of each document that is about it: its news. Of an entity it has all events
that name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.keys import positions_in
from quern.jobs.events.timex import period
from quern.jobs.text.names import name_key
from quern.jobs.timelines.build import granularity, keywords
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.filters import allowed, known_by
from quern.pipelines.retrieve.ranking import cut
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.timelines.events import events_of
from quern.schemas.errors import QuernError
from quern.schemas.timelines import Timeline, TimelineEvent
from quern.schemas.words.lines import shortened
from quern.schemas.words.terms import STOP_WORDS, search_terms


def one_each(events: Iterable[TimelineEvent]) -> list[TimelineEvent]:
    """The events, each told once: what happened rather than that it was expected; of copies that with the surer date.

    Surer is one that the sentence gives, other than as `yesterday`, which is wrong where the copy's own date is; of
    equals the earlier.
    """
    kept: list[TimelineEvent] = []
    for event in sorted(
        events, key=lambda e: (e.expected, e.date_from == "document" or bool(_COUNTED.search(e.summary)), e.place)
    ):
        at = next((n for n, other in enumerate(kept) if _copied(other, event) or _came(other, event)), None)
        if at is None:
            kept.append(event)
            continue
        match = kept[at]
        new = [source for source in event.sources if source not in match.sources]
        kept[at] = match.model_copy(update={"sources": [*match.sources, *new], "score": max(match.score, event.score)})
    return sorted(kept, key=lambda event: event.place)


# Words by which a date hangs by the very day of its report.
_COUNTED: Final = re.compile(
    r"\b(?:today|yesterday|tonight|tomorrow|this\s+(?:morning|afternoon|evening))\b|[昨今明][天日晚早晨]", re.I
)


def _copied(first: TimelineEvent, other: TimelineEvent) -> bool:
    """Whether two sentences of different documents are nearly the same, though their dates are not."""
    # A reprint keeps most words of a sentence (Dice's measure), and is printed within a month of what it reprints.
    if abs(first.from_day - other.from_day) > timedelta(31) or first.sources[0].doc_id == other.sources[0].doc_id:
        return False
    one, two = _words(first.summary), _words(other.summary)
    return min(len(one), len(two)) >= 6 and 2 * len(one & two) >= 0.8 * (len(one) + len(two))


def _came(first: TimelineEvent, other: TimelineEvent) -> bool:
    """Whether `other` was expected for the very day of `first`, which names what it names and tells it in its words."""
    if first.expected or not other.expected or (first.from_day, first.to_day) != (other.from_day, other.to_day):
        return False
    if not {name_key(name) for name in first.entities} & {name_key(name) for name in other.entities}:
        return False
    return bool(_words(f"{first.title} {first.summary}") & _words(other.summary) - _named(first) - _named(other))


def _words(text: str) -> set[str]:
    return {word for word in search_terms(text).split() if word not in STOP_WORDS}


def _named(event: TimelineEvent) -> set[str]:
    return {word for name in event.entities for word in search_terms(name).split()}


# A document is about a topic where its best chunk scores so much of what the best of all does; what it reports is told
# near its beginning, and happened within a week before it. Chosen on the six gold timelines of the sample corpus: .40,
# .45 and .50 give date F1 of .80, .86 and .84; a week and ten days the same, two weeks .82.
_ABOUT: Final = 0.45
_BEGINNING: Final = 1000

Kind = Literal["topic", "entity", "span"]


class TimelineError(QuernError):
    """A timeline that cannot be made of what was asked; the message says what to do."""


@dataclass(frozen=True)
class Wanted:
    """What of a timeline is wanted."""

    start: date | None = None  # Events that end before this day are left out.
    end: date | None = None  # Events that begin after this day are left out.
    most: int | None = None  # Those that fit best stay.

    def holds(self, event: TimelineEvent) -> bool:
        """Whether an event lies within the days wanted."""
        return (self.start is None or event.to_day >= self.start) and (self.end is None or event.from_day <= self.end)


def wanted_of(start: str | date | None, end: str | date | None, most: int | None) -> Wanted:
    """What is wanted, of days as a user writes them: 2024, 2024-03, 2024-03-02.

    Raises:
        TimelineError: One of them is no day, the first is after the last, or fewer than one event is wanted.
    """
    first, last = _day(start, "from", last=False), _day(end, "to", last=True)
    if first is not None and last is not None and last < first:
        raise TimelineError(f"there is no day from {start} to {end}: the first is after the last")
    if most is not None and most < 1:
        raise TimelineError(f"{most} events: a timeline has at least one")
    return Wanted(first, last, most)


def _day(value: str | date | None, name: str, *, last: bool) -> date | None:
    if value is None or isinstance(value, date):
        return value
    meant = period(value.strip())
    if meant is None:
        raise TimelineError(f"--{name} {shortened(value, 40)}: write a date like 2024, 2024-03 or 2024-03-02")
    return meant.to_day if last else meant.from_day


def asked_timeline(searcher: Searcher, topic: str | None, entity: str | None, wanted: Wanted) -> Timeline:
    """The timeline of a topic or of an entity, whichever is given; of the days alone where they are.

    Raises:
        TimelineError: Both are, or none is and no day; or it is blank.
        NoEventsError: The snapshot has no events.
    """
    if topic is None and entity is None:
        if wanted.start is None and wanted.end is None:
            hint = 'name a topic, "the ferry collision", an entity, --entity "Tollen Bridge", or days, --from 2024-03'
            raise TimelineError(hint)
        return span_timeline(searcher, wanted)
    if topic is not None and entity is not None:
        raise TimelineError("name a topic or an entity, not both")
    if entity is not None:
        return entity_timeline(searcher, entity, wanted)
    return timeline_of(searcher, topic or "", wanted)


def timeline_of(searcher: Searcher, topic: str, wanted: Wanted = Wanted()) -> Timeline:
    """The timeline of an entity, where `topic` is the name of one that events have, else of a topic.

    Raises:
        TimelineError: The topic is blank.
        NoEventsError: The snapshot has no events.
    """
    of = entity_timeline if name_key(topic) in events_of(searcher).names else topic_timeline
    return of(searcher, topic, wanted)


def entity_timeline(searcher: Searcher, entity: str, wanted: Wanted = Wanted()) -> Timeline:
    """The events that name an entity, in the order of time; those that fit best where fewer are wanted.

    Raises:
        TimelineError: The name is blank.
        NoEventsError: The snapshot has no events.
    """
    _not_blank(entity)
    index, key = events_of(searcher), name_key(entity)
    # A name is the entity's where half of it is, by rarity of its words: `A380` is of `Airbus A380`.
    fits = index.naming({name: alike for name, alike in index.near_names(entity).items() if alike >= 0.5})
    direct = {event.event_id for event in _known(searcher, index.load(list(fits)))}
    fits = {event: fit for event, fit in fits.items() if event in direct}
    # What else the documents of these events tell counts too: there `he` or `the company` often is the entity.
    documents = {event.sources[0].doc_id for event in index.load(list(fits))}
    of_document = index.of_documents(list(documents))
    rarity = {word: index.rarity(word) for word in key.split()}
    events = []
    for event in _known(searcher, index.load([*fits, *chain(*of_document.values())])):
        others = of_document.get(event.sources[0].doc_id, [])
        share = sum(other in fits for other in others) / max(1, len(others))
        events.append(_scored(event, _entity_score(event, fits.get(event.event_id, 0.0), share, rarity)))
    if wanted.most is None:
        events = [event for event in events if event.event_id in fits]
    called = index.called(key) if key in index.names else entity
    timeline = _timeline(searcher, called, "entity", events, wanted)
    return timeline if events else timeline.model_copy(update={"near": index.spelt_like(entity)})


def span_timeline(searcher: Searcher, wanted: Wanted) -> Timeline:
    """The events of the days wanted, whatever they are of: by default at most 100, those with most reports.

    Raises:
        NoEventsError: The snapshot has no events.
    """
    index = events_of(searcher)
    as_of = allowed(searcher, [known_by(searcher.settings.retrieve.as_of)])

    def known_first(chunks: pa.ListArray) -> npt.NDArray[np.bool_]:
        """Of which events the report in whose words they are told was known by `retrieve.as_of`."""
        if as_of is None or not len(chunks):
            return np.ones(len(chunks), dtype=np.bool_)
        at = positions_in(searcher.graph.chunks.keys, pc.list_element(chunks, 0))
        return np.asarray((at >= 0) & as_of.masks[0][at], dtype=np.bool_)

    keys = index.within(wanted.start, wanted.end, wanted.most or 100, known_first)
    events = _known(searcher, index.load(keys))
    days = [day.isoformat() if day else "" for day in (wanted.start, wanted.end)]
    label = f"{days[0]} to {days[1]}" if all(days) else f"from {days[0]}" if days[0] else f"to {days[1]}"
    return _timeline(searcher, label, "span", events, wanted)


def topic_timeline(searcher: Searcher, topic: str, wanted: Wanted = Wanted()) -> Timeline:
    """The events of the chunks found for a topic: by default one of each document, of more the best `most`.

    Raises:
        TimelineError: The topic is blank.
        NoEventsError: The snapshot has no events.
    """
    _not_blank(topic)
    index, batch = events_of(searcher), Batch(searcher, [topic])
    (recipe,) = find_recipes("hybrid")
    best = cut(recipe.rank(batch).chunks, 1, 60)
    keys = searcher.graph.chunks.keys.take(pa.array(best.chunk)).to_pylist()
    share = best.score / best.score.max() if keys else best.score
    score = dict(zip(keys, share.tolist(), strict=True))
    ids_of = index.of_chunks([key for key in keys if score[key] >= _ABOUT]) if keys else {}
    events = _known(searcher, index.load([event for ids in ids_of.values() for event in ids]))
    # Each scored by its document and its nearness.
    events = [event for event in _bearing(searcher, events, topic) if wanted.holds(event)]
    rated: list[TimelineEvent] = []
    if events:
        vectors = index.vectors([event.event_id for event in events])
        for event, near in zip(events, (vectors @ batch.vectors[0]).tolist(), strict=True):
            about = max(score.get(source.chunk_id, 0.0) for source in event.sources)
            rated.append(_scored(event, about + 0.5 * near))
    main = _main(rated)
    if wanted.most is None:
        rated = [event for event in rated if event.event_id in main]
    rated = [_scored(e, e.score + (e.event_id in main)) for e in rated]
    return _timeline(searcher, topic, "topic", rated, wanted)


def _not_blank(text: str) -> None:
    if not any(map(str.isalnum, text)):
        raise TimelineError("a timeline needs a topic or an entity; this one is blank")


def _known(searcher: Searcher, events: Sequence[TimelineEvent]) -> list[TimelineEvent]:
    """The events that a page known by `retrieve.as_of` tells, with those of their sources that were known then.

    An event is told in the words of its first source: where that came later, it is left out.
    """
    allowance = allowed(searcher, [known_by(searcher.settings.retrieve.as_of)])
    if allowance is None:
        return [*events]
    chunks = set(searcher.graph.members.chunks.filter(pa.array(allowance.masks[0])).to_pylist())
    known = [event for event in events if event.sources[0].chunk_id in chunks]
    return [e.model_copy(update={"sources": [s for s in e.sources if s.chunk_id in chunks]}) for e in known]


def _scored(event: TimelineEvent, score: float) -> TimelineEvent:
    return event.model_copy(update={"score": round(score, 4)})


def _entity_score(event: TimelineEvent, fit: float, share: float, rarity: Mapping[str, float]) -> float:
    """How well an event fits an entity: by name, sentence, the document's title and other events, and its place there.

    Weights tuned on `airbus` of SemEval-2015 task 4, checked on `apple`: recall at the length of the gold from .41 to
    .45 and from .42 to .44; events that were found at all allow .52 and .46.
    """
    source = event.sources[0]
    head = set(name_key(" ".join(event.title.split()[:4])).split())
    score = 0.5 * fit + 1.0 * _said(event.summary, rarity) + 0.7 * _said(source.title or "", rarity)
    return score + 0.7 * share + 0.2 * bool(head & set(rarity)) + 0.3 / (1 + source.start / 500)


def _said(text: str, rarity: Mapping[str, float]) -> float:
    """How much of a name a text has, by the rarity of its words."""
    words = set(name_key(text).split())
    return sum(weight for word, weight in rarity.items() if word in words) / max(sum(rarity.values()), 1e-9)


def _bearing(searcher: Searcher, events: list[TimelineEvent], topic: str) -> list[TimelineEvent]:
    """The events that bear on a topic by their words; all, where none does.

    One word of it in sentence, names or document's title, or two in the chunk: chosen on the six gold timelines of
    the sample corpus.
    """
    words = {word for word in search_terms(topic).split() if word not in STOP_WORDS and not word.isdigit()}
    ids = sorted({source.chunk_id for event in events for source in event.sources})
    rows = searcher.snapshot.table("chunks").lookup("chunk_id", ids, ["chunk_id", "text"]).to_pylist()
    around = {row["chunk_id"]: len(words.intersection(search_terms(row["text"]).split())) for row in rows}
    return [
        e
        for e in events
        if words & set(search_terms(" ".join([e.summary, *e.entities, *(s.title or "" for s in e.sources)])).split())
        or max(around.get(source.chunk_id, 0) for source in e.sources) >= 2
    ] or events


def _main(events: Sequence[TimelineEvent]) -> set[str]:
    """Keys of the events that documents report as their news, one for each: the first with a date in the text.

    Where none has one it is the first; of a document without a date the event that is nearest to the topic.
    """
    best: dict[str, tuple[tuple[float, ...], TimelineEvent]] = {}
    for event in events:
        source = event.sources[0]
        if event.published_at is not None:
            # News are of a day within a week before the report, which tells them near its beginning; or they are
            # planned, and what the report begins with: an announcement.
            days = (event.published_at.date() - event.from_day).days
            is_news = source.start < 200 if event.expected else 0 <= days <= 7
            if event.precision != "day" or source.start > _BEGINNING or not is_news:
                continue
        rank = (-event.score,) if event.published_at is None else (event.date_from == "document", source.start)
        if source.doc_id not in best or rank < best[source.doc_id][0]:
            best[source.doc_id] = (rank, event)
    return {event.event_id for _, event in best.values()}


def _timeline(searcher: Searcher, topic: str, kind: Kind, events: Iterable[TimelineEvent], wanted: Wanted) -> Timeline:
    kept = one_each([event for event in events if wanted.holds(event)])
    if wanted.most is not None:
        kept = sorted(kept, key=lambda event: (-event.score, event.place))[: wanted.most]
    kept.sort(key=lambda event: event.place)
    names = [name for event in kept for name in event.entities]
    return Timeline(
        topic=topic,
        kind=kind,
        snapshot=searcher.snapshot.manifest.build_id,
        keywords=keywords(names, [event.title for event in kept], topic, 8),
        granularity=granularity([e.from_day for e in kept], [e.precision for e in kept]) if kept else None,
        events=kept,
    )
