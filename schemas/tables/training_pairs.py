"""Table `training_pairs`: questions with texts that answer them or do not, which a reranker is trained on."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.expectations import Between, Known, OneOf
from quern.schemas.contract.table import Table, column, columns, optional

POSITIVE, NEGATIVE = "positive", "negative"
SOURCES = ("labelled", "queries", "fusion", "document", "graph")

TRAINING_PAIRS = Table(
    "training_pairs",
    ("pair_id",),
    columns(
        column("pair_id", pa.string(), "Digest of the normalised question and text."),
        column("question", pa.string(), "The question."),
        column("text", pa.string(), "Title and text of a chunk, or a passage of a labelled set."),
        column("label", pa.string(), "`positive` where the text answers the question, else `negative`."),
        optional("votes", pa.int32(), "Judges that say the text does not answer; null where a label says so."),
        column("source", pa.string(), f"Where the pair is from: {', '.join(f'`{s}`' for s in SOURCES)}."),
        column("origin", pa.string(), "The chunk of the text, or the file of a labelled pair."),
    ),
    pinned=False,
    doc="A question with a text that answers it or does not. `quern train reranker` writes it into its result folder.",
    expects=(
        Known("question"),
        Known("text"),
        OneOf("label", (POSITIVE, NEGATIVE)),
        OneOf("source", SOURCES),
        Between("votes", 1),
    ),
)
