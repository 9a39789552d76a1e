"""Fuzzing of the cleaner and the archive reader: `python -m tests.fuzz.run --inputs 20000`.

Every input must give rows or rejects within its limits of time and memory, and no exception. Half of the inputs are
variants of pages, half of WARC files (`tests.fuzz.mutations`); seeds are the pages of the mini-web and, where
they are there, those of the shared datasets. A number names an input, so `--only NUMBER` repeats one.
"""

from __future__ import annotations

import argparse
import gzip
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa

from quern.jobs.core.progress import MemoryMeter
from quern.jobs.documents.clean import Clean
from quern.jobs.pages.formats.rows import FileReject
from quern.schemas.contract.validate import validate
from quern.schemas.settings import CleanSettings, IngestSettings
from quern.schemas.tables import PAGES
from tests.beside import CORPUS, SHARED
from tests.fuzz.mutations import ARCHIVE, PAGE, mutated
from tests.jobs.pages.archived import http, read_pages, warc

SECONDS_PER_PAGE = 2.0
MEMORY_PER_PAGE = 1024  # MiB
SECONDS_PER_ARCHIVE = 10.0
_SLACK = 15.0  # A lost child is started anew, which takes seconds where a machine does other work too.
_TASK = 50
_MOST_MEMORY = 4 << 30  # Of all processes: two readers, and two children with an allowance of 1 GiB each.


class FoundError(AssertionError):
    """An input that broke a law; the message names it."""


@cache
def page_seeds() -> tuple[bytes, ...]:
    """Pages to vary."""
    found = [p.read_bytes() for p in sorted((CORPUS / "pages").rglob("*.html"))]
    real = sorted((SHARED / "article_extraction_benchmark" / "html").glob("*.html.gz"))
    found += [gzip.decompress(p.read_bytes()) for p in real]
    return tuple(body for body in found if body and len(body) < 1 << 20)


@cache
def archive_seeds() -> tuple[bytes, ...]:
    """WARC files to vary, as they are and decompressed."""
    found = [warc_of(page_seeds()[i : i + 5]) for i in range(0, 40, 5)]
    for path in sorted((SHARED / "warc_samples").rglob("*.warc*")):
        raw = path.read_bytes()
        if len(raw) < 1 << 20:
            found.append(raw)
        if path.suffix == ".gz" and "bad" not in path.name and "clipped" not in path.name:
            found.append(gzip.decompress(raw))
    return tuple(found)


def warc_of(pages: Sequence[bytes]) -> bytes:
    """A WARC file with a response record per page."""
    day, known = "2024-05-01T00:00:00Z", enumerate(pages)
    responses = ((f"https://site.example/{n}", http(body, f"Content-Length: {len(body)}"), day) for n, body in known)
    return b"".join(warc(*responses))


def try_page(number: int) -> str:
    """What became of page `number`: `document` or the reason of its reject."""
    named, body = mutated(number, page_seeds(), PAGE)
    job = Clean(CleanSettings(seconds_per_page=SECONDS_PER_PAGE, memory_per_page=MEMORY_PER_PAGE))
    schema = pa.schema([PAGES.schema.field(name) for name in job.reads])
    row = {"url": f"https://site.example/{number}", "content_type": "text/html", "charset": None, "body": body}
    started = time.monotonic()
    found = job.apply(pa.RecordBatch.from_pylist([row], schema=schema))
    seconds = time.monotonic() - started
    rows = validate(found.rows, job.makes)
    outcome = "document" if rows.num_rows else found.rejects[0].reason if found.rejects else ""
    if rows.num_rows + len(found.rejects) != 1 or not outcome:
        raise FoundError(f"page {number} ({named}): {rows.num_rows} rows and {len(found.rejects)} rejects")
    if seconds > SECONDS_PER_PAGE + _SLACK:
        raise FoundError(f"page {number} ({named}): {seconds:.1f} s")
    return outcome


def try_archive(number: int) -> str:
    """What became of archive `number`: `pages`, `rejects`, `both` or `nothing`."""
    named, body = mutated(number, archive_seeds(), ARCHIVE)
    ending = random.Random(number).choice((".warc", ".warc.gz"))
    pages = rejects = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"variant{ending}")
        path.write_bytes(body)
        started = time.monotonic()
        for found in read_pages(path, IngestSettings(max_page_bytes=1 << 20)):
            if isinstance(found, FileReject):
                rejects += 1
            else:
                pages += validate(found, PAGES).num_rows
        seconds = time.monotonic() - started
    if seconds > SECONDS_PER_ARCHIVE + _SLACK:
        raise FoundError(f"archive {number} ({named}): {seconds:.1f} s")
    return {(0, 0): "nothing", (1, 0): "pages", (0, 1): "rejects", (1, 1): "both"}[bool(pages), bool(rejects)]


def _try(kind: str, number: int) -> str:
    try:
        return f"{kind}: {try_page(number) if kind == 'page' else try_archive(number)}"
    except FoundError as error:
        return f"FAILED {error}"
    except Exception as error:  # noqa: BLE001 - that an input raises is what is looked for
        return f"FAILED {kind} {number} raised {type(error).__name__}: {error}"


def fuzz(inputs: int, first: int = 0, processes: int = 2) -> Counter[str]:
    """Outcomes of `inputs` variants, half of them pages, counted; those that begin with FAILED broke a law."""
    outcomes: Counter[str] = Counter()
    quiet = partial(logging.disable, logging.CRITICAL)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=quiet) as pool:
        kinds, numbers = ("page", "archive") * (inputs // 2), (first + n // 2 for n in range(inputs // 2 * 2))
        for outcome in pool.map(_try, kinds, numbers, chunksize=_TASK):
            outcomes[outcome] += 1
            sys.stderr.write(f"\r{outcomes.total()} of {inputs}")
    sys.stderr.write("\n")
    return outcomes


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the variants and print what became of them; exit code 1 if one broke a law."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first variant")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", help="one variant, for example page:17 or archive:4")
    options = parser.parse_args(arguments)
    if options.only:
        kind, _, number = options.only.partition(":")
        print(try_page(int(number)) if kind == "page" else try_archive(int(number)))
        return
    with MemoryMeter() as meter:
        outcomes = fuzz(options.inputs, options.first, options.processes)
    for outcome, count in sorted(outcomes.items(), key=lambda found: (not found[0].startswith("FAILED"), found[0])):
        print(f"{count:7} {outcome}")
    print(f"peak memory {meter.peak_bytes >> 20} MiB over all processes")
    sys.exit(meter.peak_bytes > _MOST_MEMORY or any(outcome.startswith("FAILED") for outcome in outcomes))


if __name__ == "__main__":
    main()
