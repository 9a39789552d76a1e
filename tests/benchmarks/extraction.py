"""The benchmark of cleaning against trafilatura: pages a second of one core, and F1 of the main text.

F1 is that of github.com/scrapinghub/article-extraction-benchmark: texts are compared as multisets of 4-word shingles,
precision and recall are averaged over pages, F1 is the harmonic mean of the two averages.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from trafilatura import bare_extraction

from quern.jobs.documents.clean import PARSER, Clean
from quern.jobs.documents.html.child import child
from quern.schemas.settings import CleanSettings
from quern.schemas.tables import PAGES
from tests.benchmarks import in_turns, median, median_ratio

Texts = Mapping[str, str]
_TICKS = os.sysconf("SC_CLK_TCK")


def gold_pages(folder: Path) -> dict[str, dict[str, str]]:
    """`articleBody` and `url` of the benchmark's pages, by id."""
    pages: dict[str, dict[str, str]] = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    return pages


def page_body(folder: Path, key: str) -> bytes:
    """The bytes of a page."""
    return gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes())


def page_batch(folder: Path, gold: Mapping[str, Mapping[str, str]]) -> pa.RecordBatch:
    """The pages as `Clean` reads them."""
    schema = pa.schema([PAGES.schema.field(name) for name in Clean.reads])
    common = {"content_type": "text/html", "charset": None}
    rows = [{"url": page["url"], "body": page_body(folder, key)} | common for key, page in gold.items()]
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    """Shingles of four words of `text`; a text of fewer words is one shingle."""
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3)) if words)


def f1_of(gold: Mapping[str, str], texts: Mapping[str, str]) -> float:
    """F1 of `texts` against `gold`, both by key; a text that is missing counts as empty.

    A page without text counts in recall only, one without gold in precision only.
    """
    counts = []
    for key, expected in gold.items():
        wanted, found = _shingles(expected), _shingles(texts.get(key, ""))
        counts.append([(wanted & found).total(), (found - wanted).total(), (wanted - found).total()])
    hits, wrong, missed = np.array(counts, dtype=np.float64).T
    precision, recall = (
        float(np.mean((hits / np.maximum(hits + other, 1.0))[hits + other > 0])) if (hits + other > 0).any() else 0.0
        for other in (wrong, missed)
    )
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def main_text_f1(folder: Path) -> float:
    """F1 of the main text of the benchmark's pages."""
    gold = gold_pages(folder)
    texts = _cleaned(Clean(CleanSettings()), page_batch(folder, gold))
    return f1_of({page["url"]: page["articleBody"] for page in gold.values()}, texts)


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
        `f1_bare`, `f1_fast`: F1 of the main text.
    """
    gold, settings = gold_pages(folder), CleanSettings()
    job, batch = Clean(settings), page_batch(folder, gold)
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
