"""The records of the table `builds`: a snapshot's from its manifest, a failed build's from the steps it finished."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Mapping, Sequence
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
    ids = {build.build_id for build in builds}
    builds += [published_build(m, warehouse.root) for m in warehouse.whole_manifests() if m.build_id not in ids]
    return sorted(builds, key=lambda build: build.build_id, reverse=True)[:last]


def record_published(warehouse: Warehouse, manifest: Manifest) -> None:
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
    _add(warehouse, builds)


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
    _add(warehouse, [build])


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
    rows = sum(step.rows_in for step in steps if step.memo)
    computed = sum(step.computed for step in steps if step.memo)
    same = set(BuiltStep.model_fields) - {"engine"}
    return {
        "engines": {engine: _address(engine, settings) for engine in sorted({*by.values()} - {"none"})},
        "reuse": 1 - computed / rows if rows else None,
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


def _add(warehouse: Warehouse, builds: Sequence[Build]) -> None:
    """Write records; where that fails, the build ended all the same as it did."""
    try:
        for build in builds:
            warehouse.history.add(build)
    except (OSError, StoreError) as error:
        log.warning("build=%s is not in the table builds: error=%s", builds[0].build_id, error)
