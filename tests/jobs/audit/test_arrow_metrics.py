from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.audit.arrow_audit import EXAMPLES, examples, metric_of
from quern.schemas.contract.expectations import Between, Expectation, Quantiles, References, UniqueKeys
from quern.schemas.row_digests import hash_pairs

Values = list[str | None]
VALUES = st.lists(st.sampled_from(["a", "b", "c", "d", None]))


def batches(values: list[Any], kind: pa.DataType, rows: int) -> list[pa.RecordBatch]:
    return [pa.record_batch([pa.array(values[i : i + rows], kind)], names=["key"]) for i in range(0, len(values), rows)]


KEY = "key"


def fed(expected: Expectation, parts: list[pa.RecordBatch], keys: Values | None = None) -> Any:
    known = hash_pairs(pa.record_batch([pa.array(keys or [], pa.string())], names=["other"]))
    metric = metric_of(expected, lambda table: known)
    for part in parts:
        metric.update(part)
    return metric


@given(VALUES, st.integers(1, 7))
def test_repeated_keys_are_counted_and_shown_whatever_the_batches(values: Values, rows: int) -> None:
    parts = batches(values, pa.string(), rows)
    metric = fed(UniqueKeys((KEY,)), parts)
    counts = Counter(v for v in values if v is not None)
    repeated = [v for v in values if v is not None and counts[v] > 1]
    assert metric.count == len(repeated)
    assert metric.shown(lambda columns: iter(parts)) == repeated[:EXAMPLES]


@given(VALUES, st.lists(st.sampled_from(["a", "b", "c"])), st.integers(1, 7))
def test_references_that_dangle_are_counted_and_shown_whatever_the_batches(
    values: Values, keys: Values, rows: int
) -> None:
    parts = batches(values, pa.string(), rows)
    metric = fed(References(KEY, "t"), parts, keys)
    dangling = [v for v in values if v is not None and v not in keys]
    assert metric.count == len(dangling)
    assert metric.shown(lambda columns: iter(parts)) == dangling[:EXAMPLES]


@given(st.lists(st.integers(0, 50), min_size=1), st.floats(0.01, 1.0), st.integers(1, 7))
def test_a_quantile_is_the_least_value_that_so_many_rows_do_not_exceed(
    values: list[int], share: float, rows: int
) -> None:
    (found,) = fed(Quantiles(KEY, {share: (None, None)}), batches(values, pa.int64(), rows)).values
    within = [np.mean(np.array(values) <= v) for v in sorted(set(values))]
    assert found == sorted(set(values))[next(i for i, w in enumerate(within) if w >= share - 1e-12)]


def test_a_table_without_rows_has_no_quantiles_and_no_unexpected_rows() -> None:
    assert fed(Quantiles(KEY, {0.5: (1, None)}), []).values == []
    assert fed(UniqueKeys((KEY,)), []).count == 0
    assert fed(References(KEY, "t"), [], ["a"]).count == 0


def test_a_number_that_is_none_lies_between_nothing() -> None:
    part = pa.record_batch([pa.array([0.5, float("nan"), None])], names=["key"])
    assert fed(Between(KEY, -1, 1), [part]).count == 1


def test_examples_are_short_and_few_and_hold_times_that_python_has_not() -> None:
    beyond = pa.array([253402300800000000 * 3], pa.timestamp("us", tz="UTC"))
    assert examples(pa.record_batch([beyond], names=["t"]), 20)[0].startswith("26059-12-31")
    long = pa.record_batch([pa.array(["x" * 1000] * 50)], names=["t"])
    assert examples(long, 20) == ["x" * 200] * 20
