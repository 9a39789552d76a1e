"""Edges of kinds `shared_name` and `relation`: between nodes of two documents that name one rare entity.

`shared_name` joins all that name it; `relation` goes from where it is the object of a triplet to where it is the
subject of another, so that two triplets are a path. What is named is an entity under all its forms (table `entities`),
so that `Tighe` and `Lorcan Tighe` join. A name counts by how few documents have it, log 2 / log df (Adamic and Adar,
Friends and neighbors on the web, 2003, section 4): of two documents all, of 16 a quarter. No number of all documents is
in it, as in the rarity of titles (`.mentions`): a night changes the edges of names that came or went, and no others.

An edge leads to the first node of a document that names the entity, and a name that more documents than
`link.name_documents` have joins none, so that what is on each of 10,000 pages makes no square of edges.

Memory: about 300 bytes a form of an entity, and 24 for each name in a node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.keys import positions_in
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.mentions import Titles, ranked_edges

_BATCH: Final = 4096


@dataclass(frozen=True)
class Holding:
    """Which nodes name which entities, sorted by entity and node, each pair once; arrays of one length.

    Attributes:
        entity: Position of the entity.
        node: Position of the node.
        document: Number of the node's document.
    """

    entity: Positions
    node: Positions
    document: Positions

    @classmethod
    def of(cls, entity: Positions, node: Positions, document: Positions) -> Holding:
        """The pairs of `entity` and `node`; `document` is that of each node there is, shape (nodes,)."""
        rows = np.unique(np.stack([entity, node], axis=1), axis=0) if len(entity) else np.empty((0, 2), np.int64)
        return cls(rows[:, 0], rows[:, 1], document[rows[:, 1]])

    def some(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Holding:
        """Some of them."""
        return Holding(self.entity[kept], self.node[kept], self.document[kept])


@dataclass(frozen=True)
class NamedEntities:
    """The entities that nodes name.

    Attributes:
        named: Which nodes name which.
        subjects: Those in whose chunk it is the subject of a triplet.
        objects: Those in whose chunk it is the object of one.
        rarity: log 2 / log df of each entity that 2 to `link.name_documents` documents name, else 0.
    """

    named: Holding
    subjects: Holding
    objects: Holding
    rarity: Floats


def named_entities(nodes: Stage, triplets: Stage, entities: Stage, keys: pa.Array, most: int) -> NamedEntities:
    """The entities that the nodes with these keys name, as positions among `keys` and `entities`.

    A node names an entity where one of its forms stands in the text, word for word; a form of several entities is of
    none in particular. Where a chunk states something of an entity that none of its nodes names, its first node does.

    Args:
        nodes: The nodes, with their text.
        triplets: What the chunks state.
        entities: The entities, with their forms.
        keys: Sorted keys of the nodes; those that are not among them name nothing.
        most: Most documents that name an entity which joins any.
    """
    rows = pa.Table.from_batches(entities.batches(["entity_id", "forms", "facts"])).sort_by("entity_id").to_pylist()
    chunks, chunk, document = _chunks(nodes, keys)
    named = _in_text(nodes, keys, [row["forms"] for row in rows])
    stated = _stated(triplets, [(row["facts"], frozenset(row["forms"])) for row in rows], chunks)
    first = np.full(len(chunks), -1, dtype=np.int64)
    first[chunk[::-1]] = np.arange(len(keys))[::-1]
    width = max(1, len(chunks))
    there = np.unique(named[0] * width + chunk[named[1]])
    silent = stated.some(~np.isin(stated.entity * width + stated.chunk, there))
    entity = np.concatenate([named[0], silent.entity])
    holding = Holding.of(entity, np.concatenate([named[1], first[silent.chunk]]), document)
    pair = holding.entity * width + chunk[holding.node]
    subjects, objects = (
        holding.some(np.isin(pair, stated.entity[side] * width + stated.chunk[side]))
        for side in (stated.subject, ~stated.subject)
    )
    documents = np.unique(np.stack([holding.entity, holding.document], axis=1), axis=0)[:, 0]
    df = np.bincount(documents.astype(np.int64), minlength=len(rows))
    rarity = np.where((df >= 2) & (df <= most), np.log(2) / np.log(np.maximum(df, 2)), 0.0).astype(np.float32)
    return NamedEntities(holding, subjects, objects, rarity)


def entity_edges(
    named: NamedEntities, kind: str, most: int
) -> Iterator[tuple[Positions, Positions, Positions, Floats]]:
    """(source, rank, target, rarity) of the edges of `kind`, at most `most` a node, those of the rarest names first."""
    here, there = (named.objects, named.subjects) if kind == "relation" else (named.named, named.named)
    yield from _joined(here, there, named.rarity, most)


def _chunks(nodes: Stage, keys: pa.Array) -> tuple[pa.Array, Positions, Positions]:
    """Sorted keys of the nodes' chunks, and the position of each node's chunk and a number for its document."""
    owner = np.empty(len(keys), dtype=object)
    for batch in nodes.batches(["query_id", "chunk_id"]):
        at = positions_in(keys, batch.column(0))
        owner[at[at >= 0]] = np.array(batch.column(1).to_pylist(), dtype=object)[at >= 0]
    owners = pa.array(owner, pa.string())
    chunks = pc.unique(owners).take(pc.sort_indices(pc.unique(owners)))
    # The key of a chunk is its document's, a hyphen and a number.
    documents = pc.replace_substring_regex(owners, r"-\d+$", "").dictionary_encode().indices
    return chunks, positions_in(chunks, owners), documents.to_numpy(zero_copy_only=False).astype(np.int64)


def _in_text(nodes: Stage, keys: pa.Array, forms: list[list[str]]) -> tuple[Positions, Positions]:
    """(entity, node) where a form of the entity, and of no other, stands in the text of the node."""
    entity_of = [entity for entity, mine in enumerate(forms) for _ in mine]
    known = Titles((form for mine in forms for form in mine), len(entity_of))
    meant = [{entity_of[place] for place in places} for places in known.documents]
    entity: list[int] = []
    node: list[int] = []
    for batch in nodes.batches(["query_id", "text"], _BATCH):
        for at, text in zip(positions_in(keys, batch.column(0)).tolist(), batch.column(1).to_pylist(), strict=True):
            found = {next(iter(meant[n])) for n in known.named(text) if len(meant[n]) == 1} if at >= 0 else ()
            entity.extend(found)
            node.extend([at] * len(found))
    return np.array(entity, dtype=np.int64), np.array(node, dtype=np.int64)


@dataclass(frozen=True)
class _Stated:
    """Chunks that state something of an entity; arrays of one length."""

    entity: Positions
    chunk: Positions
    subject: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def some(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> _Stated:
        """Some of them."""
        return _Stated(self.entity[kept], self.chunk[kept], self.subject[kept])


def _stated(triplets: Stage, entities: list[tuple[list[str], frozenset[str]]], chunks: pa.Array) -> _Stated:
    """What chunks that have nodes state of each of `entities`: facts, and forms of the name."""
    of_fact: defaultdict[str, list[int]] = defaultdict(list)
    for entity, (facts, _) in enumerate(entities):
        for fact in facts:
            of_fact[fact].append(entity)
    rows: set[tuple[int, int, bool]] = set()
    for batch in triplets.batches(["triplet_id", "chunk_id", "subject_name", "object_name"]):
        at = positions_in(chunks, batch.column("chunk_id")).tolist()
        # Python per row: which side of it is a form of the entity.
        for chunk, fact in zip(at, batch.to_pylist(), strict=True):
            for entity in of_fact.get(fact["triplet_id"], ()) if chunk >= 0 else ():
                for side in ("subject_name", "object_name"):
                    if fact[side] in entities[entity][1]:
                        rows.add((entity, chunk, side == "subject_name"))
    found = np.array(sorted(rows), dtype=np.int64).reshape(-1, 3)
    return _Stated(found[:, 0], found[:, 1], found[:, 2].astype(np.bool_))


def _joined(
    sources: Holding, targets: Holding, rarity: Floats, most: int
) -> Iterator[tuple[Positions, Positions, Positions, Floats]]:
    """Edges from `sources` to the first of `targets` in each other document that has the same entity."""
    sources, targets = (holding.some(rarity[holding.entity] > 0) for holding in (sources, targets))
    # Sorted by entity and node: the first of each entity and document has the lowest key.
    pairs = np.stack([targets.entity, targets.document], axis=1)
    first = np.zeros(len(pairs), dtype=np.bool_)
    first[np.unique(pairs, axis=0, return_index=True)[1]] = True
    targets = targets.some(first)
    starts = np.searchsorted(targets.entity, sources.entity)
    sizes = np.searchsorted(targets.entity, sources.entity, side="right") - starts
    row = np.repeat(np.arange(len(sizes)), sizes)
    at = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + starts[row]
    other = sources.document[row] != targets.document[at]
    row, at = row[other], at[other]
    yield from ranked_edges(sources.node[row], targets.node[at], rarity[sources.entity[row]], most)
