"""Quality of the main text against gold text: the measure of the article extraction benchmark.

Source: github.com/scrapinghub/article-extraction-benchmark. Texts are compared as multisets of 4-word shingles;
precision and recall are averaged over pages, F1 is the harmonic mean of the two averages.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from quern.jobs.documents.clean import Clean
from quern.pipelines.evaluation.bootstrap import SEED, Numbers, statistic_intervals
from quern.schemas.errors import QuernError
from quern.schemas.settings import CleanSettings
from quern.schemas.tables import PAGES

_WORD = re.compile(r"\w+")


class ExtractionError(QuernError):
    """A folder that does not hold the benchmark; the message says what is missing."""


def evaluate_extraction(folder: Path, settings: CleanSettings | None = None) -> dict[str, float]:
    """F1, precision and recall of the main text of the pages in `folder`, with the bounds of F1's 95 % interval.

    `folder` holds `ground-truth.json` (`{id: {articleBody, url}}`) and `html/{id}.html.gz`. A page that the job
    rejects counts as one with no text.

    Raises:
        ExtractionError: The folder does not hold that.
    """
    gold = gold_pages(folder)
    job, keys = Clean(settings or CleanSettings()), list(gold)
    texts: dict[str, str] = {}  # Main text of each page of which the job makes a document.
    for start in range(0, len(keys), 16):
        some = keys[start : start + 16]
        cleaned = job.apply(page_batch(folder, gold, some))
        made = zip(cleaned.parents, cleaned.rows.column("text").to_pylist(), strict=True)
        texts |= {some[int(parent)]: text for parent, text in made}
    counts = np.array(
        [_counts(page["articleBody"], texts.get(key, "")) for key, page in gold.items()], dtype=np.float64
    )
    f1, precision, recall = _averages(counts)
    found = statistic_intervals(lambda at: [_averages(counts[at])[0]], len(counts), 1000, 0.95, SEED)
    low, high = float(found.low[0]), float(found.high[0])
    return {"f1": f1, "precision": precision, "recall": recall, "f1_low": low, "f1_high": high, "pages": len(counts)}


def f1_of(gold: Mapping[str, str], texts: Mapping[str, str]) -> float:
    """F1 of `texts` against `gold`, both by key; a text that is missing counts as empty."""
    counts = [_counts(wanted, texts.get(key, "")) for key, wanted in gold.items()]
    return _averages(np.array(counts, dtype=np.float64))[0]


def gold_pages(folder: Path) -> dict[str, Mapping[str, str]]:
    """`articleBody` and `url` of the benchmark's pages, by id.

    Raises:
        ExtractionError: The folder does not hold them.
    """
    path = folder / "ground-truth.json"
    try:
        gold = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ExtractionError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ExtractionError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(gold, dict) or not gold:
        raise ExtractionError(f"{path} must hold an object of pages by id")
    for key, page in gold.items():
        if not isinstance(page, dict) or not all(isinstance(page.get(k), str) for k in ("articleBody", "url")):
            raise ExtractionError(f"{path}: page {key} must have the strings articleBody and url")
    return gold


def page_body(folder: Path, key: str) -> bytes:
    """The bytes of a page.

    Raises:
        ExtractionError: They cannot be read.
    """
    path = folder / "html" / f"{key}.html.gz"
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ExtractionError(f"{path} cannot be read: {error}") from None


def page_batch(folder: Path, gold: Mapping[str, Mapping[str, str]], keys: list[str]) -> pa.RecordBatch:
    """The named pages as `Clean` reads them."""
    schema = pa.schema([PAGES.schema.field(name) for name in Clean.reads])
    common = {"content_type": "text/html", "charset": None}
    rows = [{"url": gold[key]["url"], "body": page_body(folder, key)} | common for key in keys]
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    """Shingles of four words of `text`; a text of fewer words is one shingle."""
    words = _WORD.findall(text)
    return Counter(tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3)) if words)


def _counts(gold: str, text: str) -> tuple[int, int, int]:
    """Shingles found rightly, found wrongly and missed."""
    wanted, found = _shingles(gold), _shingles(text)
    return (wanted & found).total(), (found - wanted).total(), (wanted - found).total()


def _averages(counts: Numbers) -> tuple[float, float, float]:
    """(F1, precision, recall); a page without text counts in recall only, one without gold in precision only."""
    hits, wrong, missed = counts.T

    def mean(other: Numbers) -> float:
        some = hits + other > 0
        return float(np.mean(hits[some] / (hits + other)[some])) if some.any() else 0.0

    precision, recall = mean(wrong), mean(missed)
    return (2 * precision * recall / (precision + recall) if precision + recall else 0.0), precision, recall
