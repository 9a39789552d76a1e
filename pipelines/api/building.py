"""Building, by Python."""

from __future__ import annotations

from pathlib import Path

from quern.indexes.catalog import Manifest, Warehouse
from quern.pipelines.api.given import Changes, Place, settings_of
from quern.pipelines.build import whole
from quern.schemas.addresses import local_path, page_source


def build(source: str | Path | None, warehouse: Place, settings: Changes = None) -> Manifest:
    """Build an index of the pages at `source` (a path or an s3:// address; None for the page store), and publish it.

    Returns:
        The manifest of the new snapshot: rows and digest of each table, what each job did, what was rejected.

    Raises:
        QuernError: There is nothing to read, another build is writing, or the audit failed; nothing was published.
    """
    opened = warehouse if isinstance(warehouse, Warehouse) else Warehouse.create(local_path(warehouse))
    return whole.build(None if source is None else page_source(source), opened, settings_of(settings, None))
