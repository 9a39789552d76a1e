"""The benchmark of images: figures of real pages are taken out, and placed again."""

from __future__ import annotations

import time
from pathlib import Path

from quern.pipelines.evaluation.images import evaluate_images


def benchmark_images(folder: Path) -> dict[str, float]:
    """What `evaluate_images` measures on the pages of `folder`, and its `seconds`."""
    started = time.monotonic()
    figures = evaluate_images(folder)
    return {**figures, "seconds": time.monotonic() - started}
