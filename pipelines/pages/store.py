"""The page store of a warehouse, and the reports of its crawls.

A crawl that ended leaves a report, and the pages that were lost in a file whose checksum the report names. A damaged
file is logged and skipped: no build ends for it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.catalog import Warehouse, WarehouseFolder
from quern.indexes.checksums import VERIFIED, DamagedError, read_sealed
from quern.indexes.page_store import PageStore

PAGE_STORE: Final = "page store"
MEND: Final = "nothing makes it again: delete it, and the next crawl tells what it lost itself"
ROWS: Final = 1024
_REJECTS: Final = ".rejects.parquet"

log = logging.getLogger(__name__)


def page_store(warehouse: Warehouse) -> PageStore:
    """The page store of `warehouse`."""
    return PageStore(warehouse.root / "pages")


@dataclass(frozen=True)
class CrawlFiles:
    """The files that tell of one crawl."""

    folder: Path  # Where they are.
    crawl_id: str  # Name of the crawl.

    @property
    def report(self) -> Path:
        """The report, sealed."""
        return self.folder / f"{self.crawl_id}.json"

    @property
    def rejects(self) -> Path:
        """What was lost: rows of `rejects`, the address as key."""
        return self.folder / f"{self.crawl_id}{_REJECTS}"

    def expected(self) -> str:
        """The checksum of what was lost.

        Raises:
            DamagedError: The report is damaged.
        """
        return str(read_sealed(self.report, MEND)["rejects_checksum"])

    def check(self) -> None:
        """Read what was lost whole, unless this process did.

        Raises:
            DamagedError: It is not as it was written, or the report is not, which says how that was.
        """
        if why := VERIFIED.damage(self.rejects, self.expected()):
            raise DamagedError(self.rejects, why, MEND)


def crawl_files(warehouse: WarehouseFolder) -> list[CrawlFiles]:
    """The files of all crawls of a warehouse that are over, the latest first."""
    folder = warehouse.root / "crawl" / "reports"
    names = sorted((path.stem for path in folder.glob("[!.]*.json")), reverse=True)
    return [CrawlFiles(folder, name) for name in names]


def lost_pages(warehouse: WarehouseFolder) -> Iterator[pa.RecordBatch]:
    """Rows of `REJECTS`: what the crawls of a warehouse lost; of an address what the latest crawl tells.

    An address may have been fetched by another crawl: then it is in the page store too. Memory: 100 bytes a row.
    """
    seen: set[bytes] = set()
    for files in crawl_files(warehouse):
        try:
            files.check()
        except DamagedError as error:
            log.warning("what crawl %s lost is left aside: %s", files.crawl_id, error)
            continue
        addresses: set[bytes] = set()  # An address may have several reasons in one crawl.
        with pq.ParquetFile(files.rejects) as file:
            for batch in file.iter_batches(ROWS):
                keys = [hashlib.blake2b(key.encode(), digest_size=16).digest() for key in batch["key"].to_pylist()]
                yield batch.filter(pa.array([key not in seen for key in keys], pa.bool_()))
                addresses.update(keys)
        seen |= addresses
