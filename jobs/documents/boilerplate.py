"""Lines that repeat over a site: menus, banners and credits that main-text extraction let through.

A line is boilerplate where it stands in many documents of a site and in a large share of them. Counting needs the
whole table: each document gives its distinct short lines as (site, line) hashes, written to files parted by hash,
and the common pairs are found part by part.

Memory: 16 bytes a row of one of 64 parts, and about 40 bytes a row of the last million; 8 bytes for each line found,
at most (lines of a document / share) of them a site; about 100 bytes a site.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Computed, Made, View
from quern.jobs.core.run import Run, TableJob
from quern.schemas.settings import NormaliseSettings
from quern.schemas.tables import Table

COLUMN: Final = "repeated"
GIVEN: Final = "doc:"  # Addresses of JSONL documents begin with this.
_READS: Final = ("page_url", "site", "text")
_PARTS: Final = 64
_PENDING: Final = 1 << 20
_ROW: Final = pa.schema([("line", pa.int64()), ("site", pa.int64())])
_LINES: Final = pa.list_(pa.int32())

REPEATED_LINES: Final = Table(
    "repeated_lines",
    ("line",),
    pa.schema(
        [
            pa.field("line", pa.int64(), False, {"doc": "BLAKE2b-64 of site and line; ascending."}),
            pa.field("site", pa.int64(), False, {"doc": "BLAKE2b-64 of the site."}),
        ]
    ),
    served=False,
)

Hashes = npt.NDArray[np.int64]


def _hash(*texts: str) -> int:
    """BLAKE2b-64 of the texts, none of which holds a NUL."""
    return int.from_bytes(
        blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True
    )


def marked_drafts(drafts: Stage, repeated: Stage, settings: NormaliseSettings) -> View:
    """The drafts with one more column, `repeated`: positions of the lines of each text that are boilerplate."""
    rows = pa.Table.from_batches(repeated.batches(), repeated.table.schema)
    sites = frozenset(rows["site"].unique().to_pylist())
    column = Computed(_READS, partial(_positions, rows["line"].to_numpy(), sites, settings))
    return View(drafts, (*drafts.table.schema.names, COLUMN), drafts.rows, {COLUMN: column})


def _positions(common: Hashes, sites: frozenset[int], settings: NormaliseSettings, batch: pa.RecordBatch) -> pa.Array:
    """Positions of the lines of each text whose hashes are among `common`, which ascend; for `sites` that have any."""
    most = settings.repeated_characters
    positions: list[list[int]] = []
    for page, site, text in zip(*(batch.column(c).to_pylist() for c in _READS), strict=True):
        positions.append([])
        if not _counts(page, site) or _hash(site) not in sites:
            continue
        lines = enumerate(text.split("\n"))
        short = [(n, line) for n, line in lines if 0 < len(line) <= most and any(c.isalpha() for c in line)]
        hashes = np.array([_hash(site, line) for _, line in short], dtype=np.int64)
        places = np.minimum(np.searchsorted(common, hashes), len(common) - 1)
        hits = np.flatnonzero(common[places] == hashes).tolist()
        # A site of copies repeats every line; what is most of a text is what the document is about.
        if sum(len(short[i][1]) for i in hits) <= settings.repeated_of_text * len(text):
            positions[-1] = [short[i][0] for i in hits]
    return pa.array(positions, _LINES)


def _counts(page: str, site: str | None) -> bool:
    return site is not None and not page.startswith(GIVEN)


@dataclass(frozen=True)
class RepeatedLines(TableJob):
    """The lines that repeat over a site."""

    settings: NormaliseSettings

    name: ClassVar[str] = "repeated_lines"
    version: ClassVar[int] = 1

    @property
    def tables(self) -> tuple[Table, ...]:
        """`repeated_lines`."""
        return (REPEATED_LINES,)

    def configuration(self) -> Mapping[str, object]:
        """How long a line may be, and in how many documents it must stand."""
        return self.settings.model_dump(include={"repeated_characters", "repeated_documents", "repeated_share"})

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """Find the lines of the drafts."""
        (drafts,) = inputs.values()
        settings, directory = self.settings, run.work / "lines"
        directory.mkdir(parents=True, exist_ok=True)
        documents = _write_lines(drafts, settings, directory)
        least = {
            site: max(settings.repeated_documents, int(np.ceil(settings.repeated_share * count - 1e-9)))
            for site, count in documents.items()
            if count >= settings.repeated_documents
        }
        common: list[tuple[int, int]] = []
        for path in sorted(directory.glob("*.parquet")):
            table = pq.read_table(path)
            lines, first, counts = np.unique(table["line"].to_numpy(), return_index=True, return_counts=True)
            many = counts >= settings.repeated_documents
            sites = table["site"].to_numpy()[first[many]]
            triples = zip(lines[many].tolist(), sites.tolist(), counts[many].tolist(), strict=True)
            common += [(line, site) for line, site, count in triples if count >= least.get(site, count + 1)]
        lines, sites = np.array(sorted(common), dtype=np.int64).reshape(-1, 2).T
        with run.scratch(REPEATED_LINES) as writer:
            writer.write(pa.record_batch([pa.array(lines), pa.array(sites)], schema=REPEATED_LINES.schema))
        return Made((writer.stage(),), counts=None)


def _write_lines(drafts: Stage, settings: NormaliseSettings, directory: Path) -> Counter[int]:
    """Write (line, site) of the distinct short lines of each document, parted by hash; documents per site."""
    documents: Counter[int] = Counter()
    pending: list[Hashes] = []
    waiting, most = 0, settings.repeated_characters
    with ExitStack() as stack:
        writers = [
            stack.enter_context(pq.ParquetWriter(directory / f"{n:02d}.parquet", _ROW, compression="zstd"))
            for n in range(_PARTS)
        ]
        for batch in drafts.batches(_READS):
            pairs: list[tuple[int, int]] = []
            for page, name, text in zip(*(batch.column(c).to_pylist() for c in _READS), strict=True):
                if _counts(page, name):
                    site = _hash(name)
                    documents[site] += 1
                    lines = dict.fromkeys(text.split("\n"))
                    pairs += [(_hash(name, line), site) for line in lines if 0 < len(line) <= most]
            pending.append(np.array(pairs, dtype=np.int64).reshape(-1, 2))
            waiting += len(pairs)
            if waiting >= _PENDING:
                _append(np.concatenate(pending), writers)
                pending, waiting = [], 0
        if pending:
            _append(np.concatenate(pending), writers)
    return documents


def _append(pairs: Hashes, writers: list[pq.ParquetWriter]) -> None:
    parts = pairs[:, 0] & (_PARTS - 1)
    for part in np.unique(parts).tolist():
        line, site = pairs[parts == part].T
        writers[part].write_batch(pa.RecordBatch.from_arrays([pa.array(line), pa.array(site)], schema=_ROW))
