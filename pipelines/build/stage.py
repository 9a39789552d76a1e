"""One step of a build alone, for an orchestrator: each in a process of its own, a failed one is tried again."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from quern.indexes.catalog import Warehouse, WarehouseError, new_build_id
from quern.indexes.storage import exclusive
from quern.jobs.core.progress import MemoryMeter
from quern.jobs.core.step import Step, makers
from quern.pipelines.build.in_progress import StagedBuild, StageError
from quern.pipelines.build.records import Begun, log_file
from quern.pipelines.build.steps import STEPS
from quern.schemas.addresses import Url, absolute
from quern.schemas.settings import Settings
from quern.schemas.words.meant import no_such

AUDIT: Final = "audit"
PUBLISH: Final = "publish"
_BUILD_ID: Final = re.compile(r"\d{8}T\d{4,}")

Change = Callable[[Settings], Settings]

log = logging.getLogger(__name__)


def _unchanged(settings: Settings) -> Settings:
    return settings


@dataclass(frozen=True)
class OrderedStage:
    """One of what `run_stage` can be asked for."""

    name: str
    upstream: tuple[str, ...]  # Those that must be finished before, without what they need themselves.


def stages() -> list[OrderedStage]:
    """What `run_stage` can be asked for, in an order in which it can be: the steps, their audit, the publication."""
    listed = [OrderedStage(step.name, tuple(maker.name for maker in makers(STEPS, step.reads))) for step in STEPS]
    read = {name for step in listed for name in step.upstream}
    ends = tuple(step.name for step in listed if step.name not in read)
    return [*listed, OrderedStage(AUDIT, ends), OrderedStage(PUBLISH, (AUDIT,))]


def stage_names() -> list[str]:
    """The names of `stages`."""
    return [stage.name for stage in stages()]


def run_stage(
    name: str,
    build_id: str,
    warehouse: Warehouse,
    source: Path | Url | None = None,
    change: Change = _unchanged,
    *,
    wait: float = 0.0,
) -> None:
    """Run one step of the build `build_id`, its audit, or its publication; the first step begins the build.

    Steps that do not need each other may run side by side, each in a process of its own; the first step, the audit and
    the publication run alone. What is finished already is not done again. Tables on the way are kept in the warehouse
    until the build, or another, is published.

    Args:
        name: One of `stage_names`.
        build_id: Digits of the start, like 20261122T0610; names of later builds must sort after it.
        warehouse: The warehouse.
        source: Files of pages, given with the first step; None for the page store.
        change: Changes settings: of the defaults with the first step, else of those that the build was begun with,
            where it may change nothing that a table depends on.
        wait: Seconds to wait for another that is writing.

    Raises:
        StageError: A step before it was not run, or the build cannot be gone on with.
        BuildRefusedError: A critical expectation failed; the audit can be tried again.
        WarehouseError: Another build is writing, or another process runs this step.
    """
    _check_names(name, build_id)
    alone = name in (STEPS[0].name, AUDIT, PUBLISH)
    with (
        warehouse.lock(f"{name} of build {build_id}", wait, beside_others=not alone),
        nullcontext() if alone else _held_step(name, build_id, warehouse, wait),
        log_file(warehouse.logs / f"{build_id}.log"),
        MemoryMeter() as meter,
    ):
        if _is_published(build_id, warehouse):
            log.info("stage=%s build=%s is published already", name, build_id)
            return
        staged = _in_progress(name, build_id, warehouse, source, change)
        if staged is None:
            tree, parent = change(Settings()).model_dump(mode="json"), warehouse.parent_id()
            begun = Begun(build_id=build_id, source=source and absolute(source), parent=parent, settings=tree)
            staged = StagedBuild.begin(warehouse.builds / build_id, warehouse, begun)
        _check_upstream(name, staged)
        try:
            if name == AUDIT:
                if staged.audited() is None:
                    staged.audit()
            elif name == PUBLISH:
                # Publish a build that passed its audit.
                audit, done, started = staged.audited(), staged.done(), time.monotonic()
                if audit is not None:
                    manifest = staged.pinned(audit)
                    before = sum(known.record.seconds for known in done) + audit.seconds
                    manifest.seconds = round(before + time.monotonic() - started, 1)
                    manifest.peak_memory_bytes = max(
                        meter.peak_bytes, *(known.record.peak_memory_bytes for known in done)
                    )
                    staged.publish(manifest)
            else:
                _run_one(next(step for step in STEPS if step.name == name), staged, meter)
        except BaseException as error:
            if name == PUBLISH:
                warehouse.drop_versions()
            if not _is_published(build_id, warehouse):
                staged.ended(error)
                if name in (AUDIT, PUBLISH):  # A step tells its own end.
                    staged.lineage.ended(error)
            raise


def _check_names(name: str, build_id: str) -> None:
    """Raises `StageError` where there is no such step, or no build is called so."""
    if name not in stage_names():
        raise StageError(no_such("step", name, stage_names()))
    if not _BUILD_ID.fullmatch(build_id):
        raise StageError(
            f"--build {build_id}: name it by its start, like {new_build_id()}, so that builds sort by time"
        )


def _is_published(build_id: str, warehouse: Warehouse) -> bool:
    going_on = warehouse.builds / build_id in warehouse.builds_in_progress()
    return build_id in warehouse.snapshot_ids() and not going_on  # Else it was killed just before it was published.


def finished_steps(build_id: str, warehouse: Warehouse) -> list[str]:
    """The steps of a build that `run_stage` would find finished; of one that is published all."""
    if build_id in warehouse.snapshot_ids():
        return stage_names()
    staged = StagedBuild.open(warehouse.builds / build_id, warehouse)
    return [step.name for step in STEPS if staged and staged.finished(step)]


def _in_progress(
    name: str, build_id: str, warehouse: Warehouse, source: Path | Url | None, change: Change
) -> StagedBuild | None:
    """The build in progress, with its settings changed; None where the first step, `name`, would begin it."""
    staged = StagedBuild.open(warehouse.builds / build_id, warehouse)
    parent = warehouse.parent_id()
    if staged is None:
        if name != STEPS[0].name:
            raise StageError(
                f"no build {build_id} is in progress in {warehouse.address}; `quern stage {STEPS[0].name} --build "
                f"{build_id}` begins one"
            )
        if parent is not None and build_id < parent:
            raise StageError(
                f"build {build_id} would sort before {parent}, which is published: a later night was built already, "
                "and pages of an earlier one are no longer to be had"
            )
        return None
    if parent != staged.begun.parent:
        raise StageError(
            f"{parent} was published after build {build_id} began: begin another build, what this one computed is kept"
        )
    if source is not None and absolute(source) != staged.begun.source:
        raise StageError(f"build {build_id} was begun with pages of {staged.begun.source or 'the page store'}")
    # The settings given, which may differ in nothing that a table depends on.
    settings = change(staged.settings)
    groups = {group for step in STEPS for group in step.needs}
    different = [group for group in sorted(groups) if getattr(settings, group) != getattr(staged.settings, group)]
    if different:
        raise StageError(
            f"build {staged.begun.build_id} was begun with other settings of {', '.join(different)}: begin another"
        )
    staged.settings = settings
    return staged


def _run_one(step: Step, staged: StagedBuild, meter: MemoryMeter) -> None:
    """Run a step that is not finished; the first one finishes those that have nothing to do, too."""
    if staged.finished(step) is not None:
        log.info("stage=%s build=%s is finished already", step.name, staged.begun.build_id)
        return
    with staged.run(step.name) as run:
        staged.prepare([step], run)
        staged.finish(step, run, meter)
        if step is STEPS[0]:
            staged.finish_idle(run)


def _check_upstream(name: str, staged: StagedBuild) -> None:
    """Raises `StageError` where what is before the stage `name` was not done."""
    step = next((step for step in STEPS if step.name == name), None)
    needed = STEPS if step is None else makers(STEPS, step.reads)
    missing = [other.name for other in needed if staged.finished(other) is None]
    if not missing and name == PUBLISH and staged.audited() is None:
        missing = [AUDIT]
    if missing:
        raise StageError(
            f"the step {name} of build {staged.begun.build_id} needs {', '.join(missing)} first: "
            f"`quern stage {missing[0]} --build {staged.begun.build_id}`"
        )


@contextmanager
def _held_step(name: str, build_id: str, warehouse: Warehouse, wait: float) -> Iterator[None]:
    """Hold a step of a build that is begun: two processes that ran it would write one table."""
    folder = warehouse.builds / build_id
    if not folder.is_dir():  # That is said when it is opened.
        yield
        return
    with exclusive(folder / f"{name}.lock", WarehouseError(f"another process runs {name} of build {build_id}"), wait):
        yield
