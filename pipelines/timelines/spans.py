"""What happened in a span of time, whatever it was: the evidence of questions that name no topic."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from quern.indexes.keys import positions_in
from quern.indexes.lexical import in_order
from quern.jobs.reasoning.answering.course import span_without_topic
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.timelines.events import events_of
from quern.schemas.tables import EVENTS

_TIMES: Final = 20  # Events sought for each chunk that is wanted: some say the same, or may not be found.


def with_spans(batch: Batch, ranking: Ranking) -> Ranking:
    """The ranking, where of questions for what happened in a span the chunks that report its events stand alone."""
    spans = {n: span for n, q in enumerate(batch.questions) if (span := span_without_topic(q)) is not None}
    if not spans or EVENTS.name not in batch.searcher.snapshot.manifest.tables:
        return ranking
    index, most = events_of(batch.searcher), batch.settings.retrieve.top_k
    scored, found = ranking.chunks, {}
    for question, (first, last) in spans.items():
        events = index.load(index.within(first, last, most * _TIMES))
        # What many say in the same words (`Please help, it is urgent`) is told once.
        once = {event.summary.casefold(): event for event in reversed(events)}
        told = [event for event in events if once[event.summary.casefold()] is event]
        keys = list(dict.fromkeys(event.sources[0].chunk_id for event in told))
        at = positions_in(batch.graph.chunks.keys, pa.array(keys, pa.string()))
        at = at[at >= 0]
        at = at[batch.allows(np.full(len(at), question), at)]
        if len(at):
            found[question] = at[np.unique(np.linspace(0, len(at) - 1, min(most, len(at))).round().astype(np.int64))]
    if not found:
        return ranking
    kept = ~np.isin(scored.question, list(found))
    asker = np.concatenate([np.full(len(at), question) for question, at in found.items()]).astype(np.int64)
    place = np.concatenate([np.arange(len(at)) for at in found.values()])
    chunks = in_order(
        np.concatenate([scored.question[kept], asker]),
        np.concatenate([scored.chunk[kept], *found.values()]),
        np.concatenate([scored.score[kept], 1.0 - place / (1 + most)]).astype(np.float32),
    )
    return Ranking(chunks, ranking.reached, ranking.searches)
