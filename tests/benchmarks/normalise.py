"""Speed of the job `normalise` against datatrove's filters of the same papers.

Documents are cut to 3,000 characters, and every third ends with contact details, so that the slow paths are taken.
datatrove does less: GopherRepetitionFilter, GopherQualityFilter and PIIFormatter (e-mail and IP addresses) on words
split at white space; no other types, noise, widths or numerals, and no Arrow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa

from quern.jobs.documents.boilerplate import COLUMN
from quern.jobs.documents.normalise import Normalise
from quern.schemas.digests import text_digest
from quern.schemas.tables import DOCUMENTS
from tests.benchmarks import in_turns, is_installed, median, median_ratio
from tests.tables import batch_of

_CHARACTERS = 3000
_CONTACT = (
    "\nWrite to desk{n}@paper.example or call +44 20 7946 0{n:03d}; accounts: GB82 WEST 1234 5698 7654 32. Read more"
)


def benchmark_normalise(texts: Sequence[str], repeats: int = 7) -> dict[str, float]:
    """Documents and characters a second of CPU time on one core, medians over `repeats` rounds.

    Returns:
        `normalise`, `datatrove`: documents a second of each; `ratio`: median of each round's datatrove over normalise.
    """
    texts = [t[:_CHARACTERS] + (_CONTACT.format(n=n % 1000) if n % 3 == 0 else "") for n, t in enumerate(texts)]
    rows = [
        {"doc_id": str(n), "page_url": f"https://paper.example/{n}", "language": "en"}
        | {"text": text, "digest": text_digest(text)}
        for n, text in enumerate(texts)
    ]
    job, none = Normalise(), pa.array([[]] * len(rows), pa.list_(pa.int32()))
    batch = batch_of(DOCUMENTS, rows).append_column(COLUMN, none)
    job.apply(batch.slice(0, 3))
    works: dict[str, Callable[[], object]] = {"normalise": lambda: job.apply(batch)}
    if is_installed("datatrove", "datatrove"):
        peer = _peer()
        works["datatrove"] = lambda: [peer(text) for text in texts]
    rounds, characters = in_turns(works, repeats), sum(map(len, texts))
    figures = {name: len(texts) / median(rounds, name) for name in works}
    figures["characters/s"] = figures["normalise"] * characters / len(texts)
    if "datatrove" in works:
        figures["ratio"] = median_ratio(rounds, "datatrove", "normalise")
    return {"documents": float(len(texts)), "characters": float(characters), **figures}


def _peer() -> Callable[[str], object]:
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
            return [match.span() for match in re.finditer(r"\S+", text)]

    words, formatter = Words(), PIIFormatter()
    filters = [GopherRepetitionFilter(language=words), GopherQualityFilter(language=words)]

    def peer(text: str) -> object:
        document = Document(text=formatter.format(text), id="")
        return [rule.filter(document) for rule in filters]

    return peer
