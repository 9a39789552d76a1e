"""Speed of the job `normalise`.

Documents are cut to 3,000 characters, and every third ends with contact details, so that the slow paths are taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from quern.jobs.documents.boilerplate import COLUMN
from quern.jobs.documents.normalise import Normalise
from quern.schemas.digests import text_digest
from quern.schemas.tables import DOCUMENTS
from tests.benchmarks import in_turns, median
from tests.tables import batch_of

_CHARACTERS = 3000
_CONTACT = (
    "\nWrite to desk{n}@paper.example or call +44 20 7946 0{n:03d}; accounts: GB82 WEST 1234 5698 7654 32. Read more"
)


def benchmark_normalise(texts: Sequence[str], repeats: int = 7) -> dict[str, float]:
    """Documents and characters a second of CPU time on one core, medians over `repeats` rounds."""
    texts = [t[:_CHARACTERS] + (_CONTACT.format(n=n % 1000) if n % 3 == 0 else "") for n, t in enumerate(texts)]
    rows = [
        {"doc_id": str(n), "page_url": f"https://paper.example/{n}", "language": "en"}
        | {"text": text, "digest": text_digest(text)}
        for n, text in enumerate(texts)
    ]
    job, none = Normalise(), pa.array([[]] * len(rows), pa.list_(pa.int32()))
    batch = batch_of(DOCUMENTS, rows).append_column(COLUMN, none)
    job.apply(batch.slice(0, 3))
    seconds = median(in_turns({"normalise": lambda: job.apply(batch)}, repeats), "normalise")
    characters = sum(map(len, texts))
    return {
        "documents": float(len(texts)),
        "characters": float(characters),
        "normalise": len(texts) / seconds,
        "characters/s": characters / seconds,
    }
