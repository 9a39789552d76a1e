"""The table `edges`: `E_intra`, each node joined to its k nearest nodes (QCG-RAG, section 3.3).

Exact, by blocked matrix products (`indexes.vectors`); ties go to the lower key, a node is never its own
neighbour. Needs the whole table of nodes: its vectors are laid in a memory-mapped file of the build's work
directory, so what must be in memory is one block, the keys, and 40 bytes per node. Nodes with equal vectors are
searched for once, and expanded after.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indexes.stages import Stage
from indexes.vectors import Floats, Positions, nearest, similarities, vector_matrix
from jobs.progress import watched
from jobs.runner import JobReport, Run
from schemas.digests import settings_digest
from schemas.groups import GraphSettings
from schemas.tables import EDGES

NAME, VERSION = "link", 1
_BLOCK = 2048


def fingerprint(settings: GraphSettings) -> str:
    """Digest of name, version and the settings that edges depend on."""
    return settings_digest([NAME, VERSION, settings.k])


def link(nodes: Stage, settings: GraphSettings, run: Run) -> Stage:
    """The edges of the query-centric graph."""
    started = time.monotonic()
    keys, vectors = _sorted_vectors(nodes, run.work / "link.f32")
    groups = _Groups.of(vectors)
    done = 0
    with run.writer(EDGES) as writer, watched(NAME, nodes.rows, lambda: done):
        for start in range(0, len(groups.first), _BLOCK):
            stop = min(start + _BLOCK, len(groups.first))
            found = _expand(groups, _distinct_neighbours(groups, vectors, start, stop, settings.k), settings.k)
            writer.write(_edges(keys, *found))
            done += len(np.unique(found[0]))
    edges = writer.stage()
    seconds = round(time.monotonic() - started, 3)
    run.report(JobReport(NAME, fingerprint(settings), nodes.rows, edges.rows, 0, nodes.rows, 0, seconds, "driver"))
    return edges


@dataclass(frozen=True)
class _Groups:
    """Nodes with equal vectors: boilerplate repeats a text on thousands of pages, and is searched for once.

    Attributes:
        first: Lowest position of each group, ascending, shape (groups,).
        members: Positions of all nodes, group by group, ascending within a group, shape (nodes,).
        start: Where each group begins in `members`, shape (groups + 1,).
    """

    first: Positions
    members: Positions
    start: Positions

    @classmethod
    def of(cls, vectors: Floats) -> _Groups:
        prints = np.frombuffer(b"".join(blake2b(row.tobytes(), digest_size=16).digest() for row in vectors), np.uint64)
        _, first, inverse = np.unique(prints.reshape(-1, 2), axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        group = rank[inverse.ravel()]
        members = np.argsort(group, kind="stable")
        return cls(first[order], members, np.searchsorted(group[members], np.arange(len(order) + 1)))


_Found = tuple[Positions, Positions, Floats]


def _distinct_neighbours(groups: _Groups, vectors: Floats, start: int, stop: int, k: int) -> _Found:
    """(group, neighbouring group, cosine), itself included, for the groups from `start` to `stop`."""
    distinct = vectors if len(groups.first) == len(vectors) else _Rows(vectors, groups.first)
    own = np.arange(start, stop)
    mine = np.asarray(distinct[start:stop])
    found = nearest(mine, distinct, k, own=own)
    row, rank = np.nonzero(found.positions >= 0)
    group = np.concatenate([own, own[row]])
    other = np.concatenate([own, found.positions[row, rank]])
    return group, other, np.concatenate([similarities(mine, mine), found.similarities[row, rank]])


class _Rows:
    """Some rows of a memory-mapped matrix, read as they are sliced."""

    def __init__(self, matrix: Floats, rows: Positions) -> None:
        self._matrix, self._rows = matrix, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, part: slice) -> Floats:
        return np.asarray(self._matrix[self._rows[part]])


def _expand(groups: _Groups, found: _Found, k: int) -> _Found:
    """(node, neighbour, cosine): each group's nodes against the first k + 1 nodes of its neighbouring groups.

    More are never needed: of nodes with one vector those with the lowest keys come first.
    """
    group, other, cosine = found
    offers = np.minimum(groups.start[other + 1] - groups.start[other], k + 1)
    pair = np.repeat(np.arange(len(group)), offers)
    nth = np.arange(len(pair)) - np.repeat(np.cumsum(offers) - offers, offers)
    target = groups.members[groups.start[other[pair]] + nth]
    takers = groups.start[group[pair] + 1] - groups.start[group[pair]]
    row = np.repeat(np.arange(len(pair)), takers)
    mine = np.arange(len(row)) - np.repeat(np.cumsum(takers) - takers, takers)
    source = groups.members[groups.start[group[pair[row]]] + mine]
    source, target, cosine = (a[source != target[row]] for a in (source, target[row], cosine[pair[row]]))
    order = np.lexsort((target, -cosine, source))
    source, target, cosine = source[order], target[order], cosine[order]
    rank = np.arange(len(source)) - np.searchsorted(source, source)
    kept = rank < k
    return source[kept], target[kept], cosine[kept]


def _sorted_vectors(nodes: Stage, path: Path) -> tuple[pa.Array, Floats]:
    """Keys in order, and a memory-mapped matrix of the vectors in the same order."""
    ids = [b.column("query_id") for b in nodes.batches(["query_id"])]
    keys = pa.concat_arrays(ids) if ids else pa.array([], pa.string())
    order = pc.sort_indices(keys).to_numpy()
    if len(keys) == 0:
        return keys, np.empty((0, 1), dtype=np.float32)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    dimension = nodes.table.schema.field("vector").type.list_size
    matrix = np.memmap(path, dtype=np.float32, mode="w+", shape=(len(keys), dimension))
    at = 0
    for batch in nodes.batches(["vector"]):
        vectors = vector_matrix(batch.column(0))
        matrix[place[at : at + len(vectors)]] = vectors
        at += len(vectors)
    return keys.take(pa.array(order)), matrix


def _edges(keys: pa.Array, source: Positions, target: Positions, cosine: Floats) -> pa.RecordBatch:
    rank = np.arange(len(source)) - np.searchsorted(source, source)
    return pa.RecordBatch.from_arrays(
        [
            keys.take(pa.array(source)),
            pa.array(np.full(len(source), "neighbour", dtype=object), pa.string()),
            pa.array(rank.astype(np.int32)),
            keys.take(pa.array(target)),
            pa.array(cosine),
        ],
        schema=EDGES.schema,
    )
