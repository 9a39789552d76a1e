"""Building, by Python."""

from __future__ import annotations

from pathlib import Path

from quern.indexes.catalog import Manifest, Warehouse
from quern.pipelines.api.given import Changes, Place, settings_of
from quern.pipelines.build import whole


def build(source: str | Path | None, warehouse: Place, settings: Changes = None) -> Manifest:
    """Build an index of the pages at `source`, or of the page store where it is None, and publish it.

    Returns:
        The manifest of the new snapshot: rows and digest of each table, what each job did, what was rejected.

    Raises:
        QuernError: There is nothing to read, another build is writing, or the audit failed; nothing was published.
    """
    opened = warehouse if isinstance(warehouse, Warehouse) else Warehouse.create(Path(warehouse))
    return whole.build(None if source is None else Path(source), opened, settings_of(settings, None))
