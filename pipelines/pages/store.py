"""The page store of a warehouse; who reads a build's pages needs nothing of what reads files."""

from __future__ import annotations

from typing import Final

from quern.indexes.catalog import Warehouse
from quern.indexes.page_store import PageStore

PAGE_STORE: Final = "page store"


def page_store(warehouse: Warehouse) -> PageStore:
    """The page store of `warehouse`."""
    return PageStore(warehouse.root / "pages")
