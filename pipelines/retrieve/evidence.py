"""Selection, and what it leaves of a ranking: hits without repetitions, reranked, with their nodes and their path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
from scipy import sparse

from quern.indexes.catalog.folder import Snapshot
from quern.indexes.keys import positions_in
from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Floats, pair_similarities
from quern.jobs.reasoning.answering.inputs import Evidence, Fact
from quern.jobs.text.plain_text import publication
from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.named_documents import named_documents, with_named
from quern.pipelines.retrieve.ranking import Ranking, Reached, cut, ranks
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Hit, PathNode, Search
from quern.schemas.tables import TRIPLETS

_FACT_COLUMNS = ["chunk_id", "subject", "relation", "object", "start", "end", "relation_start", "object_start"]
_DOCUMENT_COLUMNS = ["doc_id", "url", "metadata", "page_starts"]
_CHUNK_COLUMNS = ["chunk_id", "doc_id", "title", "published_at", "utc_offset", "start", "end", "text", "header"]


@dataclass(frozen=True)
class Found:
    """What was found for one question."""

    hits: list[Hit]  # The best chunks, best first.
    evidence: list[Evidence]  # What there is to answer from: the text of each hit, and its nodes.
    path: list[PathNode]  # The strongest nodes that led to the hits.
    search: Search | None = None  # The rounds that found them, where there were rounds.


def with_chunks(found: Found, more: Sequence[tuple[Found, Collection[int]]]) -> Found:
    """`found`, and of other findings the chunks at the given positions; best first, each once with its best score."""
    if not more:
        return found
    rows = list(zip(found.hits, found.evidence, strict=True))
    rows += [(other.hits[n], other.evidence[n]) for other, positions in more for n in sorted(positions)]
    rows.sort(key=lambda row: -row[0].score)
    best = {hit.chunk_id: (hit, evidence) for hit, evidence in reversed(rows)}
    pairs = sorted(best.values(), key=lambda row: (-row[0].score, row[0].chunk_id))
    hits = [hit.model_copy(update={"rank": rank}) for rank, (hit, _) in enumerate(pairs, 1)]
    return Found(hits, [evidence for _, evidence in pairs], found.path, found.search)


def load_evidence(batch: Batch, ranking: Ranking) -> list[Found]:
    """What the ranking found for each question of the batch, as text."""
    named = named_documents(batch)
    chosen = with_named(batch, selected(batch, ranking), named).chunks
    hits = hits_of(batch, cut(chosen, len(batch), batch.settings.retrieve.top_k))
    evidence = evidence_of(batch, hits)
    # The evidence of documents that its question names by a key is titled by the key too.
    for question, documents in named.items():
        of_key = {batch.graph.documents.keys[at].as_py(): key for at, key in documents.items()}
        evidence[question] = [
            replace(e, title=f"{of_key[e.page]}: {e.title}" if e.title else of_key[e.page]) if e.page in of_key else e
            for e in evidence[question]
        ]
    searches: Sequence[Search | None] = ranking.searches or [None] * len(batch)
    return [Found(*row) for row in zip(hits, evidence, _paths(batch, ranking.reached), searches, strict=True)]


def hits_of(batch: Batch, best: Scored) -> list[list[Hit]]:
    """The chunks of each question with their texts, best first."""
    snapshot = batch.searcher.snapshot
    keys = batch.graph.chunks.keys.take(pa.array(best.chunk)).to_pylist()
    chunks = _by_key(snapshot, "chunks", "chunk_id", sorted(set(keys)), _CHUNK_COLUMNS)
    sources = sorted({str(chunk["doc_id"]) for chunk in chunks.values()})
    documents = _by_key(snapshot, "documents", "doc_id", sources, _DOCUMENT_COLUMNS)
    rows: list[list[Hit]] = [[] for _ in range(len(batch))]
    for question, key, score in zip(best.question.tolist(), keys, best.score.tolist(), strict=True):
        chunk = chunks[key]
        document = documents[str(chunk["doc_id"])]
        starts = document["page_starts"] or []
        row = {**chunk, "published_at": publication(chunk), "url": document["url"], "metadata": document["metadata"]}
        row |= {"rank": len(rows[question]) + 1, "score": score, "page_starts": starts}
        hit = Hit.model_validate(row)
        rows[question].append(hit.model_copy(update={"page": hit.page_at(hit.start)}))
    return rows


def _by_key(
    snapshot: Snapshot, table: str, key: str, values: Sequence[str], columns: list[str]
) -> dict[str, dict[str, Any]]:
    rows = snapshot.table(table).lookup(key, values, columns)
    return {row[key]: row for row in rows.to_pylist()}


def evidence_of(batch: Batch, hits: Sequence[Sequence[Hit]]) -> list[list[Evidence]]:
    """The hits, each with the texts of its chunk's nodes and their cosines with the question."""
    graph = batch.graph
    nodes, starts = batch.searcher.snapshot.table("nodes"), {h.chunk_id: h.start for row in hits for h in row}
    rows = nodes.lookup("chunk_id", sorted(starts), ["query_id", "chunk_id", "text"]).sort_by("query_id")
    texts, place = rows["text"].to_pylist(), positions_in(graph.nodes.keys, rows["query_id"])
    members: dict[str, list[int]] = {}
    for n, owner in enumerate(rows["chunk_id"].to_pylist()):
        members.setdefault(owner, []).append(n)
    of_hit = [[members.get(h.chunk_id, []) for h in row] for row in hits]
    question = np.array([q for q, row in enumerate(of_hit) for mine in row for _ in mine], dtype=np.int64)
    node = place[np.array([n for row in of_hit for mine in row for n in mine], dtype=np.int64)]
    # What each chunk states, in reading order; nothing where the snapshot was built before there were triplets.
    facts: dict[str, list[Fact]] = {}
    if TRIPLETS.name in batch.searcher.snapshot.manifest.tables and starts:
        stated = batch.searcher.snapshot.table(TRIPLETS.name).lookup("chunk_id", sorted(starts), _FACT_COLUMNS)
        order = ("chunk_id", "start", "relation_start", "object_start")
        for fact in stated.sort_by([(name, "ascending") for name in order]).to_pylist():
            at = starts[fact["chunk_id"]]
            span = fact["start"] - at, fact["end"] - at
            own = Fact(fact["subject"], fact["relation"], fact["object"], *span)
            facts.setdefault(fact["chunk_id"], []).append(own)
    cosines = iter(pair_similarities(batch.vectors, graph.nodes.vectors, question, node).tolist())
    return [
        [
            Evidence(
                h.text,
                h.title,
                [texts[n] for n in mine],
                [next(cosines) for _ in mine],
                h.published_at,
                h.chunk_id,
                h.doc_id,
                facts=facts.get(h.chunk_id, ()),
                site=urlsplit(str(h.url)).hostname or "",
                header=h.header,
            )
            for h, mine in zip(row, of_row, strict=True)
        ]
        for row, of_row in zip(hits, of_hit, strict=True)
    ]


def _paths(batch: Batch, reached: Reached | None) -> list[list[PathNode]]:
    """The strongest reached nodes per question, each with the node it was reached through."""
    rows: list[list[PathNode]] = [[] for _ in range(len(batch))]
    if reached is None or len(reached.node) == 0:
        return rows
    graph = batch.graph
    order = np.lexsort((reached.node, -reached.similarity, reached.hop, reached.question))
    first = np.searchsorted(reached.question[order], np.arange(len(batch)))
    rank = np.arange(len(order)) - first[reached.question[order]]
    kept = order[rank < 40]
    ids = graph.nodes.keys.take(pa.array(reached.node[kept])).to_pylist()
    owners = graph.chunks.keys.take(pa.array(graph.nodes.owner[reached.node[kept]])).to_pylist()
    texts = _by_key(batch.searcher.snapshot, "nodes", "query_id", sorted(set(ids)), ["query_id", "text"])
    followed = graph.edges + graph.mentions
    incoming = sparse.csc_array(followed) if int(reached.hop[kept].max()) else sparse.csc_array((0, 0))
    hops: dict[tuple[int, int], int] = {}  # Of the nodes so far, by question and node.
    # Kept nodes come hop by hop, so the node before is known when its neighbours come.
    for at, query_id, owner in zip(kept.tolist(), ids, owners, strict=True):
        question, node, hop = int(reached.question[at]), int(reached.node[at]), int(reached.hop[at])
        via = edge = None
        if hop:
            # The node of the hop before that has an edge to this one; none where that one was not kept.
            sources = incoming.indices[slice(*incoming.indptr[node : node + 2])].tolist()
            via = next((source for source in sources if hops.get((question, source)) == hop - 1), None)
        if via is not None:
            # Where there are both kinds of edge between two nodes, it is a mention.
            mentions = graph.mentions.indices[slice(*graph.mentions.indptr[via : via + 2])]
            edge = "mention" if node in mentions else "neighbour"
        hops[question, node] = hop
        rows[question].append(
            PathNode(
                query_id=query_id,
                chunk_id=owner,
                text=str(texts[query_id]["text"]),
                similarity=float(reached.similarity[at]),
                hop=hop,
                via=None if via is None else graph.nodes.keys[via].as_py(),
                edge=edge,
            )
        )
    return rows


def selected(batch: Batch, ranking: Ranking) -> Ranking:
    """`ranking` without chunks that repeat a better one, in the order of the cross-encoder where there is one.

    Of a question's chunks, best first, one is left out whose cosine with one that was kept is above
    `retrieve.deduplicate_above`. With `rerank.model` the `rerank.depth` best that are left are ranked by it, and the
    others left out.
    """
    retrieve, rerank = batch.settings.retrieve, batch.settings.rerank
    # What is left must fill `top_k` places where some are left out.
    depth = max(4 * retrieve.top_k, 2 * rerank.depth if rerank.model else 0)
    chunks = deduplicated(ranking.chunks, batch.graph.chunks.vectors, len(batch), depth, retrieve.deduplicate_above)
    if not rerank.model:
        return replace(ranking, chunks=chunks)
    best = cut(chunks, len(batch), rerank.depth)
    keys = batch.graph.chunks.keys.take(pa.array(best.chunk)).to_pylist()
    columns = ["chunk_id", "title", "text"]
    rows = batch.searcher.snapshot.table("chunks").lookup("chunk_id", sorted(set(keys)), columns)
    text = {row["chunk_id"]: under_title(row) for row in rows.to_pylist()}
    # Only where a setting names such a model: torch takes seconds to import.
    model = import_module("quern.jobs.models.cross_encoder").CrossEncoder.load(rerank)
    scores = model.scores([batch.questions[q] for q in best.question.tolist()], [text[key] for key in keys])
    return replace(ranking, chunks=in_order(best.question, best.chunk, scores))


def deduplicated(scored: Scored, vectors: Floats, questions: int, depth: int, above: float) -> Scored:
    """`scored` without chunks whose cosine with a better one that is kept is over `above`.

    The largest set without such pairs is NP-hard to find (maximum independent set); this is the greedy one. It is
    looked for among the `depth` best chunks of a question; the others stay. `vectors` are those of the chunks.
    """
    if above >= 1.0 or not len(scored.question):
        return scored
    rank = ranks(scored, questions)
    head = np.flatnonzero(rank < depth)
    chunk = np.full((questions, depth), -1, dtype=np.int64)
    chunk[scored.question[head], rank[head]] = scored.chunk[head]
    kept = chunk >= 0
    for question in np.flatnonzero(kept.any(axis=1)).tolist():  # A product of a few vectors each.
        mine = vectors[chunk[question][chunk[question] >= 0]]
        alike = mine @ mine.T > above
        for place in np.flatnonzero(np.tril(alike, -1).any(axis=1)).tolist():
            kept[question, place] = not (alike[place, :place] & kept[question, :place]).any()
    stays = np.ones(len(scored.question), dtype=np.bool_)
    stays[head] = kept[scored.question[head], rank[head]]
    return Scored(scored.question[stays], scored.chunk[stays], scored.score[stays])


def under_title(chunk: Mapping[str, Any]) -> str:
    """The text of a chunk under its title, if it has one, as rerankers read it."""
    return f"{chunk['title']}\n{chunk['text']}" if chunk["title"] else str(chunk["text"])


class Passages:
    """Passages for texts with no question answered, such as evidence that models are trained by; each found once."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._known: dict[tuple[str, str], list[str]] = {}

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors of texts by the snapshot's model, shape (n, d)."""
        return self._searcher.question_embedder.encode([self._searcher.form(text) for text in texts])

    def by(self, recipe: Recipe, most: int) -> Callable[[Sequence[str]], list[list[str]]]:
        """What gives the best `most` passages of each text by a recipe."""

        def retrieve(texts: Sequence[str]) -> list[list[str]]:
            new = [text for text in dict.fromkeys(texts) if (recipe.name, text) not in self._known]
            if new:
                batch = Batch(self._searcher, new)
                for text, result in zip(new, load_evidence(batch, recipe.rank(batch)), strict=True):
                    self._known[recipe.name, text] = [e.text for e in result.evidence[:most]]
            return [self._known[recipe.name, text] for text in texts]

        return retrieve
