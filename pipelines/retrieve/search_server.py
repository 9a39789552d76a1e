"""Rankings by an Elasticsearch or OpenSearch server that holds what `quern export` sent: BM25, and vectors.

They are fused by recipes, not by the server: so both kinds of server give the same, under any licence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from quern.indexes.keys import positions_in
from quern.indexes.lexical import Scored, in_order
from quern.indexes.served.search_server import SearchServer, SearchServerError
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.tables import CHUNKS

# Hits that a server gives for one search (`index.max_result_window`).
_MOST_HITS: Final = 10_000
# Chunks that a condition names to the server, each in every search.
_MOST_NAMED: Final = 65_536
_REQUEST_HITS: Final = 50_000
_REQUEST_BYTES: Final = 8 << 20

Part = Literal["bm25", "knn"]


def searched(batch: Batch, parts: Sequence[Part]) -> list[Scored]:
    """The `retrieve.depth` best chunks of each question in each of the parts; scores of `knn` are cosines.

    Raises:
        SearchServerError: The server cannot be used, holds another snapshot, or searched only a part of the index.
    """
    server, index = batch.searcher.held(_open)
    bodies = [body for part in parts for body in _bodies(batch, part, server.kind)]
    hits: list[list[dict[str, Any]]] = []
    for request in _requests(bodies, index):
        for answer in server.call("POST", "/_msearch", lines=request).get("responses", []):
            if "hits" not in answer or answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
                raise server.error(f"a search failed: {json.dumps(answer)[:300]}")
            hits.append(answer["hits"]["hits"])
    ranked = []
    for n, part in enumerate(parts):
        own = hits[n * len(batch) : (n + 1) * len(batch)]
        question = np.repeat(np.arange(len(batch)), [len(of_question) for of_question in own])
        ids = pa.array([hit["_id"] for of_question in own for hit in of_question], pa.string())
        chunk = positions_in(batch.graph.members.chunks, ids)
        score = np.array([hit["_score"] for of_question in own for hit in of_question], dtype=np.float32)
        if part == "knn":  # Both kinds of server give half of one more than the cosine.
            score = 2 * score - 1
        kept = (chunk >= 0) & (score > 0)
        ranked.append(in_order(question[kept], chunk[kept], score[kept]))
    return ranked


def _open(searcher: Searcher) -> tuple[SearchServer, str]:
    """The server, and the index that the alias leads to: another export does not change what is searched."""
    settings, manifest = searcher.settings.elasticsearch, searcher.snapshot.manifest
    server = SearchServer(settings).opened()
    published = server.published(settings.index, server.indexes(settings.index))
    if published is None:
        raise server.error(f"there is no alias {settings.index}: `quern export` makes it")
    index, about = published
    if about.table != CHUNKS.name or about.digests[about.table] != manifest.tables[CHUNKS.name].digest:
        raise server.error(
            f"{settings.index} holds {about.table} of snapshot {about.snapshot}, and the chunks of {manifest.build_id} "
            f"are asked for: `quern export` publishes these, --snapshot {about.snapshot} asks those"
        )
    return server, index.name


def _bodies(batch: Batch, part: Part, kind: str) -> list[dict[str, Any]]:
    """The search of each question."""
    depth = min(batch.settings.retrieve.depth, _MOST_HITS)
    allowed = batch.allowed
    filters: list[dict[str, Any]] = [] if allowed else [{}]
    for mask in allowed.masks if allowed else ():
        # A clause that lets through the chunks of `mask` names these or the others, whichever are fewer.
        inside = int(mask.sum()) * 2 <= len(mask)
        ids = batch.graph.members.chunks.filter(pa.array(mask if inside else ~mask)).to_pylist()
        if len(ids) > _MOST_NAMED:
            raise SearchServerError(
                f"the conditions divide the corpus in two parts of more than {_MOST_NAMED:,} chunks, more than a "
                "search of a server can name: take the recipe bridge or hybrid without the source elasticsearch"
            )
        filters.append({"filter" if inside else "must_not": {"ids": {"values": ids}}})
    of_question = allowed.of_question.tolist() if allowed else [0] * len(batch)
    bodies: list[dict[str, Any]] = []
    for question, chosen in enumerate(filters[n] for n in of_question):
        if part == "bm25":
            words = " ".join(dict.fromkeys(batch.terms[question].split()))
            body: dict[str, Any] = {"query": {"bool": {"must": {"match": {CHUNKS.words: words}}, **chosen}}}
        elif not any(vector := batch.vectors[question].tolist()):
            body = {"query": {"match_none": {}}}  # Nothing is near to a vector without a direction.
        else:
            knn: dict[str, Any] = {"k": depth} | ({"filter": {"bool": chosen}} if chosen else {})
            candidates = min(2 * depth, _MOST_HITS)
            if kind == "opensearch":
                body = {"query": {"knn": {"vector": {**knn, "vector": vector}}}}
            else:
                body = {"knn": {**knn, "field": "vector", "query_vector": vector, "num_candidates": candidates}}
        bodies.append({"size": depth, "_source": False, **body})
    return bodies


def _requests(bodies: Sequence[dict[str, Any]], index: str) -> Iterator[bytes]:
    """The searches as lines, in requests of bounded size, whose answers are bounded too."""
    head = json.dumps({"index": index}).encode()
    lines, hits = b"", 0
    for body in bodies:
        line = head + b"\n" + json.dumps(body).encode() + b"\n"
        if lines and (len(lines) + len(line) > _REQUEST_BYTES or hits + body["size"] > _REQUEST_HITS):
            yield lines
            lines, hits = b"", 0
        lines, hits = lines + line, hits + body["size"]
    if lines:
        yield lines
