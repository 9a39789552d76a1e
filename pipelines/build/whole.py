"""A whole build in one process: the walk along the list of steps, then the audit, then the publication."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from quern.indexes.catalog import Manifest, Warehouse
from quern.jobs.core.progress import MemoryMeter
from quern.jobs.core.run import Run
from quern.jobs.core.step import last_uses
from quern.pipelines.build.in_progress import BuildRefusedError, StagedBuild
from quern.pipelines.build.records import Begun, log_file
from quern.pipelines.build.steps import STEPS
from quern.schemas.addresses import Url
from quern.schemas.settings import Settings


def build(source: Path | Url | None, warehouse: Warehouse, settings: Settings, *, wait: float = 0.0) -> Manifest:
    """Build an index of the pages under `source`, or of the page store, and publish it as a new snapshot.

    Where another build is writing, it is waited for `wait` seconds.

    Raises:
        BuildRefusedError: A critical expectation failed; the snapshot published before stays.
        IngestError: There is nothing to read at `source`, or in the page store.
        WarehouseError: Another build is writing.
    """
    with warehouse.lock("a build", wait):
        started, build_id = time.monotonic(), warehouse.next_build_id()
        warehouse.tell_writer(f"build {build_id}")
        with log_file(warehouse.logs / f"{build_id}.log"), MemoryMeter() as meter:
            begun = Begun(
                build_id=build_id, source=source, parent=warehouse.parent_id(), settings=settings.model_dump()
            )
            folder = warehouse.clear_work(build_id)
            staged = None
            try:
                staged = StagedBuild.begin(folder, warehouse, begun)
                with staged.run() as run:
                    make_tables(staged, run, meter)
                manifest = staged.pinned(staged.audit())
                manifest.seconds = round(time.monotonic() - started, 1)
                manifest.peak_memory_bytes = meter.peak_bytes
                return staged.publish(manifest)
            except BaseException as error:
                if staged is not None and build_id not in warehouse.snapshot_ids():
                    staged.lineage.ended(error)
                    staged.ended(error)
                # Tried again every hour, a build that has no space must not take more of it each time.
                warehouse.drop_build(build_id, docs=not isinstance(error, BuildRefusedError))
                raise
            finally:
                shutil.rmtree(folder.parent, ignore_errors=True)


def make_tables(staged: StagedBuild, run: Run, meter: MemoryMeter | None = None) -> None:
    """Run the steps one after the other; an engine stops after the last step that may need it."""
    staged.prepare(STEPS, run)
    last = last_uses(STEPS, staged.settings)
    for step in STEPS:
        staged.finish(step, run, meter)
        for engine in (engine for engine, name in last.items() if name == step.name):
            run.engines.release(engine)
