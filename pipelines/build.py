"""The nightly build: the list of its steps, and the walk along it: write, audit, publish."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from quern.indexes.catalog import Manifest, Warehouse
from quern.jobs.core.memory import MemoryMeter
from quern.jobs.core.run import Run
from quern.jobs.core.step import Step, last_uses
from quern.pipelines.staged import BuildRefusedError, StagedBuild, log_file
from quern.pipelines.staged_records import Begun
from quern.schemas.settings import ChunkSettings, EmbedSettings, NormaliseSettings, Settings

if TYPE_CHECKING:
    from quern.jobs.chunks.chunk import Chunk

__all__ = ["STEPS", "BuildRefusedError", "build"]


def _chunk(chunk: ChunkSettings, embed: EmbedSettings, normalise: NormaliseSettings) -> Chunk:
    from quern.jobs.chunks.chunk import Chunk

    return Chunk(chunk, embed.model, normalise)


# A job is named by its module, so that a process which runs one step (`quern stage`) imports no other's.
STEPS: Final = (
    Step("ingest", "pages.pages:ReadPages", needs=("ingest",), reads=(), makes=("pages",)),
    Step("clean", "documents.clean:Clean", needs=("clean",), reads=("pages",), makes=("drafts",)),
    Step(
        "repeated_lines",
        "documents.boilerplate:RepeatedLines",
        needs=("normalise",),
        reads=("drafts",),
        makes=("repeated_lines",),
    ),
    Step(
        "normalise",
        "documents.normalise:Normalise",
        needs=("normalise", "quality"),
        reads=("drafts", "repeated_lines"),
        makes=("normalised",),
    ),
    Step(
        "deduplicate",
        "documents.deduplicate:Deduplicate",
        needs=("deduplicate",),
        reads=("normalised",),
        makes=("documents",),
    ),
    Step("chunk", _chunk, needs=("chunk", "embed", "normalise"), reads=("documents",), makes=("bare_chunks",)),
    Step(
        "doc2query",
        "queries.doc2query:Doc2Query",
        needs=("doc2query", "generator", "normalise"),
        reads=("bare_chunks",),
        makes=("pairs",),
    ),
    Step(
        "find_events",
        "events.find:find_events",
        needs=("events", "generator"),
        reads=("bare_chunks",),
        makes=("found_events",),
    ),
    Step(
        "triplets",
        "triplets.find:find_triplets",
        needs=("triplets", "generator"),
        reads=("bare_chunks",),
        makes=("triplets",),
    ),
    Step("entities", "triplets.entities:FoldEntities", needs=(), reads=("triplets", "documents"), makes=("entities",)),
    Step(
        "embed_chunks",
        "vectors.embedded_tables:embedded_chunks",
        needs=("embed", "normalise"),
        reads=("bare_chunks",),
        makes=("chunks",),
    ),
    Step(
        "embed_pairs",
        "vectors.embedded_tables:embedded_pairs",
        needs=("embed", "normalise"),
        reads=("pairs",),
        makes=("embedded_pairs",),
    ),
    Step(
        "embed_events",
        "events.embedded:embedded_events",
        needs=("embed", "normalise"),
        reads=("found_events",),
        makes=("embedded_events",),
    ),
    Step(
        "filter",
        "graph.filter:Filter",
        needs=("filter",),
        reads=("embedded_pairs", "chunks"),
        makes=("queries", "nodes"),
    ),
    Step(
        "link",
        "graph.link:Link",
        needs=("link", "neighbours", "embed"),
        reads=("nodes", "documents", "queries", "triplets", "entities"),
        makes=("edges",),
    ),
    Step(
        "merge_events",
        "events.merge:MergeEvents",
        needs=("events", "embed"),
        reads=("embedded_events",),
        makes=("events",),
    ),
    Step(
        "timelines",
        "timelines.build:BuildTimelines",
        needs=("timelines",),
        reads=("events", "documents", "chunks", "nodes", "edges"),
        makes=("timelines",),
    ),
    Step(
        "sources",
        "sources.build:BuildSources",
        needs=("sources",),
        reads=("pages", "documents", "nodes", "events"),
        makes=("sources",),
    ),
    Step("images", "images.build:BuildImages", needs=("image_rules",), reads=("documents",), makes=("images",)),
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
            with staged.run(steps) as run:
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
