"""What of the communities is read for a question about a whole corpus.

A question is about those of its constituents that are near to some nodes; then the sentences nearest to them and to the
question are read, grouped by their communities. A question that is near to none (`What are the main themes?`) is
answered from the central sentences of the communities that most documents share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, zip_longest
from typing import Any, Final

import numpy as np
import pyarrow as pa

from quern.indexes.keys import positions_in
from quern.indexes.vectors import Floats, Positions
from quern.jobs.communities.quotes import NEW, marginal, quotes, weights
from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.text.dates import dates
from quern.jobs.text.stems import content_words
from quern.pipelines.retrieve.batch import Batch, Clauses
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.errors import QuernError
from quern.schemas.tables import COMMUNITIES

_NEAREST: Final = 10  # Nodes by whose mean cosine a constituent is near.
_READ: Final = 100  # Sentences that are looked at for a constituent.
_LEAST: Final = 0.75  # Share of the best one's worth below which a sentence is left out.
_NAMED: Final = 0.1  # What a sentence is worth beside its cosine that has the words of the constituent.
_COMMUNITY: Final = ["community_id", "level", "document_count", "chunk_ids", "title", "sentences"]


class OverviewError(QuernError):
    """A snapshot without communities; the message says what to do."""


@dataclass(frozen=True)
class Told:
    """A sentence of the corpus that is read."""

    row: dict[str, Any]  # As `communities.sentences` has it.
    worth: float  # Of the question; the order counts.
    when: date | None  # The day that it names, else that of its document.


@dataclass(frozen=True)
class Topic:
    """A community of which sentences are read, in the order of time where they are dated."""

    title: str
    sentences: list[Told]


@dataclass(frozen=True)
class Choice:
    """What is read for one question."""

    topics: list[Topic]
    about: tuple[str, ...]  # The constituents that it is about; none where it is about the corpus as such.


@dataclass(frozen=True)
class _Communities:
    """All communities of a snapshot."""

    rows: list[dict[str, Any]]  # Their rows, without members.
    levels: list[Positions]  # Of each level the community of each chunk, -1 where it has none; shape (chunks,).


def _communities(searcher: Searcher) -> _Communities:
    snapshot = searcher.snapshot
    if COMMUNITIES.name not in snapshot.manifest.tables:
        raise OverviewError(
            f"snapshot {snapshot.manifest.build_id} was built before there were communities: build again"
        )
    keys, rows = searcher.graph.chunks.keys, list[dict[str, Any]]()
    levels: list[Positions] = []
    table = snapshot.table(COMMUNITIES.name)
    every = [row for batch in table.batches(_COMMUNITY) for row in batch.to_pylist()]
    for row in sorted(every, key=lambda row: (row["level"], -row["document_count"], row["community_id"])):
        while len(levels) <= row["level"]:
            levels.append(levels[-1].copy() if levels else np.full(len(keys), -1, dtype=np.int64))
        levels[row["level"]][positions_in(keys, pa.array(row.pop("chunk_ids")))] = len(rows)
        rows.append(row)
    return _Communities(rows, levels)


def choose(batch: Batch, most: int) -> list[Choice]:
    """What is read for each question: at most `most` sentences of `overview.topics` communities.

    Raises:
        OverviewError: The snapshot has no communities.
    """
    held = batch.searcher.held(_communities)
    spans = [_span(q) for q in batch.questions]
    clauses = [[c.text for c in parsed(plain).constituents] for _, plain in spans]
    facets, nodes = Clauses(batch, clauses), batch.graph.nodes
    owner = facets.question
    # The mean cosine of each constituent with its nearest nodes.
    cosines = facets.nearest_of(nodes, max(1, min(_NEAREST, len(nodes.keys)))).similarities
    known = np.isfinite(cosines)
    mean: Floats = np.where(known, cosines, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    near = mean >= batch.settings.overview.near
    both = facets.with_vectors((facets.vectors + batch.vectors[owner]) * np.float32(0.5)) if len(facets) else facets
    hits = both.nearest_of(nodes, max(1, min(_READ, len(nodes.keys))))
    read = np.unique(hits.positions[near][hits.positions[near] >= 0])
    keys = nodes.keys.take(pa.array(read)).to_pylist()
    owners = batch.graph.chunks.keys.take(pa.array(nodes.owner[read])).to_pylist()
    snapshot = batch.searcher.snapshot
    quoted = quotes(keys, owners, snapshot.stage("queries").lookup, snapshot.table("chunks").lookup)
    rows = dict(zip(read.tolist(), quoted, strict=True))
    choices = []
    for question, (days, _) in enumerate(spans):
        own = np.flatnonzero((owner == question) & near).tolist()
        ranked = [_ranked(batch, facets.questions[n], hits.positions[n], hits.similarities[n], rows, days) for n in own]
        distinct: dict[str, Told] = {}
        for one in filter(None, chain(*zip_longest(*ranked))):  # Of each constituent in turn.
            distinct.setdefault(" ".join(one.row["text"].split()), one)
        picks = [*distinct.values()][:most]
        topics = (
            _grouped(batch, held, picks, in_time=days is not None) if own else _central(batch, held, question, most)
        )
        choices.append(Choice(topics, tuple(facets.questions[n] for n in own)))
    return choices


def _span(question: str) -> tuple[tuple[date, date] | None, str]:
    """The first and the last day that a question names, and the question without them."""
    periods, plain = [when for when in dates(question) if not when.flaw], question
    for when in reversed(periods):
        plain = f"{plain[: when.start]} {plain[when.end :]}"
    ends = [when.days for when in periods]
    if not ends:
        return None, plain
    first, last = (min(a or date.min for a, _ in ends), max(b or date.max for _, b in ends))
    return (first, last), plain


def _ranked(
    batch: Batch,
    constituent: str,
    nodes: Positions,
    near: Floats,
    rows: Mapping[int, dict[str, Any]],
    days: tuple[date, date] | None,
) -> list[Told]:
    """The sentences of the nodes nearest to a question and one of its constituents, best first, without the weak ones.

    The nodes come nearest first, -1 for none; `rows` has their sentences, `days` are those that the question names.
    """
    nodes, near = nodes[nodes >= 0], near[nodes >= 0]
    own, words = [rows[n] for n in nodes.tolist()], content_words(constituent)
    overlap = [len(words & content_words(row["text"])) / max(1, len(words)) for row in own]
    worth = near + weights(own) + _NAMED * np.array(overlap, dtype=np.float32)
    sentences = [Told(row, float(w), _day(row)) for row, w in zip(own, worth, strict=True)]
    kept = [n for n, one in enumerate(sentences) if one.worth >= _LEAST * max(worth)]
    inside = [n for n in kept if days and (day := sentences[n].when) and days[0] <= day <= days[1]]
    kept = inside if len(inside) > 1 else kept
    sentences = [sentences[n] for n in kept]
    # What counts of the likeness of each two sentences: all on one day, nothing at the two ends of the time told of. So
    # what is said again at another time, which tells how something changed, is no repetition.
    day_of = np.array([one.when.toordinal() if one.when else np.nan for one in sentences])
    apart = np.abs(day_of[:, None] - day_of[None, :])
    whole = np.nanmax(apart, initial=1.0) if len(day_of) else 1.0
    closeness = np.asarray(1 - np.nan_to_num(apart) / max(whole, 1.0), dtype=np.float32)
    return [sentences[n] for n in marginal(worth[kept], batch.graph.nodes.vectors[nodes[kept]], NEW, closeness)]


def _day(row: dict[str, Any]) -> date | None:
    published = row["published_at"].date() if row["published_at"] else None
    days = (when.from_day for when in dates(row["text"], published) if not when.flaw and when.from_day)
    return next(days, published)


def _grouped(batch: Batch, held: _Communities, picks: Sequence[Told], *, in_time: bool) -> list[Topic]:
    """The sentences by their communities: those of the finest level that are no more than an answer may have."""
    most = batch.settings.overview.topics
    chunks = positions_in(batch.graph.chunks.keys, pa.array([pick.row["chunk_id"] for pick in picks], pa.string()))
    of = next((level[chunks] for level in reversed(held.levels) if len(np.unique(level[chunks])) <= most), None)
    of = held.levels[0][chunks] if of is None else of
    groups: dict[int, list[Told]] = {}
    for pick, community in zip(picks, of.tolist(), strict=True):
        groups.setdefault(community, []).append(pick)
    best = sorted(groups.items(), key=lambda group: -sum(pick.worth for pick in group[1]))[:most]
    topics = [Topic(held.rows[community]["title"], _ordered(group)) for community, group in best]
    return sorted(topics, key=lambda topic: topic.sentences[0].when or date.max) if in_time else topics


def _central(batch: Batch, held: _Communities, question: int, most: int) -> list[Topic]:
    """The central sentences of the communities that most documents share, of the chunks that may be found."""
    settings, keys = batch.settings.overview, batch.graph.chunks.keys
    allowed = batch.allows(np.full(len(keys), question), np.arange(len(keys)))
    coarsest = held.levels[0] if held.levels else np.empty(0, dtype=np.int64)
    known = (coarsest >= 0) & allowed if len(coarsest) else np.empty(0, dtype=np.bool_)
    document = batch.graph.documents.of_chunk[known]
    pairs = np.unique(np.stack([coarsest[known], document]), axis=1)[0] if known.any() else np.empty(0, dtype=np.int64)
    documents, chunks = np.bincount(pairs), np.bincount(coarsest[known])
    topics: list[Topic] = []
    for community in np.lexsort((-chunks, -documents)).tolist():
        if len(topics) == settings.topics or not documents[community]:
            break
        rows = held.rows[community]["sentences"]
        there = positions_in(keys, pa.array([row["chunk_id"] for row in rows], pa.string()))
        kept = [row for row, at in zip(rows, there.tolist(), strict=True) if allowed[at]]
        worth = float(chunks[community] / chunks.sum())
        sentences = [Told(row, worth, _day(row)) for row in kept[: max(1, most // settings.topics)]]
        if sentences:
            topics.append(Topic(held.rows[community]["title"], _ordered(sentences)))
    return topics


def _ordered(sentences: Sequence[Told]) -> list[Told]:
    """In the order of time; what is not dated after what is."""
    return sorted(sentences, key=lambda one: one.when or date.max)
