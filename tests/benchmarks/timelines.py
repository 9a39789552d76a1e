"""Timelines against gold ones: the sample corpus, and two topics of SemEval-2015 task 4 (timelines of entities).

Of the sample corpus a gold event is a page and a day. Its *date F1* is over the days of a topic's default timeline and
the gold ones; *right day* is the share of gold events whose page's entry in it has their day; *order* is Kendall's tau
of the events found, by gold order and by ours. Of SemEval a gold event is the sentences that mention it: *recall* is
the share of an entity's gold sentences among the sentences of its timeline with as many events; *date* the share of
those sentences that an event was made of, with a full gold date, that have this date.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from scipy.stats import kendalltau

from quern.pipelines.api.asking import searcher_of
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.timelines.events import events_of
from quern.pipelines.timelines.query import Wanted, timeline_of, topic_timeline
from quern.schemas.timelines import TimelineEvent
from tests.conftest import CORPUS, build_here, read_jsonl

_TOPICS: Final = ("airbus", "apple")
_FULL: Final = re.compile(r"\d{4}-\d\d-\d\d")

Sentence = tuple[str, int]


def benchmark_timelines(folder: Path, only: Collection[str] = ()) -> dict[str, float]:
    """All figures, or those of `only`: `sample`, `airbus`, `apple`. Builds what it measures in a temporary folder."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        if not only or "sample" in only:
            searcher = searcher_of(build_here(CORPUS / "pages", work / "sample"), None, None)
            figures |= {f"sample, {n}": value for n, value in gold_timelines(searcher).items()}
        for topic in (t for t in _TOPICS if not only or t in only):
            source = folder / "semeval2015_timelines" / topic
            searcher = searcher_of(build_here(source / "documents.jsonl", work / topic), None, None)
            figures |= {f"{topic}, {name}": value for name, value in _semeval(source, searcher).items()}
    return figures


def gold_timelines(searcher: Searcher) -> dict[str, float]:
    """Figures of the sample corpus' six gold timelines, of a warehouse of its pages."""
    f1, taus, right, wanted = 0.0, list[float](), 0, 0
    topics = json.loads((CORPUS / "timelines.json").read_text("utf-8"))
    for topic in topics:
        events = topic_timeline(searcher, topic["topic"]).events
        gold, ours = {e["date"] for e in topic["events"]}, {e.timex for e in events}
        f1 += 2 * len(gold & ours) / (len(gold) + len(ours))
        of_page = {event.sources[0].url: event for event in events}
        found = [(n, of_page[e["url"]]) for n, e in enumerate(topic["events"]) if e["url"] in of_page]
        right += sum(event.timex == topic["events"][n]["date"] for n, event in found)
        wanted += len(topic["events"])
        if len({event.from_day for _, event in found}) > 1:
            days = [event.from_day.toordinal() for _, event in found]
            taus.append(float(kendalltau([n for n, _ in found], days).statistic))
    return {"date F1": f1 / len(topics), "right day": right / wanted, "order": sum(taus) / len(taus)}


def _semeval(source: Path, searcher: Searcher) -> dict[str, float]:
    """Figures of a topic."""
    documents = {row["doc_id"]: row["sentences"] for row in read_jsonl(source / "documents.jsonl")}
    spans = _spans(documents, searcher)

    def sentences_of(events: Iterable[TimelineEvent]) -> dict[Sentence, TimelineEvent]:
        """The sentences that reports of events overlap with."""
        return {
            (report.doc_id, number): event
            for event in events
            for report in event.sources
            for number, span in enumerate(spans.get(report.doc_id, ()))
            if span and report.start < span[1] and span[0] < report.end
        }

    index = events_of(searcher)
    chunks = searcher.graph.chunks.keys.to_pylist()
    every = sentences_of(index.load([event for events in index.of_chunks(chunks).values() for event in events]))
    hits = wanted = right = dated = made = 0
    for gold in read_jsonl(source / "timelines.jsonl"):
        parts = [(event, mention.split("-", 2)) for event in gold["events"] for mention in event["mentions"]]
        mentions = [(event, (doc, int(n))) for event, (doc, n, _) in parts if doc in spans]
        of_entity = {sentence for _, sentence in mentions}
        as_many = Wanted(most=max(1, len(of_entity)))
        ours = sentences_of(timeline_of(searcher, gold["entity"], as_many).events)
        hits, wanted = hits + len(of_entity & set(ours)), wanted + len(of_entity)
        made += sum(sentence in every for sentence in of_entity)
        full = [(event, s) for event, s in mentions if _FULL.fullmatch(event["date"]) and s in every]
        dated, right = dated + len(full), right + sum(every[s].timex == event["date"] for event, s in full)
    return {
        "recall at the length of the gold": hits / wanted,
        "gold sentences that events were made of": made / wanted,
        "date": right / dated,
    }


def _spans(documents: Mapping[str, list[str]], searcher: Searcher) -> dict[str, list[tuple[int, int] | None]]:
    """The span of each sentence of a document; None for one that its text lacks."""
    spans: dict[str, list[tuple[int, int] | None]] = {}
    for batch in searcher.snapshot.stage("documents").batches(["doc_id", "text"]):
        for key, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            at, spans[key] = 0, []
            for sentence in documents[key]:
                start = text.find(sentence.strip(), at)
                spans[key].append((start, start + len(sentence.strip())) if start >= 0 else None)
                at = max(at, start)
    return spans
