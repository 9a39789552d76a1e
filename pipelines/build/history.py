"""The records of the table `builds`: a snapshot's from its manifest, a failed build's from the steps it finished.

Figures of the last build are also a text file for Prometheus, which node_exporter's textfile collector reads. Format:
https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4).
"""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from quern.indexes.catalog import Manifest, Warehouse, WarehouseFolder
from quern.indexes.catalog.manifest import StepRecord, TableVersion
from quern.indexes.checksums import DamagedError, size_of
from quern.indexes.object_store import StoreError
from quern.indexes.stages import Stage
from quern.pipelines.build.records import Begun, FinishedStep
from quern.schemas.differences import RowChanges
from quern.schemas.settings import Settings
from quern.schemas.tables import TABLES
from quern.schemas.tables.builds import Build, BuiltStep, BuiltTable
from quern.schemas.version import VERSION

log = logging.getLogger(__name__)

_CREDENTIALS: Final = re.compile(r"(?<=://)[^\s\"']*@")
# The settings that hold the address of what did a job.
_ADDRESSES: Final = {
    "spark": ("engine", "spark_master"),
    "ray": ("engine", "ray_address"),
    "openai": ("generator", "url"),
}


def builds_of(warehouse: WarehouseFolder, last: int | None = None) -> list[Build]:
    """The `last` builds, or all, that the table or a manifest tells of, the newest first."""
    builds = list(islice(warehouse.history.newest_first(), last))
    known = {build.build_id for build in builds}
    builds += [published_build(m, warehouse.root) for m in warehouse.whole_manifests() if m.build_id not in known]
    return sorted(builds, key=lambda build: build.build_id, reverse=True)[:last]


def record_published(warehouse: Warehouse, manifest: Manifest, settings: Settings) -> None:
    """Add the build that was just published, and those of other snapshots that have no record.

    A snapshot has none if it was built before there were records, or if its build was killed once it was published.
    """
    this_one = {"host": socket.gethostname(), "version": VERSION}
    builds = [published_build(manifest, warehouse.root).model_copy(update=this_one)]
    for build_id in warehouse.snapshot_ids():
        if build_id != manifest.build_id and not warehouse.history.has(build_id):
            try:
                builds.append(published_build(warehouse.manifest(build_id), warehouse.root))
            except DamagedError as error:
                log.warning("%s", error)
    _add(warehouse, builds, settings)


def record_unpublished(
    warehouse: Warehouse, begun: Begun, done: Sequence[FinishedStep], settings: Settings, error: BaseException
) -> None:
    """Add a build that ended without being published.

    Args:
        warehouse: Held for writing.
        begun: What the build was begun with.
        done: The steps that it finished.
        settings: Its settings.
        error: What ended it. The table outlives removed pages, so it keeps no message, which may quote one.
    """
    ended, refused = datetime.now(UTC), getattr(error, "expectations", ())
    steps = [known.record for known in done]
    build = Build(
        build_id=begun.build_id,
        status="refused" if refused else "failed" if isinstance(error, Exception) else "stopped",
        error="; ".join(refused) or type(error).__name__,
        started_at=begun.started_at,
        ended_at=ended,
        seconds=(ended - begun.started_at).total_seconds(),
        peak_memory_bytes=max((step.peak_memory_bytes for step in steps), default=0),
        parent=begun.parent,
        source=_without_credentials(str(begun.source or "")),
        version=VERSION,
        host=socket.gethostname(),
        tables=[BuiltTable(name=n, rows=rows) for step in steps for n, rows in step.rows.items() if n in TABLES],
        **_of_steps(steps, [report for known in done for report in known.reports], settings.model_dump(mode="json")),
    )
    _add(warehouse, [build], settings)


def published_build(manifest: Manifest, root: Path) -> Build:
    """The record of a snapshot, as its manifest tells; the machine and the version of Quern are not in there."""
    return Build(
        build_id=manifest.build_id,
        status="published",
        started_at=manifest.started_at,
        ended_at=manifest.published_at or manifest.started_at,
        seconds=manifest.seconds,
        peak_memory_bytes=manifest.peak_memory_bytes,
        parent=manifest.parent,
        source=_without_credentials(manifest.source),
        tables=[
            BuiltTable(
                name=name,
                rows=version.rows,
                bytes=_bytes(name, version, root),
                **manifest.changes.get(name, RowChanges()).model_dump(),
            )
            for name, version in manifest.tables.items()
        ],
        rejects=manifest.rejects,
        warnings=manifest.warnings,
        **_of_steps(manifest.steps, manifest.jobs, manifest.settings),
    )


def _of_steps(
    steps: Sequence[StepRecord], reports: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """What steps, reports of jobs and settings tell of a build."""
    by = {report["job"]: str(report["engine"]) for report in reports}
    # Whole-table jobs count what they compute in rows of other tables.
    given = sum(step.rows_in for step in steps if step.memo)
    computed = sum(step.computed for step in steps if step.memo)
    same = set(BuiltStep.model_fields) - {"engine"}
    return {
        "engines": {engine: _address(engine, settings) for engine in sorted({*by.values()} - {"none"})},
        "reuse": 1 - computed / given if given else None,
        "steps": [BuiltStep(engine=by.get(step.job, "driver"), **step.model_dump(include=same)) for step in steps],
        "settings": {
            f"{group}.{name}": _without_credentials(json.dumps(value, ensure_ascii=False, default=str))
            for group, values in settings.items()
            for name, value in values.items()
        },
    }


def _address(engine: str, settings: Mapping[str, Any]) -> str:
    """Where an engine is, if it is not on this machine."""
    group, name = _ADDRESSES.get(engine, ("", ""))
    return _without_credentials(str(settings.get(group, {}).get(name, "")))


def _without_credentials(text: str) -> str:
    return _CREDENTIALS.sub("", text)


def _bytes(name: str, version: TableVersion, root: Path) -> int | None:
    """Bytes of the files of a table; None where the list of its files cannot be read."""
    if name not in TABLES:
        return None
    stage = Stage(TABLES[name], root / version.file, version.rows, version.digest, version.checksum)
    try:
        return sum(map(size_of, [*stage.checksums().values(), *version.served.values()]))
    except DamagedError:
        return None


def _add(warehouse: Warehouse, builds: Sequence[Build], settings: Settings) -> None:
    """Write records, and the metrics of the first; where that fails, the build ended all the same as it did."""
    try:
        for build in builds:
            warehouse.history.add(build)
    except (OSError, StoreError) as error:
        log.warning("build=%s is not in the table builds: error=%s", builds[0].build_id, error)
    if settings.metrics.file:
        write_metrics(Path(settings.metrics.file), builds[0], warehouse)


Samples = list[tuple[Mapping[str, str], float]]


def write_metrics(path: Path, last: Build, warehouse: WarehouseFolder) -> None:
    """Replace the file at `path`, in one step; where that fails, it is logged.

    Args:
        path: The file.
        last: The last build, which may have failed.
        warehouse: The warehouse, whose last published build tells of the tables.
    """
    published: Build | None = last
    if last.status != "published":
        published = next((build for build in warehouse.history.newest_first() if build.status == "published"), None)
    # Not named *.prom, which the collector would read too, should it be left behind.
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        temporary.write_text(metrics_text(last, published, str(warehouse.root)), "utf-8")
        temporary.replace(path)
    except OSError as error:
        log.warning("metrics are not written: %s error=%s", path, error)


def metrics_text(last: Build, published: Build | None, warehouse: str) -> str:
    """The text; what `published` tells is left out where nothing was published yet."""
    lines = []
    for name, meaning, samples in _metrics(last, published):
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]
        for labels, value in samples:
            named = {"warehouse": warehouse, **labels}
            told = ",".join(f'{key}="{text.translate(_ESCAPES)}"' for key, text in named.items())
            lines.append(f"{name}{{{told}}} {value!r}")
    return "\n".join(lines) + "\n"


def _metrics(last: Build, published: Build | None) -> Iterator[tuple[str, str, Samples]]:
    """Of each metric the name, the meaning and the samples."""
    yield "quern_build_success", "Whether the last build was published.", [({}, int(last.status == "published"))]
    yield "quern_build_seconds", "Time of the last build.", [({}, last.seconds)]
    yield "quern_build_end_timestamp_seconds", "When the last build ended.", [({}, last.ended_at.timestamp())]
    peak = "Largest memory of all processes of the last build."
    yield "quern_build_peak_memory_bytes", peak, [({}, last.peak_memory_bytes)]
    if last.reuse is not None:
        yield "quern_build_reuse_ratio", "Share of rows that the last build did not compute.", [({}, last.reuse)]
    yield (
        "quern_step_seconds",
        "Time of each step that the last build finished.",
        [({"step": step.name}, step.seconds) for step in last.steps],
    )
    if published is None:
        return
    at = published.ended_at.timestamp()
    yield "quern_build_last_success_timestamp_seconds", "When a build was last published.", [({}, at)]
    tables = published.tables
    rows: Samples = [({"table": table.name}, table.rows) for table in tables]
    yield "quern_table_rows", "Rows of each published table.", rows
    sizes: Samples = [({"table": table.name}, table.bytes) for table in tables if table.bytes is not None]
    yield "quern_table_bytes", "Bytes of the files of each published table.", sizes
    lost = {(job, reason): n for of, n in published.rejects.items() for job, _, reason in [of.partition(": ")]}
    rejected: Samples = [({"job": job, "reason": reason}, n) for (job, reason), n in lost.items()]
    yield "quern_rejected_rows", "Rows that the last published build left out, by job and reason.", rejected


_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})  # Of a label's value.
