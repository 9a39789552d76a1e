"""Timelines against gold ones: the sample corpus, and two topics of SemEval-2015 task 4 (timelines of entities).

Of the sample corpus a gold event is a page and a day. Its *date F1* is over the days of a topic's default timeline and
the gold ones; *right day* is the share of gold events whose page's entry in it has their day. Of SemEval a gold event
is the sentences that mention it: *recall* is the share of an entity's gold sentences among the sentences of its
timeline with as many events; *date* the share of those sentences that an event was made of, with a full gold date, that
have this date. *Order* is Kendall's tau of the events found, by gold order and by ours.

*semeval* figures are the task's own, over words as events: of each entity the timeline as it is by default, of which
each sentence stands for its verb.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scipy.stats import kendalltau

from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.pipelines.timelines.events import events_of
from quern.pipelines.timelines.query import Wanted, timeline_of, topic_timeline
from quern.schemas.settings.reading import load_settings
from quern.schemas.timelines import TimelineEvent, TimelineSource
from tests.benchmarks.semeval import Placed, Relations, event_word, relations, timed

_CORPUS: Final = Path(__file__).parents[1] / "corpus"
_TOPICS: Final = ("airbus", "apple")
_FULL: Final = re.compile(r"\d{4}-\d\d-\d\d")

Sentence = tuple[str, int]


def benchmark_timelines(folder: Path, only: Collection[str] = ()) -> dict[str, float]:
    """All figures, or those of `only`: `sample`, `airbus`, `apple`. Builds what it measures in a temporary folder."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        if not only or "sample" in only:
            _built(_CORPUS / "pages", work / "sample")
            figures |= {f"sample, {n}": value for n, value in gold_timelines(_searcher(work / "sample")).items()}
        of_topics: list[Relations] = []
        for topic in (t for t in _TOPICS if not only or t in only):
            source = folder / "semeval2015_timelines" / topic
            _built(source / "documents.jsonl", work / topic)
            searcher = _searcher(work / topic)
            figures |= {f"{topic}, {name}": value for name, value in _semeval(source, searcher).items()}
            of_topics.append(_task_relations(source, searcher))
            figures |= {f"{topic} semeval {key}": value for key, value in of_topics[-1].figures().items()}
        figures |= {f"semeval micro {k}": v for k, v in sum(of_topics, Relations()).figures().items() if of_topics}
    return figures


def _built(source: Path, warehouse: Path) -> None:
    build(source, Warehouse.create(warehouse), load_settings(overrides=["engine.engine=local"]))


def _searcher(warehouse: Path) -> Searcher:
    snapshot = Warehouse.open(warehouse).snapshot()
    return Searcher(snapshot, settings_to_ask_by(snapshot.manifest))


def gold_timelines(searcher: Searcher) -> dict[str, float]:
    """Figures of the sample corpus' six gold timelines, of a warehouse of its pages."""
    f1, taus, right, wanted = 0.0, list[float](), 0, 0
    topics = json.loads((_CORPUS / "timelines.json").read_text("utf-8"))
    for topic in topics:
        events = topic_timeline(searcher, topic["topic"]).events
        gold, ours = {e["date"] for e in topic["events"]}, {e.timex for e in events}
        f1 += 2 * len(gold & ours) / (len(gold) + len(ours))
        of_page = {event.sources[0].url: event for event in events}
        found = [(n, of_page[e["url"]]) for n, e in enumerate(topic["events"]) if e["url"] in of_page]
        right += sum(event.timex == topic["events"][n]["date"] for n, event in found)
        wanted += len(topic["events"])
        taus += _tau([n for n, _ in found], [event for _, event in found])
    return {"date F1": f1 / len(topics), "right day": right / wanted, "order": sum(taus) / len(taus)}


def _tau(order: Sequence[int], events: Sequence[TimelineEvent]) -> Iterator[float]:
    """Kendall's tau-b of a gold order and the days of events; none where there is nothing to order."""
    if len(set(order)) > 1 and len({event.from_day for event in events}) > 1:
        yield float(kendalltau(order, [event.from_day.toordinal() for event in events]).statistic)


@dataclass(frozen=True)
class _Sentences:
    """Where the sentences of a topic's documents stand in them."""

    # Document to the span of each of its sentences; None for one that its text lacks.
    spans: dict[str, list[tuple[int, int] | None]]

    def told(self, source: TimelineSource) -> Iterator[Sentence]:
        """The sentences that a report overlaps with."""
        for number, span in enumerate(self.spans.get(source.doc_id, ())):
            if span and source.start < span[1] and span[0] < source.end:
                yield source.doc_id, number


def _semeval(source: Path, searcher: Searcher) -> dict[str, float]:
    sentences = _sentences(source, searcher)
    index = events_of(searcher)
    chunks = searcher.graph.chunks.keys.to_pylist()
    everything = index.load([event for events in index.of_chunks(chunks).values() for event in events])
    of = {told: event for event in everything for report in event.sources for told in sentences.told(report)}
    hits = wanted = right = dated = 0
    taus: list[float] = []
    for gold in _golds(source):
        mentions = [
            (event, told) for event in gold["events"] for told in _mentioned(event) if told[0] in sentences.spans
        ]
        of_entity = {told for _, told in mentions}
        events = timeline_of(searcher, gold["entity"], Wanted(most=max(1, len(of_entity)))).events
        got = {told: event for event in events for report in event.sources for told in sentences.told(report)}
        hits, wanted = hits + len(of_entity & set(got)), wanted + len(of_entity)
        full = [(event, told) for event, told in mentions if _FULL.fullmatch(event["date"]) and told in of]
        dated, right = dated + len(full), right + sum(of[told].timex == event["date"] for event, told in full)
        ordered = [(event["order"], got[told]) for event, told in mentions if event["order"] and told in got]
        taus += _tau([order for order, _ in ordered], [event for _, event in ordered])
    return {
        "recall at the length of the gold": hits / wanted,
        "gold sentences that events were made of": _made(source, of, sentences),
        "date": right / dated,
        "order": sum(taus) / len(taus),
    }


def _made(source: Path, of: Collection[Sentence], sentences: _Sentences) -> float:
    """Share of the gold sentences of all entities that some event was made of."""
    told = [
        t for g in _golds(source) for t in {t for e in g["events"] for t in _mentioned(e)} if t[0] in sentences.spans
    ]
    return sum(t in of for t in told) / len(told)


def _task_relations(source: Path, searcher: Searcher) -> Relations:
    """Relations of a topic by the task's measure, summed over its entities."""
    sentences, summed = _sentences(source, searcher), Relations()
    documents = {row["doc_id"]: row["sentences"] for row in _rows(source / "documents.jsonl")}
    for gold in _golds(source):
        right = [Placed(e["order"], e["date"], mention) for e in gold["events"] for mention in e["mentions"]]
        events = timeline_of(searcher, gold["entity"]).events
        told = {t: event for event in events for report in event.sources for t in sentences.told(report)}
        verbs = {t: event_word(documents[t[0]][t[1]], title=t[1] == 0) for t in told}
        ours = [(e.from_day, e.to_day, f"{t[0]}-{t[1]}-{verbs[t]}") for t, e in told.items() if verbs[t]]
        summed += relations(right, timed(ours))
    return summed


def _golds(source: Path) -> list[dict[str, Any]]:
    return _rows(source / "timelines.jsonl")


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _mentioned(event: dict[str, Any]) -> Iterator[Sentence]:
    for mention in event["mentions"]:
        document, number, _ = mention.split("-", 2)
        yield document, int(number)


def _sentences(source: Path, searcher: Searcher) -> _Sentences:
    given = {row["doc_id"]: row["sentences"] for row in _rows(source / "documents.jsonl")}
    spans: dict[str, list[tuple[int, int] | None]] = {}
    for batch in searcher.snapshot.stage("documents").batches(["doc_id", "text"]):
        for key, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            at, spans[key] = 0, []
            for sentence in given[key]:
                start = text.find(sentence.strip(), at)
                spans[key].append((start, start + len(sentence.strip())) if start >= 0 else None)
                at = max(at, start)
    return _Sentences(spans)
