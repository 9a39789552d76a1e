"""Benchmarks of nights: what a build costs when few pages changed, or none, and whether its tables are a full build's.

Builds run in one process, in which the model is warm, and with `engine.engine=local`, so that no time is the start of
an engine's. The pages of the night are also built in a fresh warehouse: that is the full build, and its tables must
have the digests of the night's.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from quern.indexes.catalog import Manifest, Warehouse
from quern.pipelines.build.whole import build
from quern.schemas.settings import Settings
from quern.schemas.settings.reading import load_settings
from tests.benchmarks import Figures
from tests.benchmarks.night_pages import World
from tests.nights.builds import nights
from tests.tiny_models import write_tiny_embedder

_CHANGED: Final = 0.01
# A chunk of five sentences has no more to ask; vectors of more pairs would only make full builds longer.
_PAIRS: Final = 5
# Steps that count the rows made; others count those that they were given.
_BY_ROWS_MADE: Final = frozenset({"entities", "sources", "timelines"})


def benchmark_law(count: int, seed: int) -> Figures:
    """Random nights, each against a build from nothing; those that break the law are printed as they come."""
    broken = 0
    with tempfile.TemporaryDirectory() as name:
        model = write_tiny_embedder(Path(name) / "model")
        for night in nights(Path(name), seed, count, [f"embed.model={model}"]):
            broken += bool(night.differing)
            if night.differing:
                sys.stderr.write(f"{night}\n")
    return {"nights compared": float(count), "nights that break the law": float(broken)}


def benchmark_nights(documents: int, *, real_model: bool = False) -> Figures:
    """Rows recomputed and wall times of a night in which 1 % of the documents changed, and of one in which none did."""
    with tempfile.TemporaryDirectory() as name:
        folder, world = Path(name), World(documents)
        model = () if real_model else (f"embed.model={write_tiny_embedder(folder / 'model')}",)
        settings = load_settings(None, ["engine.engine=local", f"doc2query.pairs={_PAIRS}", *model])
        day = world.first_night()
        next_day = world.next_night(day, _CHANGED, 1)
        build(world.write(World(8).first_night(), folder / "warm.jsonl"), Warehouse.create(folder / "warm"), settings)
        warehouse, fresh = (Warehouse.create(folder / name) for name in ("warehouse", "fresh"))
        pages = folder / "pages.jsonl"
        build(world.write(day, pages), warehouse, settings)
        world.write(next_day, pages)
        night = _timed(pages, warehouse, settings)
        full = _timed(pages, fresh, settings)
        quiet = _timed(pages, warehouse, settings)
    of = {step.name: step.rows_out if step.name in _BY_ROWS_MADE else step.rows_in for step in night.manifest.steps}
    recomputed = {step.name: step.computed / of[step.name] for step in night.manifest.steps if of[step.name]}
    one, other = ({name: t.digest for name, t in of.manifest.tables.items()} for of in (night, full))
    differing = {name for name, _ in one.items() ^ other.items()}
    rows = {name: table.rows for name, table in night.manifest.tables.items()}
    changes = {name: c.added + c.changed for name, c in night.manifest.changes.items() if rows[name]}
    return {
        **{f"{step} recomputed": share for step, share in recomputed.items()},
        **{f"{table} rows that differ": count / rows[table] for table, count in changes.items()},
        **{f"{step} seconds of the night": seconds for step, seconds in _seconds(night.manifest).items()},
        **{f"{step} seconds in full": seconds for step, seconds in _seconds(full.manifest).items()},
        "full build: seconds": full.seconds,
        "night: seconds": night.seconds,
        "night: share of a full build": night.seconds / full.seconds,
        "night: share of a full build's processor time": night.cpu / full.cpu,
        "nothing changed: seconds": quiet.seconds,
        "nothing changed: share of a full build": quiet.seconds / full.seconds,
        "nothing changed: share of a full build's processor time": quiet.cpu / full.cpu,
        "tables that differ from a full build's": float(len(differing)),
    }


@dataclass(frozen=True)
class _Timed:
    """A build, the seconds that it took, publishing included, and this process's processor time."""

    manifest: Manifest
    seconds: float
    cpu: float


def _timed(pages: Path, warehouse: Warehouse, settings: Settings) -> _Timed:
    started, cpu = time.monotonic(), time.process_time()
    manifest = build(pages, warehouse, settings)
    return _Timed(manifest, time.monotonic() - started, time.process_time() - cpu)


def _seconds(manifest: Manifest) -> Figures:
    """Seconds of each step that is no hundredth of one, and of all that is no step."""
    steps = {step.name: step.seconds for step in manifest.steps}
    long = {name: seconds for name, seconds in steps.items() if seconds >= 0.01}
    return {**long, "audit, pins": manifest.seconds - sum(steps.values())}
