"""Benchmarks of ingestion: WARC files to documents, and the memory of a large file.

The files are made of the pages of the article extraction benchmark, repeated with variation: each repetition has a
paragraph of its own, so that no result can be reused.
"""

from __future__ import annotations

import gzip
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path

from quern.indexes.catalog import Warehouse
from quern.jobs.core.progress import MemoryMeter
from quern.jobs.core.run import derive
from quern.jobs.documents.clean import Clean
from quern.jobs.text.charsets import decode_page
from quern.pipelines.pages.ingest import add_pages
from quern.pipelines.pages.store import page_store
from quern.schemas.settings.reading import load_settings
from tests.benchmarks import Figures, job_run
from tests.benchmarks.extraction import gold_pages, page_body
from tests.conftest import read_pages
from tests.jobs.pages.archived import http, warc

_FILES = 4
_PATIENT = "clean.seconds_per_page=20"


def page_texts(datasets: Path) -> list[str]:
    """The pages of the article extraction benchmark as text."""
    folder = datasets / "article_extraction_benchmark"
    return [decode_page(page_body(folder, key), None) for key in gold_pages(folder)]


def varied(texts: Sequence[str], count: int) -> Iterator[bytes]:
    """`count` pages: `texts` over and over, each time with a paragraph that no other page has."""
    for number, text in enumerate(islice(cycle(texts), count)):
        head, body, rest = text.partition("</body>")
        yield f"{head}<p>This is copy {number} of a page, made to be read once more.</p>{body}{rest}".encode()


def warc_record(number: int, body: bytes) -> bytes:
    """A WARC response of `body`."""
    return warc((f"https://site{number % 97}.example/{number}", http(body), "2024-05-06T07:08:09Z"))[0]


def write_archives(folder: Path, texts: Sequence[str], pages: int) -> None:
    """`pages` pages in .warc.gz files of about one size."""
    folder.mkdir()
    with ExitStack() as opened:
        files = [opened.enter_context((folder / f"{n}.warc.gz").open("wb")) for n in range(_FILES)]
        for number, body in enumerate(varied(texts, pages)):
            files[number % _FILES].write(gzip.compress(warc_record(number, body), 6))


def benchmark_ingest(datasets: Path, pages: int = 6516, repeats: int = 3) -> Figures:
    """Pages a second from WARC files to documents on all cores, Spark's start included, the median of `repeats`."""
    logging.disable(logging.INFO)
    settings, rates = load_settings(None, [_PATIENT]), []
    with tempfile.TemporaryDirectory() as name:
        archives = Path(name, "archives")
        write_archives(archives, page_texts(datasets), pages)
        for number in range(repeats):
            started = time.monotonic()
            with job_run(Path(name, f"quern-{number}"), settings.engine) as run:
                documents = derive(Clean(settings.clean), read_pages(archives, settings.ingest, run), run)
                rates.append(pages / (time.monotonic() - started))
    return {"pages": float(pages), "quern": statistics.median(rates), "documents": float(documents.rows)}


def benchmark_memory(datasets: Path, size: int = 2_000_000_000) -> Figures:
    """Peak memory of all processes while a WARC file of `size` bytes is ingested and made into documents, in MiB."""
    logging.disable(logging.INFO)
    settings = load_settings(None, [_PATIENT])
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        with (root / "large.warc").open("wb") as file:  # Not compressed.
            for number, body in enumerate(varied(page_texts(datasets), sys.maxsize)):
                file.write(warc_record(number, body))
                if file.tell() >= size:
                    break
        warehouse = Warehouse.create(root / "warehouse")
        started = time.monotonic()
        with MemoryMeter() as meter, job_run(root / "run", settings.engine) as run:
            report = add_pages(warehouse, [root / "large.warc"], settings)
            documents = derive(Clean(settings.clean), read_pages(page_store(warehouse), settings.ingest, run), run)
        seconds = time.monotonic() - started
    return {
        "gigabytes": size / 1e9,
        "pages": float(number + 1),
        "pages_read": float(report.pages),
        "documents": float(documents.rows),
        "seconds": seconds,
        "peak_mib": meter.peak_bytes / (1 << 20),
    }
