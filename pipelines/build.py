"""The nightly build: the list of its steps, and the walk along it: write, audit, publish."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from quern.indexes.catalog import Manifest, Warehouse
from quern.jobs.chunks.chunk import Chunk
from quern.jobs.core.memory import MemoryMeter
from quern.jobs.core.run import Run
from quern.jobs.core.step import Step, last_uses
from quern.jobs.documents.boilerplate import RepeatedLines
from quern.jobs.documents.clean import Clean
from quern.jobs.documents.deduplicate import Deduplicate
from quern.jobs.documents.normalise import Normalise
from quern.jobs.events.embedded import embedded_events
from quern.jobs.events.find import find_events
from quern.jobs.events.merge import MergeEvents
from quern.jobs.graph.filter import Filter
from quern.jobs.graph.link import Link
from quern.jobs.images.build import BuildImages
from quern.jobs.pages.pages import ReadPages
from quern.jobs.queries.doc2query import Doc2Query
from quern.jobs.sources.build import BuildSources
from quern.jobs.timelines.build import BuildTimelines
from quern.jobs.triplets.entities import FoldEntities
from quern.jobs.triplets.find import find_triplets
from quern.jobs.vectors.embedded_tables import embedded_chunks, embedded_pairs
from quern.pipelines.staged import BuildRefusedError, StagedBuild, log_file
from quern.pipelines.staged_records import Begun
from quern.schemas.settings import ChunkSettings, EmbedSettings, NormaliseSettings, Settings

__all__ = ["STEPS", "BuildRefusedError", "build"]


def _chunk(chunk: ChunkSettings, embed: EmbedSettings, normalise: NormaliseSettings) -> Chunk:
    return Chunk(chunk, embed.model, normalise)


STEPS: Final = (
    Step("ingest", ReadPages, needs=("ingest",), reads=(), makes=("pages",)),
    Step("clean", Clean, needs=("clean",), reads=("pages",), makes=("drafts",)),
    Step("repeated_lines", RepeatedLines, needs=("normalise",), reads=("drafts",), makes=("repeated_lines",)),
    Step(
        "normalise",
        Normalise,
        needs=("normalise", "quality"),
        reads=("drafts", "repeated_lines"),
        makes=("normalised",),
    ),
    Step("deduplicate", Deduplicate, needs=("deduplicate",), reads=("normalised",), makes=("documents",)),
    Step("chunk", _chunk, needs=("chunk", "embed", "normalise"), reads=("documents",), makes=("bare_chunks",)),
    Step(
        "doc2query", Doc2Query, needs=("doc2query", "generator", "normalise"), reads=("bare_chunks",), makes=("pairs",)
    ),
    Step("find_events", find_events, needs=("events", "generator"), reads=("bare_chunks",), makes=("found_events",)),
    Step("triplets", find_triplets, needs=("triplets", "generator"), reads=("bare_chunks",), makes=("triplets",)),
    Step("entities", FoldEntities, needs=(), reads=("triplets", "documents"), makes=("entities",)),
    Step("embed_chunks", embedded_chunks, needs=("embed", "normalise"), reads=("bare_chunks",), makes=("chunks",)),
    Step("embed_pairs", embedded_pairs, needs=("embed", "normalise"), reads=("pairs",), makes=("embedded_pairs",)),
    Step(
        "embed_events",
        embedded_events,
        needs=("embed", "normalise"),
        reads=("found_events",),
        makes=("embedded_events",),
    ),
    Step("filter", Filter, needs=("filter",), reads=("embedded_pairs", "chunks"), makes=("queries", "nodes")),
    Step(
        "link",
        Link,
        needs=("link", "neighbours", "embed"),
        reads=("nodes", "documents", "queries", "triplets", "entities"),
        makes=("edges",),
    ),
    Step("merge_events", MergeEvents, needs=("events", "embed"), reads=("embedded_events",), makes=("events",)),
    Step(
        "timelines",
        BuildTimelines,
        needs=("timelines",),
        reads=("events", "documents", "chunks", "nodes", "edges"),
        makes=("timelines",),
    ),
    Step(
        "sources",
        BuildSources,
        needs=("sources",),
        reads=("pages", "documents", "nodes", "events"),
        makes=("sources",),
    ),
    Step("images", BuildImages, needs=("image_rules",), reads=("documents",), makes=("images",)),
)


def build(
    source: Path | None,
    warehouse: Warehouse,
    settings: Settings,
    steps: Sequence[Step] | None = None,
    *,
    wait: float = 0.0,
) -> Manifest:
    """Build an index of the pages under `source`, or of the page store, and publish it as a new snapshot.

    Where another build is writing, it is waited for `wait` seconds.

    Raises:
        BuildRefusedError: A critical expectation failed; the snapshot published before stays.
        IngestError: There is nothing to read at `source`, or in the page store.
        WarehouseError: Another build is writing.
    """
    with warehouse.lock("a build", wait):
        return _build(source, warehouse, settings, STEPS if steps is None else steps)


def _build(source: Path | None, warehouse: Warehouse, settings: Settings, steps: Sequence[Step]) -> Manifest:
    """The build, in a warehouse that is held."""
    started, build_id = time.monotonic(), warehouse.next_build_id()
    warehouse.tell_writer(f"build {build_id}")
    with log_file(warehouse.logs / f"{build_id}.log"), MemoryMeter() as meter:
        begun = Begun(build_id=build_id, source=source, parent=warehouse.parent_id(), settings=settings.model_dump())
        folder = warehouse.clear_work(build_id)
        try:
            staged = StagedBuild.begin(folder, warehouse, steps, begun)
            with staged.run() as run:
                make_tables(staged, run)
            manifest = staged.pinned(staged.audit())
            manifest.seconds = round(time.monotonic() - started, 1)
            manifest.peak_memory_bytes = meter.peak_bytes
            return staged.publish(manifest)
        except BaseException as error:
            # Tried again every hour, a build that has no space must not take more of it each time.
            warehouse.drop_build(build_id, docs=not isinstance(error, BuildRefusedError))
            raise
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)


def make_tables(staged: StagedBuild, run: Run) -> None:
    """Run the steps one after the other; an engine stops after the last step that may need it."""
    staged.prepare(staged.steps, run)
    last = last_uses(staged.steps, staged.settings)
    for step in staged.steps:
        staged.finish(step, run)
        for engine in (engine for engine, name in last.items() if name == step.name):
            run.engines.release(engine)
