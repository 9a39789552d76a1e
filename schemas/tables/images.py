"""Table `images`: the images of documents. No job makes it yet."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.expectations import Between
from quern.schemas.contract.table import Listing, Table, column, optional

IMAGES = Table(
    "images",
    ("image_id",),
    pa.schema(
        [
            column("image_id", pa.string(), "Made from document and URL."),
            column("doc_id", pa.string(), "Document it stands in."),
            column("url", pa.string(), "Absolute address."),
            optional("alt", pa.string(), "Alternative text."),
            optional("caption", pa.string(), "Caption."),
            optional("width", pa.int32(), "Pixels."),
            optional("height", pa.int32(), "Pixels."),
        ]
    ),
    served=True,
    doc="An image beside the main text of a document.",
    row="image",
    references={"doc_id": "documents"},
    expects=(Between("width", 0, severity="warning"), Between("height", 0, severity="warning")),
    empty=None,
    listings=(Listing("images", "doc_id", ("image_id", "url", "alt")),),
)
