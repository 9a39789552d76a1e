"""A table as an index of a search server: its mapping by the table's declaration, and its rows as documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot, WarehouseError
from quern.indexes.changes import changed_rows, rows_at
from quern.schemas.digests import settings_digest
from quern.schemas.tables import DOCUMENTS, TABLES, Table
from quern.schemas.words.meant import no_such
from quern.schemas.words.terms import STOP_WORDS

Mask = npt.NDArray[np.bool_]

# What documents of other tables tell of the page that they are from.
_OF_DOCUMENT: Final = ("url", "site")
# Lucene indexes terms of at most 32,766 bytes, and a character has up to four.
_KEYWORD: Final = {"type": "keyword", "ignore_above": 8191}
_TYPES: Final = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_temporal, "date"),
    (pa.types.is_int64, "long"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "double"),
)
EXPORTABLE: Final = [name for name, table in TABLES.items() if table.served and len(table.key) == 1]
_WORDS: Final = "quern_words"
# The words are cut; they are stemmed, and stop words left out, as Quern's own full-text search does.
_ANALYSIS: Final = {
    "filter": {
        "quern_stop": {"type": "stop", "stopwords": sorted(STOP_WORDS)},
        "quern_stem": {"type": "stemmer", "language": "porter2"},
    },
    "analyzer": {_WORDS: {"type": "custom", "tokenizer": "whitespace", "filter": ["quern_stop", "quern_stem"]}},
}


class ExportedTable:
    """A table of a snapshot as documents of an index.

    Attributes:
        table: Its contract.
        stage: Its rows.
        digests: Digests of the tables that its documents are made of.
    """

    def __init__(self, snapshot: Snapshot, name: str) -> None:
        """Args: `name` is that of a served table whose key is one column.

        Raises WarehouseError: it is not, or the snapshot has no such table.
        """
        if name not in EXPORTABLE:
            raise WarehouseError(no_such("exportable table", name, EXPORTABLE))
        self._snapshot = snapshot
        self.stage = snapshot.stage(name)
        self.table = self.stage.table
        there = self.table.schema.names
        joins = "doc_id" in there and self.table.references.get("doc_id") == DOCUMENTS.name
        self._joined = [column for column in _OF_DOCUMENT if joins and column not in there]
        made_of = [name, *([DOCUMENTS.name] if self._joined else [])]
        self.digests = {one: snapshot.manifest.tables[one].digest for one in made_of}

    @property
    def key(self) -> str:
        """The column that identifies a document."""
        return self.table.key[0]

    def body(self, kind: str) -> dict[str, Any]:
        """Settings and mapping of the index, for a server of this kind."""
        properties = {field.name: mapped(self.table, field, kind) for field in self.table.schema}
        properties |= dict.fromkeys(self._joined, _KEYWORD)
        settings: dict[str, Any] = {"analysis": _ANALYSIS} if self.table.words else {}
        if kind == "opensearch" and any(pa.types.is_fixed_size_list(field.type) for field in self.table.schema):
            settings["index.knn"] = True
        return {"settings": settings, "mappings": {"dynamic": "strict", "properties": properties}}

    def layout(self, kind: str) -> str:
        """Digest of `body`."""
        return settings_digest(self.body(kind))

    def changed_since(self, before: ExportedTable | None) -> tuple[Mask, list[str]]:
        """Which rows are not the same documents as before, and the keys of those that are gone."""
        if before is None:
            return np.ones(self.stage.rows, dtype=np.bool_), []
        changes = changed_rows(before.stage, self.stage, before.stage.rows + self.stage.rows)
        changed = np.zeros(self.stage.rows, dtype=np.bool_)
        changed[changes.added] = changed[changes.changed[:, 1]] = True
        if self._joined and before.digests != self.digests:
            # Documents whose columns that are told with each row differ.
            old, new = (one._snapshot.stage(DOCUMENTS.name) for one in (before, self))
            pairs = changed_rows(old, new, old.rows + new.rows).changed
            columns = ["doc_id", *self._joined]
            tables = [rows_at(stage, pairs[:, n], columns).to_pylist() for n, stage in enumerate((old, new))]
            earlier, later = ({tuple(row.values()) for row in rows} for rows in tables)
            if moved := sorted({row[0] for row in later - earlier}):
                keys = pa.array(moved, pa.string())
                parts = [pc.is_in(batch.column("doc_id"), keys) for batch in self.stage.batches(["doc_id"])]
                changed |= pa.chunked_array(parts, pa.bool_()).to_numpy()
        return changed, rows_at(before.stage, changes.removed, [self.key])[self.key].to_pylist()

    def documents(self, wanted: Mask) -> Iterator[tuple[str, bytes]]:
        """Key and JSON of the rows that are wanted, in the order of the table; nulls are left out."""
        at = 0
        for batch in self.stage.batches():
            rows = batch.filter(pa.array(wanted[at : at + batch.num_rows]))
            at += batch.num_rows
            if rows.num_rows:
                vectors = [field.name for field in rows.schema if pa.types.is_fixed_size_list(field.type)]
                texts = {name: _number_lists(rows.column(name)) for name in vectors}
                plain = rows.drop_columns(vectors)
                of_document: dict[str, dict[str, Any]] = {}
                if self._joined:
                    ids = rows.column("doc_id").unique().to_pylist()
                    told_with = self._documents.lookup("doc_id", ids, ["doc_id", *self._joined]).to_pylist()
                    of_document = {row.pop("doc_id"): row for row in told_with}
                for n, row in enumerate(plain.to_pylist(maps_as_pydicts="strict")):
                    row |= of_document.get(row.get("doc_id"), {})
                    fields = {name: value for name, value in row.items() if value is not None}
                    source = json.dumps(fields, ensure_ascii=False, default=_isoformat)
                    source = source[:-1] + "".join(f', "{name}": {texts[name][n]}' for name in vectors) + "}"
                    yield row[self.key], source.encode()

    @cached_property
    def _documents(self) -> Any:
        return self._snapshot.table(DOCUMENTS.name)


def mapped(table: Table, field: pa.Field, kind: str) -> dict[str, Any]:
    """The mapping of a column: by its type, and of text by what the table declares of it."""
    of = field.type
    if pa.types.is_fixed_size_list(of):
        if kind == "opensearch":
            method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
            return {"type": "knn_vector", "dimension": of.list_size, "method": method}
        # Whole numbers are kept, where later versions would by default keep one bit of each.
        vector = {"type": "dense_vector", "dims": of.list_size, "similarity": "cosine"}
        return vector | {"index": True, "index_options": {"type": "hnsw"}}
    if pa.types.is_list(of):
        of = of.value_type  # Any field may have several values.
    if pa.types.is_nested(of):
        return {"type": "object", "enabled": False}  # It is told, and not searched.
    if pa.types.is_string(of):
        if field.name == table.words:
            return {"type": "text", "analyzer": _WORDS}
        return {"type": "text"} if field.name in table.prose else _KEYWORD
    return {"type": next(name for is_of, name in _TYPES if is_of(of))}


def _number_lists(vectors: pa.FixedSizeListArray) -> list[str]:
    """Vectors as JSON; each number in the shortest form that reads back to the same float32."""
    width = vectors.type.list_size
    numbers = vectors.flatten().cast(pa.string())
    rows = pa.ListArray.from_arrays(pa.array(range(0, len(numbers) + 1, width), pa.int32()), numbers)
    return [f"[{text}]" for text in pc.binary_join(rows, ",").to_pylist()]


def _isoformat(value: date) -> str:
    return value.isoformat()
