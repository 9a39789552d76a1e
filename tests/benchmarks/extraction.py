"""The benchmark of cleaning against trafilatura: pages a second of one core, and F1 of the main text."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
from trafilatura import bare_extraction

from quern.jobs.documents.clean import PARSER, Clean
from quern.jobs.documents.html.child import child
from quern.pipelines.evaluation.extraction import f1_of, gold_pages, page_batch
from quern.schemas.settings import CleanSettings
from tests.benchmarks import in_turns, median, median_ratio

Texts = Mapping[str, str]
_TICKS = os.sysconf("SC_CLK_TCK")


def _cleaned(job: Clean, batch: pa.RecordBatch) -> Texts:
    """Main texts by address, from the whole job: child process, limits, metadata, Arrow."""
    made = job.apply(batch)
    urls = batch.column("url").to_pylist()
    texts = made.rows.column("text").to_pylist()
    return {urls[int(parent)]: text for parent, text in zip(made.parents, texts, strict=True)}


def _bare(batch: pa.RecordBatch, *, fast: bool) -> Texts:
    """Main texts by address, from trafilatura alone, in this process, with metadata."""
    found = {}
    for page in batch.to_pylist():
        document = bare_extraction(page["body"], url=page["url"], with_metadata=True, fast=fast)
        found[page["url"]] = (document.text or "") if document is not None else ""
    return found


def benchmark_extraction(folder: Path, repeats: int = 7) -> dict[str, float]:
    """Pages a second of CPU time, the child process's included, medians over `repeats` rounds.

    Returns:
        `clean`: the whole job. `bare`: `trafilatura.bare_extraction` with metadata, the rival. `fast`: the rival
        without its fallbacks. `ratio`, `ratio_fast`: medians of each round's clean over bare and over fast. `f1`,
        `f1_bare`, `f1_fast`: F1 of the main text as `quern evaluate-extraction` measures it.

    Raises:
        ExtractionError: The folder does not hold the extraction benchmark.
    """
    gold, settings = gold_pages(folder), CleanSettings()
    job, batch = Clean(settings), page_batch(folder, gold, list(gold))
    _cleaned(job, batch.slice(0, 1))
    _bare(batch.slice(0, 1), fast=False)
    texts: dict[str, Texts] = {}
    works: dict[str, Callable[[], object]] = {
        "clean": lambda: texts.update(clean=_cleaned(job, batch)),
        "bare": lambda: texts.update(bare=_bare(batch, fast=False)),
        "fast": lambda: texts.update(fast=_bare(batch, fast=True)),
    }

    def cpu_seconds() -> float:
        """CPU time of this process and of its parsing child so far, in seconds."""
        pid = child(PARSER, settings.memory_per_page).pid
        if pid is None:
            return time.process_time()
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return time.process_time() + (int(fields[11]) + int(fields[12])) / _TICKS

    rounds = in_turns(works, repeats, cpu_seconds)
    figures = {name: batch.num_rows / median(rounds, name) for name in works}
    figures |= {"ratio": median_ratio(rounds, "bare", "clean"), "ratio_fast": median_ratio(rounds, "fast", "clean")}
    by_url = {page["url"]: page["articleBody"] for page in gold.values()}
    scores = {f"f1{'' if name == 'clean' else '_' + name}": f1_of(by_url, texts[name]) for name in works}
    return {"pages": float(batch.num_rows), **figures, **scores}
