"""The audit in this process: every table is streamed over its Parquet files once, whatever it is held to.

A metric about keys holds 16 bytes per row (fingerprints), a quantile 8 bytes per row; the others a few numbers. Great
Expectations' engine for pandas holds a table in memory: of 200,000 nodes with vectors of 384 numbers it took 2,060 MiB
and 44 s, streaming 67 MiB and 6 s (2 busy cores). The library also takes 2.4 s to import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.jobs.audit import checks
from quern.jobs.audit.checks import Check, check_of, within
from quern.jobs.audit.views import View
from quern.schemas.contract import expectations as ours
from quern.schemas.contract.expectations import Expectation
from quern.schemas.row_digests import hash_pairs

Pairs = npt.NDArray[np.uint64]
Wrong = npt.NDArray[np.bool_]
KeysOf = Callable[[str], Pairs]
Batches = Callable[[Sequence[str]], Iterable[pa.RecordBatch]]

EXAMPLES: Final = 3
"""Unexpected values that are shown."""


class Unexpected:
    """Rows whose values break a rule, which returns true for those that do."""

    def __init__(self, columns: Sequence[str], rule: Callable[..., pa.Array], *, with_nulls: bool = False) -> None:
        self.columns = columns
        self.rows = self.count = 0  # Rows that the rule checks, and those that break it.
        self._rule, self._with_nulls = rule, with_nulls
        self._values: list[Any] = []

    def update(self, batch: pa.RecordBatch) -> None:
        """Count the rows of `batch` that break the rule."""
        if not self._with_nulls:
            batch = _without_nulls(batch)
        self.rows += batch.num_rows
        wrong = pc.fill_null(self._rule(*batch.columns), True)
        count = int(pc.sum(wrong).as_py() or 0)
        if count and len(self._values) < EXAMPLES:
            self._values += examples(batch.filter(wrong), EXAMPLES - len(self._values))
        self.count += count

    def shown(self, _: Batches) -> list[Any]:
        """The first of them, kept while they streamed by."""
        return self._values


class UnexpectedKeys:
    """Rows without nulls whose fingerprints break a rule of all; memory: 16 bytes a row, and 40 more while sorted."""

    def __init__(self, columns: Sequence[str], rule: Callable[[Pairs], Wrong]) -> None:
        self.columns = columns
        self.rows = 0
        self._rule = rule
        self._prints: list[Pairs] = []

    def update(self, batch: pa.RecordBatch) -> None:
        """Keep the fingerprints of the rows."""
        batch = _without_nulls(batch)
        self.rows += batch.num_rows
        self._prints.append(hash_pairs(batch))

    @cached_property
    def _wrong(self) -> Wrong:
        return self._rule(joined(self._prints))

    @property
    def count(self) -> int:
        """How many rows break the rule."""
        return int(self._wrong.sum())

    def shown(self, batches: Batches) -> list[Any]:
        """The first of them, read again, since fingerprints hold no values; keys of several columns by name."""
        positions = np.flatnonzero(self._wrong)[:EXAMPLES]
        values: list[Any] = []
        start = 0
        for batch in batches(self.columns) if len(positions) else ():
            whole = _without_nulls(batch)
            here = positions[(positions >= start) & (positions < start + whole.num_rows)] - start
            values += examples(whole.take(pa.array(here)), EXAMPLES)
            start += whole.num_rows
            if len(values) == len(positions):
                break
        return values if len(self.columns) == 1 else [dict(zip(self.columns, v, strict=True)) for v in values]


def _repeated(keys: Pairs) -> Wrong:
    groups = _groups(keys)
    return np.bincount(groups)[groups] > 1 if len(groups) else np.empty(0, dtype=np.bool_)


def _dangling(references: Pairs, keys: Pairs) -> Wrong:
    """Which are no keys of another table."""
    groups = _groups(np.concatenate([keys, references]))
    exists = np.zeros(int(groups.max()) + 1 if len(groups) else 0, dtype=np.bool_)
    exists[groups[: len(keys)]] = True
    return ~exists[groups[len(keys) :]]


class Quantiles:
    """The least values that at least the given shares of rows do not exceed, exactly; memory: 8 bytes a row."""

    def __init__(self, column: str, shares: Sequence[float]) -> None:
        self.columns = [column]
        self._shares = shares
        self._values: list[npt.NDArray[np.float64]] = []

    def update(self, batch: pa.RecordBatch) -> None:
        """Keep the values."""
        self._values.append(batch.column(0).drop_null().to_numpy(zero_copy_only=False).astype(np.float64))

    @property
    def values(self) -> list[float]:
        """The quantiles; empty where there is no value."""
        values = np.concatenate([np.empty(0), *self._values])
        return np.quantile(values, self._shares, method="inverted_cdf").tolist() if len(values) else []


Metric = Unexpected | UnexpectedKeys | Quantiles
"""What is measured of the batches of a table."""


def metric_of(expected: Expectation, keys_of: KeysOf) -> Metric:
    """What must be measured to tell whether `expected` holds; `keys_of` gives the fingerprints of a table's keys."""
    return _METRICS[type(expected)](expected, keys_of)


def _between(column: pa.Array, least: Any, most: Any) -> pa.Array:
    wrong = pa.array(np.zeros(len(column), dtype=np.bool_))
    for bound, holds in ((least, pc.greater_equal), (most, pc.less_equal)):
        if bound is not None:
            kind = column.type if pa.types.is_timestamp(column.type) else None
            wrong = pc.or_(wrong, pc.invert(holds(column, pa.scalar(bound, kind))))
    return wrong


_METRICS: Mapping[type[Expectation], Callable[[Any, KeysOf], Metric]] = {
    ours.Known: lambda e, _: Unexpected([e.column], pc.is_null, with_nulls=True),
    ours.Between: lambda e, _: Unexpected([e.column], lambda column: _between(column, e.least, e.most)),
    ours.OneOf: lambda e, _: Unexpected(
        [e.column], lambda column: pc.invert(pc.is_in(column, pa.array(e.values, column.type)))
    ),
    ours.UniqueKeys: lambda e, _: UnexpectedKeys(e.columns, _repeated),
    ours.References: lambda e, keys_of: UnexpectedKeys([e.column], lambda found: _dangling(found, keys_of(e.target))),
    ours.Greater: lambda e, _: Unexpected([e.column, e.than], lambda a, b: pc.invert(pc.greater(a, b))),
    ours.Equal: lambda e, _: Unexpected([e.column, e.to], pc.not_equal),
    ours.KnownShare: lambda e, _: Unexpected([e.column], pc.is_null, with_nulls=True),
    ours.Quantiles: lambda e, _: Quantiles(e.column, list(e.bounds)),
}


def joined(prints: list[Pairs]) -> Pairs:
    """All fingerprints, shape (rows, 2)."""
    return np.concatenate([np.empty((0, 2), dtype=np.uint64), *prints])


def _groups(pairs: Pairs) -> npt.NDArray[np.int64]:
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    ordered = pairs[order]
    begins = np.zeros(len(pairs), dtype=np.int64)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    groups = np.empty(len(pairs), dtype=np.int64)
    groups[order] = np.cumsum(begins)
    return groups


def _without_nulls(batch: pa.RecordBatch) -> pa.RecordBatch:
    if not any(column.null_count for column in batch.columns):
        return batch
    valid = pc.is_valid(batch.column(0))
    for column in batch.columns[1:]:
        valid = pc.and_(valid, pc.is_valid(column))
    return batch.filter(valid)


def examples(batch: pa.RecordBatch, most: int) -> list[Any]:
    """The first rows as values, of several columns as tuples; times as text, since Python's end in the year 9999."""
    columns = []
    for column in batch.columns:
        first = column.slice(0, most)
        if pa.types.is_timestamp(first.type):
            first = first.cast(pa.timestamp("s"), safe=False).cast(pa.string())
        # Characters of an example.
        columns.append([v[:200] if isinstance(v, str) else v for v in first.to_pylist()])
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


# ---- the audit

_OF_TABLES: Final = (ours.Columns, ours.Types, ours.RowCount)


def check_here(
    views: Mapping[str, View], expected: Mapping[str, Sequence[Expectation]], keys: Mapping[str, str]
) -> Iterator[Check]:
    """A check of every expectation, table by table; see `spark_audit.check_on_spark`."""
    faults = {name: _faults(view, expected[name]) for name, view in views.items()}

    @cache
    def keys_of(table: str) -> Pairs:
        return joined([hash_pairs(batch) for batch in views[table].batches([keys[table]])])

    for name, view in views.items():
        metrics: dict[int, Metric] = {}
        unchecked: dict[int, str] = {}
        for e in expected[name]:
            if isinstance(e, _OF_TABLES):
                continue
            metric = metric_of(e, keys_of)
            columns = [(name, column) for column in metric.columns]
            if isinstance(e, ours.References):
                columns.append((e.target, keys[e.target]))
            if fault := next((faults[table][column] for table, column in columns if column in faults[table]), None):
                unchecked[id(e)] = fault
            else:
                metrics[id(e)] = metric
        wanted = list(dict.fromkeys(c for m in metrics.values() for c in m.columns))
        for batch in view.batches(wanted) if wanted else ():
            for metric in metrics.values():
                metric.update(batch.select(list(metric.columns)))
        for e in expected[name]:
            if fault := unchecked.get(id(e)):  # The check of types fails, which is the cause: this one tells no more.
                yield Check(e.name(name), e.severity, True, f"cannot be checked: {fault}", name, skipped=True)
            else:
                yield check_of(name, e, *_outcome(view, e, metrics.get(id(e))))


def _faults(view: View, expected: Sequence[Expectation]) -> dict[str, str]:
    """For each column that is absent or not of the declared type, what is wrong with it; so too for derived columns."""
    present, (types,) = view.types(), [e.names for e in expected if isinstance(e, ours.Types)]
    faults = {
        column: f"{view.name} lacks the column" if column not in present else f"{column} is {present[column]}"
        for column, kind in types.items()
        if present.get(column) != kind
    }
    derived = {d.name: next((faults[c] for c in d.columns if c in faults), "") for d in view.declared}
    return faults | {column: fault for column, fault in derived.items() if fault}


def _outcome(view: View, expected: Any, metric: Metric | None) -> tuple[bool, object]:
    match expected, metric:
        case ours.Columns(), _:
            return list(expected.names) == view.columns, str(view.columns)
        case ours.Types(), _:
            found = view.types()
            wrong = {c: found.get(c, "absent") for c, kind in expected.names.items() if found.get(c) != kind}
            return not wrong, ", ".join(f"{c} is {kind}" for c, kind in wrong.items()) or "as declared"
        case ours.RowCount(), _:
            return within(view.rows, expected.least, expected.most), view.rows
        case ours.KnownShare(), Unexpected():
            known = (metric.rows - metric.count) / metric.rows if metric.rows else 0.0
            return within(known, expected.least, expected.most), known
        case _, Unexpected() | UnexpectedKeys():
            share = 1 - metric.count / metric.rows if metric.rows else 1.0
            shown = metric.shown(view.batches) if metric.count else []
            return share >= getattr(expected, "share", 1.0), checks.Unexpected(metric.count, view.rows, shown)
        case _, Quantiles():
            held = [within(v, *bounds) for v, bounds in zip(metric.values, expected.bounds.values(), strict=True)]
            return all(held), metric.values
    raise NotImplementedError(type(expected))
