"""Table `edges`: what joins the nodes of the query-centric graph."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.expectations import COSINE, Between, Known, OneOf
from quern.schemas.contract.table import Listing, Table, column, columns

EDGES = Table(
    "edges",
    ("source", "kind", "rank"),
    columns(
        column("source", pa.string(), "`query_id` the edge leaves from."),
        column("kind", pa.string(), "`neighbour`: a nearest node (E_intra); `mention`: its text names a title."),
        column("rank", pa.int32(), "0 for the nearest of the kind."),
        column("target", pa.string(), "`query_id` the edge leads to."),
        column(
            "similarity",
            pa.float32(),
            "`neighbour`: cosine of the two nodes' vectors; `mention`: rarity of the title, its idf as a share of "
            "the largest possible, over how many have it, in [0, 1].",
        ),
    ),
    served=True,
    doc="An edge from a node to another: a near neighbour, or a bridge to another document.",
    references={"source": "nodes", "target": "nodes"},
    indexes=("source",),
    expects=(Known("target"), OneOf("kind", ("neighbour", "mention")), Between("rank", 0), COSINE),
    empty=None,
    listings=(
        Listing("neighbours", "source", ("rank", "target", "similarity"), ("kind", "neighbour")),
        Listing("mentions", "source", ("rank", "target", "similarity"), ("kind", "mention")),
        Listing("neighbour_of", "target", ("source", "similarity"), ("kind", "neighbour")),
    ),
)
