"""Table `entities`: what triplets name."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.expectations import Between, Known
from quern.schemas.contract.table import Table, column, columns, optional

ENTITIES = Table(
    "entities",
    ("entity_id",),
    columns(
        column("entity_id", pa.string(), "Made from the form by which names are compared, and from `apart`."),
        column("name", pa.string(), "Its commonest form; of as common ones the longest."),
        optional("apart", pa.string(), "Words that tell it from others of its name; null where none is needed."),
        optional("kind", pa.string(), "`person` or `thing`, where a page says what it is."),
        column("forms", pa.list_(pa.string()), "Names by which it is called, commonest first."),
        column("documents", pa.list_(pa.string()), "`doc_id` of those that state something of it."),
        column("facts", pa.list_(pa.string()), "`triplet_id` of what is stated of it, the 1,000 oldest first."),
        column("fact_count", pa.int64(), "How many statements there are."),
        column("digest", pa.string(), "Digest of all of it, by which it is taken over from last night."),
    ),
    served=True,
    doc="Someone or something that triplets name, under all forms of its name.",
    indexes=("entity_id",),
    prose=("name", "forms"),
    expects=(Known("name"), Between("fact_count", 1)),
    empty=None,
)
