"""The audit between write and publish: the suites of `jobs.audit.suites`, validated by Great Expectations.

The Arrow engine streams over the staged files in this process; given a Spark session, the library's own engine takes
the same suites. Neither holds a table; memory of the first: 16 bytes per key of the tables that are compared, 8 per
document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from quern.indexes.stages import Stage
from quern.jobs.audit.arrow_engine import ArrowExecutionEngine, batch_of
from quern.jobs.audit.gx import (
    Batch,
    DataContextConfig,
    ExpectationSuite,
    ExpectationSuiteValidationResult,
    InMemoryStoreBackendDefaults,
    RunIdentifier,
    Validator,
    gx,
)
from quern.jobs.audit.metric_providers import SparkEngine
from quern.jobs.audit.suites import measures_suite, name_of, shares_suite, skipped, suite_of
from quern.jobs.audit.views import View, spark_frame
from quern.schemas.contract.expectations import MEASURES, SHARES, Limits

_SHOWN = 3  # Unexpected values in a message.
_LONGEST = 300  # Characters of what was observed.
_ROWS_A_PART = 250_000  # Keys of as many rows fill a shuffle partition of some 10 MB.


@dataclass(frozen=True)
class Check:
    """The outcome of one expectation, for the manifest.

    Attributes:
        expectation: Its name, such as `chunks.doc_id references documents`.
        severity: `critical` or `warning`.
        passed: Whether it holds, or was skipped.
        observed: What was found, or why it was skipped.
        table: Table it speaks of.
        skipped: Whether there was nothing to compare with.
    """

    expectation: str
    severity: str
    passed: bool
    observed: str
    table: str
    skipped: bool = False

    def as_row(self) -> dict[str, object]:
        """The check for the manifest."""
        return asdict(self)


@dataclass(frozen=True)
class Audit:
    """What an audit found: results of the library per table, for its data docs, and one check per expectation."""

    results: Sequence[ExpectationSuiteValidationResult]
    checks: Sequence[Check]

    def failures(self, severity: str = "critical") -> list[Check]:
        """The checks of a severity that did not pass."""
        return [c for c in self.checks if not c.passed and c.severity == severity]


def audit(
    stages: Mapping[str, Stage], shares: Mapping[str, float], limits: Limits, run_name: str, spark: Any = None
) -> Audit:
    """Validate the suite of every table in `stages`, of the reject shares and of `limits.measures`.

    Args:
        stages: The tables; a reference to one that is not among them is not checked.
        shares: For each job the share of its input that it lost.
        limits: Thresholds, and what the tables are compared with.
        run_name: Name of the build.
        spark: A Spark session, to validate on Spark instead of in this process.

    Raises:
        OSError, MemoryError: A fault of the machine, which says nothing of the tables.
        DamagedError: A file is not as it was written.
        pyarrow.ArrowInvalid: A file is no Parquet file.
    """
    for stage in stages.values():
        stage.check()
    others = {name: stage.table for name, stage in stages.items()}
    suites = [suite_of(stage.table, limits, others) for stage in stages.values()]
    views = [View(name, stage.path, stage.table.derived) for name, stage in stages.items()]
    if shares:
        suites.append(shares_suite(shares, limits))
        views.append(View(SHARES, pa.table({job: [share] for job, share in shares.items()})))
    if limits.measures:
        suites.append(measures_suite(limits))
        views.append(View(MEASURES, pa.table({name: [figure] for name, figure in limits.measures.items()})))
    rows = sum(view.rows for view in views)  # A file that cannot be read is no failed expectation: it ends the audit.
    engine = _spark_engine(spark, rows) if spark else ArrowExecutionEngine()
    batches = [batch_of(view.name, spark_frame(view, spark) if spark else view) for view in views]
    for batch in batches:
        engine.load_batch_data(batch.id, batch.data)
    run = RunIdentifier(run_name=run_name, run_time=limits.as_of)
    context = memory_context()
    results = [_validate(engine, context, suite, batch, run) for suite, batch in zip(suites, batches, strict=True)]
    checks = [_check(r.suite_name, found) for r in results for found in r.results]
    checks += [Check(s.name, s.severity, True, s.why, s.table, skipped=True) for s in skipped(others.values(), limits)]
    return Audit(results, checks)


def _spark_engine(session: Any, rows: int) -> SparkEngine:
    """The library's engine on `session`; shuffles of small tables in few parts, each of which costs a task."""
    session.conf.set("spark.sql.shuffle.partitions", str(max(2, rows // _ROWS_A_PART)))
    return SparkEngine(spark=session, persist=False)


def memory_context() -> Any:
    """A data context in memory: no files, no progress bars, nothing sent anywhere."""
    config = DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars={"globally": False},
        analytics_enabled=False,
    )
    return gx.get_context(mode="ephemeral", project_config=config)


def _validate(
    engine: Any, context: Any, suite: ExpectationSuite, batch: Batch, run: RunIdentifier
) -> ExpectationSuiteValidationResult:
    validator = Validator(execution_engine=engine, batches=[batch], data_context=context)
    result = validator.validate(expectation_suite=suite, run_id=run)
    if fault := getattr(engine, "fault", None):
        raise fault
    return result


def _check(table: str, found: Any) -> Check:
    configuration = found.expectation_config
    severity = str(getattr(configuration.severity, "value", configuration.severity))
    observed = _observed(found)[:_LONGEST]
    if configuration.notes and not found.success:
        observed = f"{observed}; {configuration.notes}"
    return Check(name_of(configuration), severity, bool(found.success), observed, table)


def _observed(found: Any) -> str:
    """What was found, in a few words."""
    result = found.result or {}
    if "observed_value" in result:
        return f"observed {result['observed_value']}"
    if "unexpected_count" not in result:
        return f"could not be checked: {_reason(found.exception_info)}"
    shown = ", ".join(str(v) for v in result.get("partial_unexpected_list", [])[:_SHOWN])
    example = f", such as {shown}" if shown else ""
    return f"{result['unexpected_count']} of {result['element_count']} unexpected{example}"


def _reason(exception_info: Any) -> str:
    """The message of the first exception among nested descriptions of them."""
    if not isinstance(exception_info, Mapping):
        return str(getattr(exception_info, "exception_message", exception_info))
    if "exception_message" in exception_info:
        return str(exception_info["exception_message"])
    return next((_reason(v) for v in exception_info.values()), "no result")
