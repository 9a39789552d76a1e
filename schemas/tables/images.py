"""Table `images`: what stands beside the text of documents."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.expectations import Between, Known, OneOf
from quern.schemas.contract.table import Listing, Table, column, columns, optional

OUT_BY = ("small", "drawing", "tracker", "icon", "teaser", "repeated")

IMAGES = Table(
    "images",
    ("image_id",),
    columns(
        column("image_id", pa.string(), "Made from document and URL."),
        column("doc_id", pa.string(), "Document it stands in."),
        column("url", pa.string(), "Absolute address."),
        optional("alt", pa.string(), "Alternative text."),
        optional("caption", pa.string(), "Caption."),
        optional("width", pa.int32(), "Pixels, as far as the page or the address tells."),
        optional("height", pa.int32(), "Pixels, as far as the page or the address tells."),
        optional("heading", pa.string(), "Heading that it stands under."),
        column("place", pa.int32(), "Its place among the images of the document, from 1."),
        optional("start", pa.int32(), "First character in `documents.text` of the paragraph that it stands by."),
        optional("end", pa.int32(), "One past the last; the paragraph before it, else the one after."),
        optional("out_by", pa.string(), "Rule against it: `small`, `drawing`, `tracker`, `icon`, `teaser`..."),
        column("digest", pa.string(), "BLAKE2b-128 of what the images of its document depend on."),
    ),
    served=True,
    doc="An image beside the main text of a document, and whether it may stand beside an answer.",
    row="image",
    references={"doc_id": "documents"},
    indexes=("doc_id",),
    prose=("alt", "caption", "heading"),
    expects=(
        Between("width", 0, severity="warning"),
        Between("height", 0, severity="warning"),
        Between("place", 1),
        Between("start", 0),
        Known("url"),
        OneOf("out_by", OUT_BY),
    ),
    empty=None,
    listings=(Listing("images", "doc_id", ("image_id", "url", "alt")),),
)
