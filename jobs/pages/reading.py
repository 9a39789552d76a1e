"""Reading many files into parts of a page store: spread over this machine's cores, or Spark tasks.

A task reads spans of files itself and writes a part itself, so that no page passes through the Java heap or the
driver; what comes back is a part's name.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version as installed
from itertools import pairwise
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.page_store import REJECTED, SIGHTINGS, Claim, Part, PartWriter, finished_parts, read_part
from quern.jobs.core.progress import watched
from quern.jobs.core.work import EnginePool
from quern.jobs.pages.formats.rows import FileReject, Found
from quern.jobs.pages.ingest import Reading, Span, batched
from quern.jobs.pages.inputs import ADDRESSED, FILES, HTML, WARC, Input
from quern.schemas.contract.validate import validate
from quern.schemas.digests import settings_digest
from quern.schemas.settings import IngestSettings
from quern.schemas.tables import PAGES

log = logging.getLogger(__name__)

VERSION: Final = 10
# Libraries that have a say in the fields of documents, by names of months and by encodings of tables and texts. Pages
# of HTML and of archives are stored as they are, and read by `clean`.
_LIBRARIES: Final = ("charset-normalizer", "dateparser")
_MOST_FILES: Final = 4096
_ROWS: Final = 4096

Task = tuple[Span, ...]


def version_of(file: Input, settings: IngestSettings) -> str:
    """What tells this content of a file, read with these settings, from another; empty for one to try again."""
    if not file.version:
        return ""
    results = settings.results()
    path = "" if file.kind in ADDRESSED else file.path
    read_by = [] if file.kind in HTML + FILES + WARC else [libraries()]
    return f"{file.version}-{settings_digest([VERSION, results, file.kind, path, *read_by])[:8]}"


@cache
def libraries() -> Mapping[str, str]:
    """The versions of the libraries that have a say in what is read of a file."""
    return {name: installed(name) for name in _LIBRARIES}


def tasks_of(spans: Sequence[Span], size: int) -> list[Task]:
    """`spans` in their order as tasks of about `size` bytes."""
    tasks: list[list[Span]] = []
    room = 0
    for span in spans:
        length = span.end - span.start
        if not tasks or length > room or len(tasks[-1]) == _MOST_FILES:
            tasks.append([])
            room = size
        tasks[-1].append(span)
        room -= length
    return [tuple(task) for task in tasks]


def read_task(task: Task, settings: IngestSettings, directory: Path) -> Part:
    """Read the spans of `task` into a part in `directory`."""
    claims: list[Claim] = []
    small: dict[str, list[Mapping[str, object]]] = {"rejects": [], "sightings": []}

    def flush() -> None:
        for name, schema in (("rejects", REJECTED), ("sightings", SIGHTINGS)):
            writer.write(name, pa.RecordBatch.from_pylist(small[name], schema=schema))
            small[name].clear()

    def read() -> Iterator[Found]:
        """What the spans hold, one after the other; of each that was read there is a claim."""
        for span in task:
            reading = Reading(span, settings)
            pages = rejects = 0
            for item in reading:
                pages += isinstance(item, dict)
                rejects += isinstance(item, FileReject)
                yield item
            version = version_of(span.file, settings) if reading.readable else ""
            claim = Claim(span.file.name, version, span.start, span.end, reading.began, reading.ended, pages, rejects)
            claims.append(replace(claim, records=reading.records, source=span.file.source))

    with PartWriter(directory) as writer:
        for item in batched(read()):
            if isinstance(item, pa.RecordBatch):
                writer.write("pages", validate(item, PAGES))
            elif isinstance(item, FileReject):
                row = {"source_file": item.file, "key": item.key, "reason": item.reason, "detail": item.detail}
                small["rejects"].append(row)
            else:
                seen = {"url": item.url, "fetched_at": item.fetched_at, "gone": item.gone}
                small["sightings"].append({"source_file": item.file, **seen})
            if sum(map(len, small.values())) >= _ROWS:
                flush()
        flush()
        return writer.finish(claims)


def _read_numbered(settings: IngestSettings, directory: Path, numbered: tuple[int, Task]) -> tuple[int, str]:
    """Read a task in a worker: its number, and the name of its part."""
    number, task = numbered
    return number, read_task(task, settings, directory).name


def reasons_of(parts: Sequence[Part]) -> Counter[str]:
    """How many rejects of `parts` have each reason."""
    batches = (batch for part in parts for batch in part.batches("rejects", ["reason"]))
    return sum((Counter(batch.column(0).to_pylist()) for batch in batches), Counter[str]())


def typical_reject(parts: Sequence[Part], *, warning: bool = False) -> str:
    """Where and why something was left out, the first for the most frequent reason; empty where nothing was lost.

    Args:
        parts: What was read.
        warning: Of what was kept instead, without a value.
    """
    reasons = reasons_of(parts)
    counts = {r: n for r, n in reasons.items() if (r in PAGES.warnings if warning else r not in PAGES.no_loss)}
    if not counts:
        return ""
    # A column that is not there comes first: it is lost of every row.
    reason = max(counts, key=lambda reason: (reason == "missing_column", counts[reason]))
    batches = (batch for part in parts for batch in part.batches("rejects", ["key", "reason", "detail"]))
    rows = (batch.filter(pc.equal(batch.column("reason"), reason)) for batch in batches)
    row = next(batch.to_pylist()[0] for batch in rows if batch.num_rows)
    return f"{row['key']}: {row['reason']} ({row['detail']})"


def count_warnings(rejects: pa.RecordBatch) -> int:
    """How many of `rejects` tell of rows that were kept."""
    is_warning = pc.is_in(rejects.column("reason"), pa.array(sorted(PAGES.warnings), pa.string()))
    return int(pc.sum(is_warning).as_py() or 0)


def broken_seams(parts: Sequence[Part]) -> list[str]:
    """Files of which a range did not begin where the range before it ended.

    A range that begins inside a record looks for the next one. What it finds may be part of that record: an archived
    archive. The range before knows, because it read that record from its beginning. Such a file is read again whole.
    """
    claims = sorted((c for part in parts for c in part.live), key=lambda c: (c.file, c.start))
    return sorted({b.file for a, b in pairwise(claims) if a.file == b.file and a.end == b.start and a.ended != b.began})


def read_spans(
    spans: Sequence[Span], settings: IngestSettings, directory: Path, engines: EnginePool
) -> tuple[list[Part], str]:
    """The parts that hold `spans`, in their order, and the engine that read them.

    Raises:
        EngineError: Spark could not finish, or a worker died; finished parts stay.
        OSError: A fault of the machine; the same.
    """
    tasks = tasks_of(spans, settings.task_bytes)
    if not tasks:
        return [], "none"
    workers, before = engines.spark() or engines.local(), finished_parts(directory)
    with watched("ingest", len(tasks), lambda: finished_parts(directory) - before):
        names = dict(workers.each(partial(_read_numbered, settings, directory), list(enumerate(tasks))))
    return [read_part(directory, names[number]) for number in range(len(tasks))], workers.name


def mended(parts: Sequence[Part], inputs: Sequence[Input], settings: IngestSettings, directory: Path) -> list[Part]:
    """`parts`, and those files whole in a part of their own whose ranges do not fit together."""
    torn = set(broken_seams(parts))
    if not torn:
        return list(parts)
    log.info("job=ingest files=%d are read again whole, because their ranges do not fit together", len(torn))
    whole = [(Span(file, 0, max(file.size, 1)),) for file in inputs if file.name in torn]
    remaining = [replace(part, dropped=part.dropped | torn) for part in parts]
    return [part for part in remaining if part.live] + [read_task(task, settings, directory) for task in whole]
