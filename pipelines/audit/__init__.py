"""Audits: of a build before it is published, and of a snapshot again; their data docs, a page and JSON."""

from __future__ import annotations

import json
import logging
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from quern.indexes.catalog import Snapshot, WarehouseFolder
from quern.indexes.catalog.manifest import Manifest, StepRecord
from quern.indexes.checksums import DamagedError
from quern.indexes.disk import is_read_only
from quern.indexes.stages import Stage
from quern.indexes.storage import write_text
from quern.jobs.audit.checks import Audit
from quern.jobs.audit.validation import audit
from quern.jobs.core.step import upstream
from quern.jobs.engines import SparkEngine
from quern.schemas.contract.expectations import LOST, RECALL, Limits
from quern.schemas.settings import Settings
from quern.schemas.tables import NO_LOSS, WARNINGS

log = logging.getLogger(__name__)

Reasons = Mapping[tuple[str, str], int]
Report = Mapping[str, Any]


@dataclass(frozen=True)
class Audited:
    """An audit and its data docs, where those can be written."""

    audit: Audit
    docs: Path | None


@dataclass(frozen=True)
class Subject:
    """What is audited: the tables of a build, and how they came about."""

    build_id: str  # Name of the build.
    started_at: datetime  # When it began.
    stages: Mapping[str, Stage]  # Its tables.
    reports: Sequence[Report]  # The reports of its jobs.
    steps: Sequence[StepRecord]  # Its steps.
    parent: Manifest | None  # What is known of the snapshot before; None for a first build.

    @cached_property
    def reasons(self) -> Counter[tuple[str, str]]:
        """Rejects per (job, reason)."""
        return count_reasons(self.stages["rejects"])

    @cached_property
    def given(self) -> dict[str, int]:
        """Rows that each job was given."""
        return rows_in(self.reports, self.reasons, self.stages["pages"].rows)

    @property
    def measures(self) -> dict[str, float]:
        """What jobs measured of their own results: the recall of a graph that was built by partitions."""
        notes = [report.get("notes", {}) for report in self.reports if report["job"] == "link"]
        recalls = [float(of["recall"]) for of in notes if "recall" in of]
        return {RECALL: recalls[0]} if recalls else {}

    @property
    def shares(self) -> dict[str, float]:
        """For each job the share of its rows that it lost, and of all pages (`LOST`)."""
        return lost_shares(self.given, self.reasons, [step.job for step in upstream(self.steps, ("documents",))])

    def limits(self, settings: Settings) -> Limits:
        """What the tables are held to."""
        rows: dict[str, int] = {}
        shares: dict[str, float] = {}
        if self.parent is not None:
            rows = {name: version.rows for name, version in self.parent.tables.items()}
            parts = ((of.partition(": "), n) for of, n in self.parent.rejects.items())
            reasons = {(job, reason): n for (job, _, reason), n in parts}
            jobs = [step.job for step in upstream(self.parent.steps, ("documents",))]
            shares = lost_shares(rows_in(self.parent.jobs, reasons, rows.get("pages", 0)), reasons, jobs)
        return Limits(settings.audit, self.started_at, rows, self.measures, shares)


def count_reasons(rejects: Stage) -> Counter[tuple[str, str]]:
    """Rejects per (job, reason)."""
    counts: Counter[tuple[str, str]] = Counter()
    for batch in rejects.batches(["job", "reason"]):
        counts.update(zip(batch.column("job").to_pylist(), batch.column("reason").to_pylist(), strict=True))
    return counts


def rows_in(reports: Iterable[Report], reasons: Reasons, pages: int) -> dict[str, int]:
    """Rows that each job was given; of reading, the pages there are and those that were lost."""
    totals: Counter[str] = Counter()
    for report in reports:
        totals[report["job"]] += report["rows_in"]
    totals["ingest"] = pages + sum(
        n for (job, reason), n in reasons.items() if job == "ingest" and reason not in NO_LOSS
    )
    return dict(totals)


def lost_shares(given: Mapping[str, int], reasons: Reasons, jobs: Iterable[str]) -> dict[str, float]:
    """For each job the share of its rows that it lost, and of all pages (`LOST`); of no pages, all are lost.

    `jobs` make documents of pages: what they lose together is the share of pages lost.
    """
    lost: Counter[str] = Counter()
    for (job, reason), count in reasons.items():
        lost[job] += count if reason not in NO_LOSS else 0
    shares = {job: lost[job] / rows for job, rows in given.items() if rows}
    pages = given.get("ingest", 0)
    return {LOST: sum(lost[job] for job in dict.fromkeys(jobs)) / pages if pages else 1.0, **shares}


def reject_shares(given: Mapping[str, int], reasons: Reasons, counted: Reasons | None = None) -> dict[str, float]:
    """For each `job: reason` its share of the job's rows; of reading, of all that was read.

    Args:
        given: Rows that each job was given.
        reasons: All rejects.
        counted: The rejects to give shares of; by default all.
    """
    every = Counter(given)
    beside = NO_LOSS - WARNINGS  # A row of which a warning tells is among the pages.
    every["ingest"] += sum(n for (job, reason), n in reasons.items() if job == "ingest" and reason in beside)
    wanted = reasons if counted is None else counted
    return {f"{job}: {reason}": n / every[job] for (job, reason), n in sorted(wanted.items()) if every[job]}


def audit_tables(warehouse: WarehouseFolder, subject: Subject, settings: Settings) -> Audited:
    """Check all that is expected of `subject` and write the data docs to `audit/BUILD_ID` of the warehouse."""
    started = time.monotonic()
    chosen = (subject.stages, subject.shares, subject.limits(settings))
    if settings.audit.engine == "spark":
        root = warehouse.root if os.access(warehouse.root, os.W_OK) else None
        engine = SparkEngine(settings.engine, folder=root)
        try:
            result = audit(*chosen, engine.session())
        finally:
            engine.close()
    else:
        result = audit(*chosen)
    audited = Audited(result, _docs(result, subject.build_id, warehouse.audits / subject.build_id))
    log.info(
        "audit expectations=%d critical=%d warnings=%d seconds=%.1f engine=%s",
        len(result.checks),
        len(result.failures()),
        len(result.failures("warning")),
        time.monotonic() - started,
        settings.audit.engine,
    )
    return audited


def _docs(result: Audit, build_id: str, folder: Path) -> Path | None:
    """The data docs, written to `folder`; None in a warehouse that may not be written."""
    try:
        return write_docs(result, build_id, folder)
    except OSError as error:
        if not is_read_only(error):
            raise
        log.warning("the data docs are not written: %s error=%s", folder, error.strerror)
        return None


def audit_snapshot(snapshot: Snapshot, settings: Settings) -> Audited:
    """Check all that is expected of a published snapshot again.

    Raises:
        DamagedError: A file of the snapshot is gone or damaged.
    """
    snapshot.check()
    manifest = snapshot.manifest
    stages = {name: snapshot.stage(name) for name in manifest.tables}
    parent = _parent(snapshot.warehouse, manifest.parent)
    subject = Subject(manifest.build_id, manifest.started_at, stages, manifest.jobs, manifest.steps, parent)
    return audit_tables(snapshot.warehouse, subject, settings)


def _parent(warehouse: WarehouseFolder, parent: str | None) -> Manifest | None:
    """The manifest of the snapshot `parent`; None where there is no such snapshot, no longer, or a damaged one."""
    if parent is None or parent not in warehouse.snapshot_ids():
        return None
    try:
        return warehouse.manifest(parent)
    except DamagedError:
        return None


_TEMPLATES = Path(__file__).parent / "templates"


def write_docs(audit: Audit, build_id: str, folder: Path) -> Path:
    """Write the page, and `checks.json` beside it; returns the page, which needs nothing but itself."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(autoescape=True, loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined)
    page = environment.get_template("audit_index.html.j2").render(
        build_id=build_id,
        refused=bool(audit.failures()),
        tables=counts(audit),
        failed=[*audit.failures("critical"), *audit.failures("warning")],
        checks=audit.checks,
    )
    write_text(folder / "checks.json", json.dumps([c.as_row() for c in audit.checks], ensure_ascii=False, indent=1))
    write_text(folder / "index.html", page)
    return folder / "index.html"


def counts(audit: Audit) -> list[dict[str, Any]]:
    """Per table how many expectations there are and how many failed, in the order of the audit."""
    made = Counter(c.table for c in audit.checks if not c.skipped)
    critical = Counter(c.table for c in audit.failures("critical"))
    warned = Counter(c.table for c in audit.failures("warning"))
    skipped = Counter(c.table for c in audit.checks if c.skipped)
    return [
        {"table": t, "expectations": made[t], "critical": critical[t], "warnings": warned[t], "skipped": skipped[t]}
        for t in dict.fromkeys(c.table for c in audit.checks)
    ]
