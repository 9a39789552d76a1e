"""Table `sources`: the sites that documents come from."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import Between, Dated
from quern.schemas.contract.table import Table, column, columns, optional

SOURCES = Table(
    "sources",
    ("site",),
    columns(
        column("site", pa.string(), "Host name without `www.`, or as given: `documents.site`."),
        optional("name", pa.string(), "Name of the site, as most of its documents call it."),
        optional("home_url", pa.string(), "Address of its home page; null where its documents have no address."),
        column("topics", pa.list_(pa.string()), "What it writes about: names of its events, words of its titles."),
        column("documents", pa.int64(), "Documents of the corpus that it published."),
        column("evidence", pa.int64(), "Synthetic queries, of those kept, that its documents are the evidence of."),
        optional("reachable_at", TIMESTAMP, "When a page of it last answered a crawl."),
        column("digest", pa.string(), "BLAKE2b-128 of all that the row is made of: what changed shows here."),
    ),
    served=True,
    doc="A site that published documents of the corpus.",
    row="source",
    indexes=("site",),
    prose=("name", "topics"),
    expects=(Between("documents", 1), Between("evidence", 0), Dated("reachable_at")),
    empty=None,
)
