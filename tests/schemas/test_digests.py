from __future__ import annotations

import json
import random
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from quern.schemas.digests import text_digest
from quern.schemas.row_digests import TableDigest, json_cells, row_fingerprints

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.int64()), ("c", pa.list_(pa.string()))])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.none() | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=5),
            "b": st.none() | st.integers(-3, 3),
            "c": st.none() | st.lists(st.sampled_from(["x", "y"]), max_size=2),
        }
    ),
    max_size=12,
)


def batch(rows: list[dict[str, object]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def table_digest(parts: list[pa.RecordBatch]) -> str:
    digest = TableDigest()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


@given(ROWS)
def test_rows_share_a_fingerprint_exactly_when_they_are_equal(rows: list[dict[str, object]]) -> None:
    prints = [p.tobytes() for p in row_fingerprints(batch(rows), SCHEMA.names)]
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (prints[i] == prints[j]) == (one == other)


@given(ROWS, st.randoms(use_true_random=False), st.integers(1, 5))
def test_a_tables_digest_depends_neither_on_order_nor_on_batches(
    rows: list[dict[str, object]], rng: random.Random, size: int
) -> None:
    shuffled = rng.sample(rows, len(rows))
    parts = [batch(shuffled[i : i + size]) for i in range(0, len(shuffled), size)]
    assert table_digest(parts) == table_digest([batch(rows)])


def test_a_repeated_row_changes_a_tables_digest() -> None:
    row = {"a": "x", "b": 1, "c": None}
    digests = {table_digest([batch([row] * n)]) for n in range(4)}
    assert len(digests) == 4


def test_a_sliced_column_has_the_fingerprints_of_its_rows() -> None:
    vectors = pa.array(np.arange(40, dtype=np.float32).reshape(10, 4).tolist(), pa.list_(pa.float32(), 4))
    whole = pa.RecordBatch.from_arrays([vectors], ["v"])
    assert (row_fingerprints(whole.slice(3, 4), ["v"]) == row_fingerprints(whole, ["v"])[3:7]).all()


def test_values_cannot_move_between_columns() -> None:
    one = pa.RecordBatch.from_pydict({"a": ["xy"], "b": ["z"]})
    other = pa.RecordBatch.from_pydict({"a": ["x"], "b": ["yz"]})
    assert row_fingerprints(one, ["a", "b"])[0] != row_fingerprints(other, ["a", "b"])[0]
    assert text_digest("a", None) != text_digest("a", "")


def values_of(kind: pa.DataType) -> st.SearchStrategy[object]:
    """Values of an Arrow type, null among them."""
    if pa.types.is_list(kind):
        return st.none() | st.lists(values_of(kind.value_type), max_size=3)
    if pa.types.is_struct(kind):
        return st.none() | st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})
    of = {
        pa.string(): st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=5),
        pa.int32(): st.integers(-(2**31), 2**31 - 1),
        pa.bool_(): st.booleans(),
        pa.float32(): st.floats(width=32),
        pa.timestamp("us", "UTC"): st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC)),
    }
    return st.none() | of[kind]


def struct(fields: dict[str, pa.DataType]) -> pa.DataType:
    return pa.struct(list(fields.items()))


SCALARS = st.sampled_from([pa.string(), pa.int32(), pa.bool_(), pa.float32(), pa.timestamp("us", "UTC")])
NESTED = st.recursive(
    SCALARS,
    lambda inner: inner.map(pa.list_) | st.dictionaries(st.sampled_from('aé"'), inner, min_size=1).map(struct),
    max_leaves=4,
)


@given(st.data(), NESTED, st.integers(0, 3))
def test_nested_cells_are_encoded_as_json_writes_them_one_by_one(
    data: st.DataObject, kind: pa.DataType, cut: int
) -> None:
    column = pa.array(data.draw(st.lists(values_of(kind), max_size=6)), kind).slice(cut)
    one_by_one = [None if cell is None else json.dumps(cell, default=str) for cell in column.to_pylist()]
    assert json_cells(column).to_pylist() == one_by_one
