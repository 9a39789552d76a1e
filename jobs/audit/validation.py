"""The audit between write and publish: what tables declare, checked over the staged files.

The Arrow engine streams over the files in this process; given a Spark session, Great Expectations checks the same on
it. Neither holds a table; memory of the first: 16 bytes per key of the tables that are compared, 8 per document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quern.indexes.stages import Stage
from quern.jobs.audit.arrow_audit import ArrowAudit
from quern.jobs.audit.checks import Audit, check_of
from quern.jobs.audit.expected import check_figures, expected_of, skipped
from quern.jobs.audit.views import View
from quern.schemas.contract.expectations import KnownShare, Limits, Quantiles


def audit(stages: Mapping[str, Stage], shares: Mapping[str, float], limits: Limits, spark: Any = None) -> Audit:
    """Check every table in `stages`, the reject shares, and `limits.measures`.

    Args:
        stages: The tables; a reference to one that is not among them is not checked.
        shares: For each job the share of its input that it lost.
        limits: Thresholds, and what the tables are compared with.
        spark: A Spark session, to check on Spark instead of in this process.

    Raises:
        OSError, MemoryError: A fault of the machine, which says nothing of the tables.
        DamagedError: A file is not as it was written.
        pyarrow.ArrowInvalid: A file is no Parquet file.
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

        found = check_on_spark(views, held, keys, spark)
    else:
        found = list(ArrowAudit(views, held, keys).checks())
    found += [check_of(name, e, True, "the table is empty") for name, es in idle.items() for e in es]
    return Audit([*check_figures(shares, limits), *found, *skipped(tables.values(), limits)])
