"""The benchmark of cleaning: F1 of the main text.

F1 is that of github.com/scrapinghub/article-extraction-benchmark: texts are compared as multisets of 4-word shingles,
precision and recall are averaged over pages, F1 is the harmonic mean of the two averages.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from quern.jobs.documents.clean import Clean
from quern.schemas.settings import CleanSettings
from quern.schemas.tables import PAGES


def gold_pages(folder: Path) -> dict[str, dict[str, str]]:
    """`articleBody` and `url` of the benchmark's pages, by id."""
    pages: dict[str, dict[str, str]] = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    return pages


def page_body(folder: Path, key: str) -> bytes:
    """The bytes of a page."""
    return gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes())


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
    """F1 of the main text of the benchmark's pages, from the whole job: child process, limits, metadata, Arrow."""
    gold = gold_pages(folder)
    schema = pa.schema([PAGES.schema.field(name) for name in Clean.reads])
    common = {"content_type": "text/html", "charset": None}
    rows = [{"url": page["url"], "body": page_body(folder, key)} | common for key, page in gold.items()]
    made = Clean(CleanSettings()).apply(pa.RecordBatch.from_pylist(rows, schema=schema))
    texts = zip(made.parents, made.rows.column("text").to_pylist(), strict=True)
    wanted = {page["url"]: page["articleBody"] for page in gold.values()}
    return f1_of(wanted, {rows[int(parent)]["url"]: text for parent, text in texts})
