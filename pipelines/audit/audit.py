"""Audits: of a build before it is published, and of a snapshot again.

Great Expectations is imported when an audit begins: it takes seconds that other commands need not spend.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from quern.indexes.catalog import Snapshot, WarehouseError, WarehouseFolder
from quern.indexes.stages import Stage
from quern.jobs.engines import SparkEngine
from quern.schemas.expectations import LOST, RECALL, Limits
from quern.schemas.settings import Settings
from quern.schemas.tables import NO_LOSS

if TYPE_CHECKING:
    from quern.jobs.audit.validation import Audit

log = logging.getLogger(__name__)

Reasons = Mapping[tuple[str, str], int]
Reports = Iterable[Mapping[str, Any]]


# Jobs between a page and its document: what they lose together is the share of pages lost.
_DOCUMENT_JOBS = ("ingest", "clean", "normalise")


@dataclass(frozen=True)
class Audited:
    """An audit and its data docs."""

    audit: Audit
    docs: Path


def count_reasons(rejects: Stage) -> Counter[tuple[str, str]]:
    """Rejects per (job, reason)."""
    counts: Counter[tuple[str, str]] = Counter()
    for batch in rejects.batches(["job", "reason"]):
        counts.update(zip(batch.column("job").to_pylist(), batch.column("reason").to_pylist(), strict=True))
    return counts


def rows_in(reports: Reports, reasons: Reasons, pages: int) -> dict[str, int]:
    """Rows that each job was given; of reading, the pages there are and those that were lost."""
    given: Counter[str] = Counter()
    for report in reports:
        given[report["job"]] += report["rows_in"]
    given["ingest"] = pages + sum(
        n for (job, reason), n in reasons.items() if job == "ingest" and reason not in NO_LOSS
    )
    return dict(given)


def lost_shares(given: Mapping[str, int], reasons: Reasons) -> dict[str, float]:
    """For each job the share of its rows that it lost, and of all pages (`LOST`); of no pages, all are lost."""
    lost: Counter[str] = Counter()
    for (job, reason), count in reasons.items():
        lost[job] += count if reason not in NO_LOSS else 0
    shares = {job: lost[job] / rows for job, rows in given.items() if rows}
    pages = given.get("ingest", 0)
    return {LOST: sum(lost[job] for job in _DOCUMENT_JOBS) / pages if pages else 1.0, **shares}


def reject_shares(given: Mapping[str, int], reasons: Reasons, counted: Reasons | None = None) -> dict[str, float]:
    """For each `job: reason` its share of the job's rows; of reading, of all that was read.

    Args:
        given: Rows that each job was given.
        reasons: All rejects.
        counted: The rejects to give shares of; by default all.
    """
    every = Counter(given)
    every["ingest"] += sum(n for (job, reason), n in reasons.items() if job == "ingest" and reason in NO_LOSS)
    wanted = reasons if counted is None else counted
    return {f"{job}: {reason}": n / every[job] for (job, reason), n in sorted(wanted.items()) if every[job]}


def measures_of(reports: Reports) -> dict[str, float]:
    """What jobs measured of their own results: the recall of a graph that was built by partitions."""
    notes: Mapping[str, float] = next((report.get("notes", {}) for report in reports if report["job"] == "link"), {})
    return {RECALL: float(notes["recall"])} if "recall" in notes else {}


def audit_tables(
    warehouse: WarehouseFolder,
    stages: Mapping[str, Stage],
    given: Mapping[str, int],
    reasons: Reasons,
    settings: Settings,
    build_id: str,
    started_at: datetime,
    before: Mapping[str, int],
    measures: Mapping[str, float],
) -> Audited:
    """Validate all suites over `stages` and write the data docs to `audit/BUILD_ID` of the warehouse."""
    started = time.monotonic()
    # Great Expectations takes a second to import, which opening a snapshot has no need of.
    from quern.jobs.audit.validation import audit
    from quern.pipelines.audit.data_docs import write_docs

    shares = lost_shares(given, reasons)
    limits = Limits(settings.audit, started_at, before, measures)
    if settings.audit.engine == "spark":
        engine = SparkEngine(settings.engine)
        try:
            found = audit(stages, shares, limits, build_id, engine.session())
        finally:
            engine.close()
    else:
        found = audit(stages, shares, limits, build_id)
    audited = Audited(found, write_docs(found, build_id, warehouse.audits / build_id))
    log.info(
        "audit expectations=%d critical=%d warnings=%d seconds=%.1f engine=%s",
        len(found.checks),
        len(found.failures()),
        len(found.failures("warning")),
        time.monotonic() - started,
        settings.audit.engine,
    )
    return audited


def audit_snapshot(snapshot: Snapshot, settings: Settings) -> Audited:
    """Validate all suites over a published snapshot again.

    Raises:
        WarehouseError: A file of the snapshot is gone or damaged.
    """
    manifest = snapshot.manifest
    stages = {name: snapshot.stage(name) for name in manifest.tables}
    try:
        reasons = count_reasons(stages["rejects"])
        given = rows_in(manifest.jobs, reasons, manifest.tables["pages"].rows)
        before = rows_before(snapshot.warehouse, manifest.parent)
        told = (manifest.build_id, manifest.started_at, before, measures_of(manifest.jobs))
        return audit_tables(snapshot.warehouse, stages, given, reasons, settings, *told)
    except (OSError, pa.ArrowInvalid) as error:
        raise WarehouseError(
            f"snapshot {manifest.build_id} cannot be audited, a file of {snapshot.warehouse.root} is gone or damaged: "
            f"{error}"
        ) from error


def rows_before(warehouse: WarehouseFolder, parent: str | None) -> dict[str, int]:
    """Rows per table of the snapshot `parent`; none where there is no such snapshot, or no longer."""
    if parent is None or parent not in warehouse.snapshot_ids():
        return {}
    return {name: version.rows for name, version in warehouse.manifest(parent).tables.items()}
