"""The audit between write and publish: what tables declare, checked over the staged files.

The Arrow engine streams over the files in this process; given a Spark session, Great Expectations checks the same on
it. Neither holds a table; memory of the first: 16 bytes per key of the tables that are compared, 8 per document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from quern.indexes.stages import Stage
from quern.jobs.audit.arrow_audit import check_here
from quern.jobs.audit.checks import Audit, Check, check_of, within
from quern.jobs.audit.views import View
from quern.schemas.contract.expectations import (
    MEASURES,
    RECALL,
    SHARES,
    Columns,
    Expectation,
    Figure,
    Known,
    KnownShare,
    Limits,
    Quantiles,
    References,
    RowCount,
    Types,
    UniqueKeys,
)
from quern.schemas.contract.table import Table

_SMALL: Final = 100
"""Rows by which a table of any size may grow in a night: one of a handful may grow by a handful."""


def expected_of(table: Table, limits: Limits, others: Mapping[str, Table]) -> list[Expectation]:
    """What is expected of `table`; references are to those of `others`."""
    expected: list[Expectation] = [
        Columns((*table.schema.names, *(d.name for d in table.derived))),
        Types(table.types()),
    ]
    expected += [Known(column) for column in table.key]
    if not table.repeats:
        expected.append(UniqueKeys(table.key))
    expected += table.expectations(limits)
    if table.empty:
        expected.append(RowCount(1, None, severity=table.empty, title=f"{table.name} not_empty"))
    if table.name in limits.before:
        expected += _since_before(table, limits.before[table.name], limits)
    return [e for e in expected if not isinstance(e, References) or e.target in {*others, table.name}]


def check_figures(shares: Mapping[str, float], limits: Limits) -> list[Check]:
    """Checks of the shares of rows that jobs lost, and of what jobs measured of their own results.

    A share above the setting is a warning. It is critical where all is lost, or where more is lost than before: of each
    row that was kept, on average, the setting's share.
    """
    figures: list[tuple[str, Figure, float]] = []
    most, setting = limits.settings.max_reject_share, "audit.max_reject_share"
    for job, share in shares.items():
        before = limits.shares.get(job)
        bound = most if before is None else before + most * (1 - before)
        title = f"{job} rejected share"
        if share >= 1 or (before is not None and share > bound) or share <= most:
            figure = Figure(0, bound, title=title, setting=setting)
        else:
            figure = Figure(0, most, severity="warning", title=title, setting=setting)
        figures.append((SHARES, figure, share))
    if RECALL in limits.measures:
        least, title = limits.settings.min_link_recall, f"{MEASURES}.{RECALL} between"
        figures.append(
            (MEASURES, Figure(least, 1, title=title, setting="audit.min_link_recall"), limits.measures[RECALL])
        )
    return [check_of(table, e, within(value, e.least, e.most), value) for table, e, value in figures]


def skipped(tables: Iterable[Table], limits: Limits) -> list[Check]:
    """What `expected_of` leaves out because there is no snapshot before, or none that has the table."""
    why = "the last snapshot has no such table" if limits.before else "no snapshot to compare with"
    new = [table for table in tables if table.name not in limits.before]
    expectations = [(table.name, e) for table in new for e in _since_before(table, 0, limits)]
    return [Check(e.name(name), e.severity, True, why, name, skipped=True) for name, e in expectations]


def _since_before(table: Table, rows: int, limits: Limits) -> Iterator[Expectation]:
    """That the table has about as many rows as before, `rows`."""
    change, loss = (int(rows * share) for share in (limits.settings.max_row_change, limits.settings.max_shrink))
    title = f"{table.name} rows since the last snapshot"
    yield RowCount(
        rows - change, rows + max(change, _SMALL), severity="warning", title=title, setting="audit.max_row_change"
    )
    if not table.shrinks:
        share = f"{limits.settings.max_shrink:g}"
        most = f"the last build had {rows:,}, of which audit.max_shrink ({share}) lets {loss:,} go"
        yield RowCount(rows - loss, None, title=f"{table.name} lost since the last build", notes=most)


def audit(stages: Mapping[str, Stage], shares: Mapping[str, float], limits: Limits, spark: Any = None) -> Audit:
    """Check every table in `stages`, the reject shares, and `limits.measures`.

    Args:
        stages: The tables; a reference to one that is not among them is not checked.
        shares: For each job the share of its input that it lost.
        limits: Thresholds, and what the tables are compared with.
        spark: A Spark session, to check on Spark instead of in this process.

    Raises OSError, MemoryError: a fault of the machine, which says nothing of the tables; DamagedError: a file is not
    as it was written; pyarrow.ArrowInvalid: a file is no Parquet file.
    """
    for stage in stages.values():
        stage.check()
    tables = {name: stage.table for name, stage in stages.items()}
    views = {name: View(name, stage.path, stage.table.derived) for name, stage in stages.items()}
    expected = {name: expected_of(table, limits, tables) for name, table in tables.items()}
    # What an empty table's values are like says nothing beside that it is empty.
    idle = {
        n: [e for e in es if isinstance(e, KnownShare | Quantiles)] for n, es in expected.items() if not views[n].rows
    }
    held = {name: [e for e in es if e not in idle.get(name, ())] for name, es in expected.items()}
    keys = {name: table.key[0] for name, table in tables.items()}
    if spark:
        from quern.jobs.audit.spark_audit import check_on_spark

        checks = check_on_spark(views, held, keys, spark)
    else:
        checks = list(check_here(views, held, keys))
    checks += [check_of(name, e, True, "the table is empty") for name, es in idle.items() for e in es]
    return Audit([*check_figures(shares, limits), *checks, *skipped(tables.values(), limits)])
