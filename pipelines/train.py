"""Training of a reranker on a corpus: pairs from its own queries and from labelled sets, checked, then trained on.

A negative is a chunk that could be taken for an answer (the fusion's best, another chunk of the document, the chunk of
a neighbouring query) and that all judges say is none. The judges need no language model.

Source: Xinyu AI Search, section 3.5 (hard negatives from the top 300, other chunks, by vote).
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from heapq import nsmallest
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from quern.indexes.graph import QueryGraph
from quern.indexes.keys import positions_in
from quern.indexes.stage_writers import StageWriter
from quern.indexes.vectors import Positions
from quern.jobs.audit.validation import audit
from quern.jobs.models.reader import Passage, Reader
from quern.jobs.reasoning.answering.inputs import spans
from quern.jobs.text.stems import content_words
from quern.jobs.training.pairs import DataError, HeldOut, Pair, distinct, grouped, read_pairs
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import under_title
from quern.pipelines.retrieve.ranking import cut
from quern.pipelines.retrieve.recipes.hybrid import hybrid
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.contract.expectations import Limits
from quern.schemas.digests import text_digest
from quern.schemas.settings import AuditSettings
from quern.schemas.tables.training_pairs import NEGATIVE, POSITIVE, TRAINING_PAIRS

_DEPTH: Final = 300  # Best of the fusion that negatives are drawn from (Xinyu AI Search, 3.5).
_DRAWN: Final = 3  # Candidates of each source that are judged.
_SEARCHED: Final = 256  # Questions that are searched at once.
_JUDGES: Final = 3

log = logging.getLogger(__name__)


def warehouse_pairs(searcher: Searcher, most: int, seed: int = 0) -> Iterator[Pair]:
    """Pairs of a corpus without labels: its kept queries with their chunks, and judged negatives.

    `most` queries are taken by the digest of their ids, the same ones on every machine; `seed` draws negatives.
    """
    columns = ["query_id", "chunk_id", "question", "answer", "kept"]
    queries = (r for b in searcher.snapshot.stage("queries").batches(columns) for r in b.to_pylist())
    chosen = nsmallest(most, (r for r in queries if r["kept"]), key=lambda r: text_digest(r["query_id"]))
    reader, places = Reader.load(), _Places(searcher.graph)
    for start in range(0, len(chosen), _SEARCHED):
        # The pairs of some queries.
        rows = chosen[start : start + _SEARCHED]
        graph, batch = searcher.graph, Batch(searcher, [r["question"] for r in rows])
        own = positions_in(graph.chunks.keys, pa.array([r["chunk_id"] for r in rows])).tolist()
        best, documents, owner = cut(hybrid(batch), len(batch), _DEPTH), graph.documents.of_chunk, graph.nodes.owner
        candidates: list[list[tuple[int, str]]] = []
        for n, (row, at) in enumerate(zip(rows, own, strict=True)):
            chance = random.Random(f"{seed}/{row['query_id']}")
            near = np.unique(owner[graph.edges[places.nodes(at)].indices])
            kinds = {"fusion": best.chunk[best.question == n], "document": places.chunks(documents[at]), "graph": near}
            drawn: dict[int, str] = {}
            for source, chunks_of in kinds.items():
                fresh = [p for p in chunks_of.tolist() if p != at and p not in drawn]
                drawn |= dict.fromkeys(chance.sample(fresh, min(_DRAWN, len(fresh))), source)
            candidates.append(list(drawn.items()))
        drawn_from = sorted({*own, *(p for some in candidates for p, _ in some)})
        ids = graph.chunks.keys.take(pa.array(drawn_from)).to_pylist()
        table = searcher.snapshot.table("chunks").lookup("chunk_id", ids, ["chunk_id", "title", "text"])
        by_id = {r["chunk_id"]: r for r in table.to_pylist()}
        chunks = {place: by_id[key] for place, key in zip(drawn_from, ids, strict=True)}
        for n, (row, at, some) in enumerate(zip(rows, own, candidates, strict=True)):
            yield Pair(row["question"], under_title(chunks[at]), POSITIVE, "queries", row["chunk_id"])
            own_cosine, *cosines = (graph.chunks.vectors[[at, *(p for p, _ in some)]] @ batch.vectors[n]).tolist()
            for (place, source), cosine in zip(some, cosines, strict=True):
                chunk = chunks[place]
                votes = (
                    int(cosine < own_cosine)  # The embedder: farther than the chunk that answers.
                    + int(not content_words(row["answer"]) <= content_words(chunk["text"]))  # Words of the answer lack.
                )
                # The reader costs the most, and one vote against is enough.
                if votes == _JUDGES - 1 and _none_answers(reader, row["question"], chunk):
                    yield Pair(row["question"], under_title(chunk), NEGATIVE, source, chunk["chunk_id"], _JUDGES)


class _Places:
    """The nodes of each chunk and the chunks of each document."""

    def __init__(self, graph: QueryGraph) -> None:
        self.nodes, self.chunks = (self._by(labels) for labels in (graph.nodes.owner, graph.documents.of_chunk))

    @staticmethod
    def _by(labels: Positions) -> Callable[[int], Positions]:
        order = np.argsort(labels, kind="stable")
        in_order = labels[order]
        return lambda label: order[slice(*np.searchsorted(in_order, [label, label + 1]))]


def _none_answers(reader: Reader, question: str, chunk: dict[str, Any]) -> bool:
    """Whether the reader holds it more likely that no line of a chunk answers than that one does."""
    lines = [chunk["text"][start:end] for start, end in spans(chunk["text"])]
    reading = reader.read(question, [Passage(chunk["title"] or "", lines)])
    odds = [line.odds for of in reading.lines for line in of if line is not None]
    return not odds or bool(np.logaddexp.reduce(odds) < 0)


def training_pairs(
    searcher: Searcher | None, labelled: Sequence[Path], held_out: Sequence[Path], most: int, seed: int = 0
) -> list[Pair]:
    """Pairs of labelled sets and of a corpus, each once; those of the corpus that leak are dropped and counted.

    Raises:
        DataError: A labelled pair leaks from a held-out set, or a file cannot be read.
    """
    evaluated = HeldOut.read(held_out)
    pairs = [pair for file in labelled for pair in read_pairs(file)]
    if leaks := [pair for pair in pairs if evaluated.leaks(pair)]:
        files = ", ".join(sorted({pair.origin for pair in leaks}))
        raise DataError(
            f"{len({pair.question for pair in leaks})} questions of {files} leak from the held-out sets, as "
            f"{leaks[0].question[:80]!r}: their question or a text of theirs stands there; remove them"
        )
    mined = list(warehouse_pairs(searcher, most, seed)) if searcher else []
    clean = [pair for pair in mined if not evaluated.leaks(pair)]
    pairs = list(distinct([*pairs, *clean]))
    counts = Counter(f"{pair.source}_{pair.label}" for pair in pairs)
    figures = " ".join(f"{name}={count}" for name, count in sorted(counts.items()))
    log.info("training_pairs out=%d leaked=%d %s", len(pairs), len(mined) - len(clean), figures)
    return pairs


def write_table(pairs: Sequence[Pair], file: Path) -> None:
    """Write the table `training_pairs`, and audit it.

    Raises:
        DataError: Its audit fails.
    """
    with StageWriter(file, TRAINING_PAIRS) as writer:
        for pair in pairs:
            writer.add(pair.row())
    report = audit({TRAINING_PAIRS.name: writer.stage()}, {}, Limits(AuditSettings(), datetime.now(UTC)))
    if failures := report.failures():
        raise DataError(f"the audit of {file} fails: {'; '.join(f'{f.expectation}: {f.observed}' for f in failures)}")


def train_reranker(
    pairs: Sequence[Pair], out: Path, settings: Any, shape: Any, base: str, licence: str, command: str
) -> dict[str, float]:
    """Train a reranker on the pairs of `training_pairs`; the folder `out` also gets the table of them.

    Settings and shape are those of `jobs.training.run` and `jobs.training.reranker`. `base` is a model, or `reader`;
    `licence`, that of the labelled pairs, and `command`, which makes the model again, are for its card.
    """
    reranker = import_module("quern.jobs.training.reranker")  # Torch takes seconds to import.
    table = import_module("quern.jobs.training.run").training_folder(out) / f"{TRAINING_PAIRS.name}.parquet"
    write_table(pairs, table)
    counts = Counter("the warehouse" if p.source != "labelled" else p.origin for p in pairs)
    data = [(name, "as its documents" if name == "the warehouse" else licence, n) for name, n in counts.items()]
    figures: dict[str, float] = reranker.train(
        grouped(pairs), out, settings, shape, base, data, command, beside=[table]
    )
    return figures
