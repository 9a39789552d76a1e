"""Metrics of a table, computed while its batches stream by: the names are those of Great Expectations.

A metric about keys holds 16 bytes per row (fingerprints), a quantile 8 bytes per row; the others a few numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.row_hashes import hash_pairs

Pairs = npt.NDArray[np.uint64]
Wrong = npt.NDArray[np.bool_]
KeysOf = Callable[[str, str], Pairs]

_EXAMPLES = 20  # As many as Great Expectations shows of unexpected values.
_LONGEST = 200  # Characters of an example.


class Metric(ABC):
    """A value that is computed from the batches of a table.

    Attributes:
        columns: Columns it needs.
    """

    columns: Sequence[str]

    @abstractmethod
    def update(self, batch: pa.RecordBatch) -> None:
        """Take the next rows."""

    @abstractmethod
    def value(self, part: str) -> Any:
        """The value; of a metric that counts unexpected rows, the named part of it."""


class Unexpected(Metric):
    """How many rows break a rule, and the first of them.

    Parts: `unexpected_count`; `unexpected_values`, at most 20; `filtered_row_count`, the rows without nulls.
    """

    def __init__(self, columns: Sequence[str], rule: Callable[..., pa.Array], *, with_nulls: bool = False) -> None:
        self.columns = columns
        self._rule = rule
        self._with_nulls = with_nulls
        self._rows = self._count = 0
        self._values: list[Any] = []

    def update(self, batch: pa.RecordBatch) -> None:
        """Count the rows of `batch` that break the rule."""
        if not self._with_nulls:
            batch = _without_nulls(batch)
        self._rows += batch.num_rows
        wrong = pc.fill_null(self._rule(*batch.columns), True)
        found = int(pc.sum(wrong).as_py() or 0)
        if found and len(self._values) < _EXAMPLES:
            self._values += examples(batch.filter(wrong), _EXAMPLES - len(self._values))
        self._count += found

    def value(self, part: str) -> Any:
        """A part, as the class lists them."""
        parts = {"unexpected_count": self._count, "unexpected_values": self._values, "filtered_row_count": self._rows}
        return parts[part]


class Repeated(Metric):
    """Rows whose key another row has too; memory: 16 bytes per row, and 40 more while they are sorted."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self._prints: list[Pairs] = []
        self._rows = 0

    def update(self, batch: pa.RecordBatch) -> None:
        """Keep the fingerprints of the keys."""
        batch = _without_nulls(batch)
        self._rows += batch.num_rows
        self._prints.append(hash_pairs(batch))

    def value(self, part: str) -> Any:
        """A part, as of `Unexpected`; rows to be shown as `Rows`."""
        if part == "filtered_row_count":
            return self._rows
        return _counted_or_shown(self._repeated, self.columns, part)

    @cached_property
    def _repeated(self) -> Wrong:
        groups = _groups(_joined(self._prints))
        return np.bincount(groups)[groups] > 1 if len(groups) else np.empty(0, dtype=np.bool_)


class Dangling(Metric):
    """Rows whose value is no key of another table; memory: 16 bytes per row and per key."""

    def __init__(self, column: str, keys: Callable[[], Pairs]) -> None:
        self.columns = [column]
        self._keys = keys
        self._prints: list[Pairs] = []

    def update(self, batch: pa.RecordBatch) -> None:
        """Keep the fingerprints of the values."""
        self._prints.append(hash_pairs(_without_nulls(batch)))

    def value(self, part: str) -> Any:
        """A part, as of `Unexpected`; rows to be shown as `Rows`."""
        return _counted_or_shown(self._dangling, self.columns, part)

    @cached_property
    def _dangling(self) -> Wrong:
        keys, wanted = self._keys(), _joined(self._prints)
        groups = _groups(np.concatenate([keys, wanted]))
        known = np.zeros(int(groups.max()) + 1 if len(groups) else 0, dtype=np.bool_)
        known[groups[: len(keys)]] = True
        return ~known[groups[len(keys) :]]


def _counted_or_shown(wrong: Wrong, columns: Sequence[str], part: str) -> int | Rows:
    return Rows(columns, np.flatnonzero(wrong)[:_EXAMPLES]) if part == "unexpected_values" else int(wrong.sum())


class Rows:
    """Rows that must be read again to be shown: fingerprints hold no values. Positions count rows without nulls."""

    def __init__(self, columns: Sequence[str], positions: npt.NDArray[np.int64]) -> None:
        self.columns = columns
        self.positions = positions

    def read(self, batches: Callable[[Sequence[str]], Any]) -> list[Any]:
        """The values at the positions, keys of several columns by name; nothing is read where there are none."""
        found: list[Any] = []
        start = 0
        for batch in batches(self.columns) if len(self.positions) else ():
            whole = _without_nulls(batch)
            here = self.positions[(self.positions >= start) & (self.positions < start + whole.num_rows)] - start
            found += examples(whole.take(pa.array(here)), _EXAMPLES)
            start += whole.num_rows
            if len(found) == len(self.positions):
                break
        return found if len(self.columns) == 1 else [dict(zip(self.columns, v, strict=True)) for v in found]


class NonNullProportion(Metric):
    """Share of rows that have a value; 0 of an empty table."""

    def __init__(self, column: str) -> None:
        self.columns = [column]
        self._rows = self._known = 0

    def update(self, batch: pa.RecordBatch) -> None:
        """Count the rows of `batch`."""
        self._rows += batch.num_rows
        self._known += batch.num_rows - batch.column(0).null_count

    def value(self, part: str) -> float:
        """The share; there is one part."""
        return self._known / self._rows if self._rows else 0.0


class Quantiles(Metric):
    """Exact quantiles: the least value that at least the given share of rows does not exceed (inverse of the
    empirical distribution function). Memory: 8 bytes per row.
    """

    def __init__(self, column: str, quantiles: Sequence[float]) -> None:
        self.columns = [column]
        self._quantiles = quantiles
        self._values: list[npt.NDArray[np.float64]] = []

    def update(self, batch: pa.RecordBatch) -> None:
        """Keep the values."""
        self._values.append(batch.column(0).drop_null().to_numpy(zero_copy_only=False).astype(np.float64))

    def value(self, part: str) -> list[float | None]:
        """The quantiles, each None where there is no value; there is one part."""
        values = np.concatenate(self._values) if self._values else np.empty(0)
        if len(values) == 0:
            return [None] * len(self._quantiles)
        return [float(v) for v in np.quantile(values, self._quantiles, method="inverted_cdf")]


def make_metric(name: str, domain: Mapping[str, Any], kwargs: Mapping[str, Any], keys_of: KeysOf) -> Metric:
    """The metric `name` (without its part) over a domain, as Great Expectations configures it."""
    return _METRICS[name](domain, kwargs, keys_of)


def _between(column: pa.Array, least: Any, most: Any) -> pa.Array:
    wrong = pa.array(np.zeros(len(column), dtype=np.bool_))
    for bound, holds in ((least, pc.greater_equal), (most, pc.less_equal)):
        if bound is not None:
            kind = column.type if pa.types.is_timestamp(column.type) else None
            wrong = pc.or_(wrong, pc.invert(holds(column, pa.scalar(bound, kind))))
    return wrong


def _pair(domain: Mapping[str, Any]) -> list[str]:
    return [domain["column_A"], domain["column_B"]]


_METRICS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], KeysOf], Metric]] = {
    "column_values.nonnull": lambda d, _, __: Unexpected([d["column"]], pc.is_null, with_nulls=True),
    "column_values.between": lambda d, k, _: Unexpected(
        [d["column"]], lambda column: _between(column, k["min_value"], k["max_value"])
    ),
    "column_values.in_set": lambda d, k, _: Unexpected(
        [d["column"]], lambda column: pc.invert(pc.is_in(column, pa.array(k["value_set"], column.type)))
    ),
    "column_values.unique": lambda d, _, __: Repeated([d["column"]]),
    "compound_columns.unique": lambda d, _, __: Repeated(d["column_list"]),
    "column_values.key_of": lambda d, k, keys_of: Dangling(
        d["column"], lambda: keys_of(k["target"], k["target_column"])
    ),
    "column_pair_values.a_greater_than_b": lambda d, k, _: Unexpected(
        _pair(d), lambda a, b: pc.invert((pc.greater_equal if k.get("or_equal") else pc.greater)(a, b))
    ),
    "column_pair_values.equal": lambda d, _, __: Unexpected(_pair(d), pc.not_equal),
    "column.non_null_proportion": lambda d, _, __: NonNullProportion(d["column"]),
    "column.quantile_values": lambda d, k, _: Quantiles(d["column"], k["quantiles"]),
}
METRICS = tuple(_METRICS)


def _joined(prints: list[Pairs]) -> Pairs:
    return np.concatenate(prints) if prints else np.empty((0, 2), dtype=np.uint64)


def _groups(pairs: Pairs) -> npt.NDArray[np.int64]:
    """For each row the number of its group of equal rows, shape (rows,)."""
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
    kept = pc.is_valid(batch.column(0))
    for column in batch.columns[1:]:
        kept = pc.and_(kept, pc.is_valid(column))
    return batch.filter(kept)


def examples(batch: pa.RecordBatch, most: int) -> list[Any]:
    """The first rows as values, of several columns as tuples; times as text, since Python's end in the year 9999."""
    columns = [_plain(column.slice(0, most)) for column in batch.columns]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _plain(column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("s"), safe=False).cast(pa.string())
    return [v[:_LONGEST] if isinstance(v, str) else v for v in column.to_pylist()]
