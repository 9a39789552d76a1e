"""Seconds and memory of each step of a build against the number of chunks, and how steeply they grow.

Documents are generated, one chunk each; vectors are those of a model of random weights, whose 32 dimensions show what
all but the vectors take. Each build runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import itertools
import logging
import math
import multiprocessing
import tempfile
from collections.abc import Sequence
from pathlib import Path

from quern.indexes.catalog import Manifest, Warehouse
from quern.pipelines.build.whole import build
from quern.schemas.settings.reading import load_settings
from tests.benchmarks.night_pages import World
from tests.tiny_models import write_tiny_embedder

_MIB = 1 << 20


def benchmark_scale(sizes: Sequence[int], overrides: Sequence[str] = ()) -> dict[str, float]:
    """Seconds and peak memory (MiB) of each step at each of `sizes` documents, and the exponents of the seconds.

    The exponent of a step is log(t2 / t1) / log(n2 / n1) between the two largest sizes: 1 is linear, 1.1 is about
    n log n. Steps below a tenth of a second at the larger one have none.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    figures: dict[str, float] = {}
    builds: list[Manifest] = []
    with tempfile.TemporaryDirectory() as name:
        model = write_tiny_embedder(Path(name) / "model")
        settings = [f"embed.model={model}", "engine.engine=local", *overrides]
        for size in sorted(sizes):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                manifest = pool.apply(_built, (Path(name) / str(size), size, settings))
            builds.append(manifest)
            figures |= {f"{size} chunks": float(manifest.tables["chunks"].rows)}
            figures |= {f"{size} nodes": float(manifest.tables["nodes"].rows)}
            figures |= {f"{size} seconds": manifest.seconds, f"{size} MiB": manifest.peak_memory_bytes / _MIB}
            figures |= {f"{size} {step.name} seconds": step.seconds for step in manifest.steps}
            figures |= {f"{size} {step.name} MiB": step.peak_memory_bytes / _MIB for step in manifest.steps}
    for small, large in list(itertools.pairwise(builds))[-1:]:
        ratio = math.log(large.tables["chunks"].rows / small.tables["chunks"].rows)
        for one, other in zip(small.steps, large.steps, strict=True):
            if other.seconds >= 0.1:
                figures[f"{other.name} exponent"] = math.log(other.seconds / max(one.seconds, 1e-3)) / ratio
    return figures


def _built(folder: Path, size: int, overrides: Sequence[str]) -> Manifest:
    folder.mkdir()
    world = World(size)
    pages = world.write(world.first_night(), folder / "pages.jsonl")
    return build(pages, Warehouse.create(folder / "warehouse"), load_settings(None, list(overrides)))
