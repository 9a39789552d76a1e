"""Table `edges`: what joins the nodes of the query-centric graph."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.expectations import COSINE, Between, Known, OneOf
from quern.schemas.contract.table import Listing, Table, column

EDGES = Table(
    "edges",
    ("source", "kind", "rank"),
    pa.schema(
        [
            column("source", pa.string(), "`query_id` the edge leaves from."),
            column(
                "kind",
                pa.string(),
                "`neighbour`: one of the k nearest nodes (E_intra); `answer_question`: its answer is near the target's "
                "question; `mention`: its text names the title of the target's document; `shared_name`: both name one "
                "entity; `relation`: an entity is the object of a triplet here and the subject of one there.",
            ),
            column("rank", pa.int32(), "0 for the nearest of the kind."),
            column("target", pa.string(), "`query_id` the edge leads to."),
            column(
                "similarity",
                pa.float32(),
                "`neighbour`: cosine of the two nodes' vectors; `answer_question`: of answer and question; `mention`: "
                "rarity of the title, its idf as a share of the largest possible, over how many have it, in [0, 1]; "
                "`shared_name`, `relation`: log 2 / log of how many documents name the entity.",
            ),
        ]
    ),
    served=True,
    doc="An edge from a node to another: a near neighbour, or a bridge to another document.",
    references={"source": "nodes", "target": "nodes"},
    indexes=("source",),
    expects=(
        Known("target"),
        OneOf("kind", ("neighbour", "answer_question", "mention", "shared_name", "relation")),
        Between("rank", 0),
        COSINE,
    ),
    empty=None,
    listings=(
        Listing("neighbours", "source", ("rank", "target", "similarity"), ("kind", "neighbour")),
        Listing("mentions", "source", ("rank", "target", "similarity"), ("kind", "mention")),
        Listing("shared_names", "source", ("rank", "target", "similarity"), ("kind", "shared_name")),
        Listing("relations", "source", ("rank", "target", "similarity"), ("kind", "relation")),
        Listing("neighbour_of", "target", ("source", "similarity"), ("kind", "neighbour")),
    ),
)
