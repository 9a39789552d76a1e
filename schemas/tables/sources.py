"""Table `sources`: the sites that documents come from. No job makes it yet."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import Between, Dated
from quern.schemas.contract.table import Table, column, optional

SOURCES = Table(
    "sources",
    ("site",),
    pa.schema(
        [
            column("site", pa.string(), "Host name without `www.`."),
            optional("name", pa.string(), "Name of the site, as it calls itself."),
            column("home_url", pa.string(), "Address of its home page."),
            column("topics", pa.list_(pa.string()), "Topics it writes about."),
            column("documents", pa.int64(), "Documents of the corpus that it published."),
            optional("reachable_at", TIMESTAMP, "When its home page last answered."),
        ]
    ),
    served=True,
    doc="A site that published documents of the corpus.",
    row="source",
    expects=(Between("documents", 1), Dated("reachable_at")),
    empty=None,
)
