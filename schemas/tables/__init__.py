"""Every table of the warehouse, declared in a file of its own: `events.py` declares `EVENTS`.

To add a table is to add its file here, the job that makes it, and a line in the build. Keys are stable: the same
content gets the same key on every build and every machine. Times are UTC `timestamp[us]`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.table import VECTOR, Table
from quern.schemas.tables.builds import BUILDS
from quern.schemas.tables.chunks import CHUNKS
from quern.schemas.tables.communities import COMMUNITIES
from quern.schemas.tables.documents import DOCUMENTS
from quern.schemas.tables.edges import EDGES
from quern.schemas.tables.entities import ENTITIES
from quern.schemas.tables.events import EVENTS
from quern.schemas.tables.images import IMAGES
from quern.schemas.tables.nodes import NODES
from quern.schemas.tables.pages import PAGES
from quern.schemas.tables.queries import QUERIES
from quern.schemas.tables.rejects import REJECTS
from quern.schemas.tables.sources import SOURCES
from quern.schemas.tables.timelines import TIMELINES
from quern.schemas.tables.training_pairs import TRAINING_PAIRS
from quern.schemas.tables.triplets import TRIPLETS

__all__ = [
    "BUILDS", "CHUNKS", "COMMUNITIES", "DOCUMENTS", "EDGES", "ENTITIES", "EVENTS", "IMAGES", "NODES", "NO_LOSS",
    "PAGES", "QUERIES", "REJECTS", "SOURCES", "TABLES", "TIMELINES", "TIMESTAMP", "TRAINING_PAIRS", "TRIPLETS",
    "VECTOR", "WARNINGS", "Table", "declared",
]  # fmt: skip


def declared() -> dict[str, Table]:
    """Name to table for every file of this folder, by name."""
    names = sorted(module.name for module in iter_modules(__path__))
    return {name: getattr(import_module(f"{__name__}.{name}"), name.upper()) for name in names}


TABLES: dict[str, Table] = declared()
NO_LOSS: frozenset[str] = frozenset({"duplicate_key"}).union(*(table.no_loss for table in TABLES.values()))
"""Reasons of rejects that lose nothing of the input: second copies, and what is none of a table's rows."""
WARNINGS: frozenset[str] = frozenset().union(*(table.warnings for table in TABLES.values()))
"""Those of them with which a row is kept, without a value."""
