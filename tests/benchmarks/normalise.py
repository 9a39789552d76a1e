"""Speed of the job `normalise`, beside datatrove's filters of the same papers.

Documents are cut to 3,000 characters, and every third ends with contact details, so that the slow paths are taken.
The rival does less: GopherRepetitionFilter, GopherQualityFilter and PIIFormatter (e-mail and IP addresses), which
get words split at white space; no other types, noise, widths or numerals, and no Arrow.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Sequence

import pyarrow as pa

from quern.jobs.documents.boilerplate import COLUMN
from quern.jobs.documents.normalise import Normalise
from quern.schemas.digests import text_digest
from quern.schemas.tables import DOCUMENTS
from tests.tables import batch_of

_CHARACTERS = 3000
_CONTACT = (
    "\nWrite to desk{n}@paper.example or call +44 20 7946 0{n:03d}; accounts: GB82 WEST 1234 5698 7654 32. Read more"
)


def benchmark_normalise(texts: Sequence[str], repeats: int = 7) -> dict[str, float]:
    """Documents and characters a second of CPU time on one core, medians over `repeats` rounds.

    Returns:
        `normalise`: the job, documents a second; `datatrove`: the rival; `ratio`: median of each round's rival over
        job; `characters/s` of the job.
    """
    texts = [t[:_CHARACTERS] + (_CONTACT.format(n=n % 1000) if n % 3 == 0 else "") for n, t in enumerate(texts)]
    job, batch, rival = Normalise(), _drafts(texts), _rival()
    works: dict[str, Callable[[], object]] = {
        "normalise": lambda: job.apply(batch),
        "datatrove": lambda: [rival(text) for text in texts],
    }
    job.apply(batch.slice(0, 3))
    rounds = [{name: _seconds(work) for name, work in works.items()} for _ in range(repeats)]
    figures = {name: len(texts) / statistics.median(r[name] for r in rounds) for name in works}
    characters = sum(map(len, texts))
    return {
        "documents": float(len(texts)),
        "characters": float(characters),
        **figures,
        "characters/s": figures["normalise"] * characters / len(texts),
        "ratio": statistics.median(r["datatrove"] / r["normalise"] for r in rounds),
    }


def _rival() -> Callable[[str], object]:
    from datatrove.data import Document
    from datatrove.pipeline.filters import GopherQualityFilter, GopherRepetitionFilter
    from datatrove.pipeline.formatters import PIIFormatter
    from datatrove.utils.word_tokenizers import WordTokenizer

    class Words(WordTokenizer):  # type: ignore[misc]
        """Splits at white space, the cheapest there can be."""

        def word_tokenize(self, text: str) -> list[str]:
            return text.split()

        def sent_tokenize(self, text: str) -> list[str]:
            return text.splitlines()

        def span_tokenize(self, text: str) -> list[tuple[int, int]]:
            return [found.span() for found in re.finditer(r"\S+", text)]

    words = Words()
    filters = [GopherRepetitionFilter(language=words), GopherQualityFilter(language=words)]
    formatter = PIIFormatter()

    def rival(text: str) -> object:
        document = Document(text=formatter.format(text), id="")
        return [rule.filter(document) for rule in filters]

    return rival


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _drafts(texts: Sequence[str]) -> pa.RecordBatch:
    """English drafts with these texts and nothing else."""
    rows = [
        {"doc_id": str(n), "page_url": f"https://paper.example/{n}", "language": "en"}
        | {"text": text, "digest": text_digest(text)}
        for n, text in enumerate(texts)
    ]
    return batch_of(DOCUMENTS, rows).append_column(COLUMN, pa.array([[]] * len(rows), pa.list_(pa.int32())))
