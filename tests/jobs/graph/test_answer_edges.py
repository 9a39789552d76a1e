from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run
from quern.jobs.graph.answer_edges import answer_edges
from quern.jobs.vectors.embed import Embed
from quern.schemas.settings import EmbedSettings
from quern.schemas.tables import QUERIES, Table

Staged = Callable[[Table, list[dict[str, Any]]], Stage]

PAIRS = {
    "a-0": ("Who composed the opera Aida?", "Giuseppe Verdi"),
    "a-1": ("When was Aida first performed?", "in 1871"),
    "b-0": ("Where was Giuseppe Verdi born?", "in the village of Le Roncole"),
    "c-0": ("What do bees store in wax combs?", "honey"),
}


def test_an_answer_leads_to_the_question_about_it_in_another_chunk(run: Run, staged: Staged) -> None:
    rows = [
        {"query_id": key, "chunk_id": key[0], "question": q, "answer": a, "similarity": 0.5, "kept": True}
        for key, (q, a) in PAIRS.items()
    ]
    dropped = rows[0] | {"query_id": "d-0", "question": "Who was Giuseppe Verdi?", "kept": False}
    found = answer_edges(
        staged(QUERIES, [*rows, dropped]),
        pa.array(list(PAIRS)),
        np.array([0, 0, 1, 2]),
        2,
        Embed(EmbedSettings()),
        run,
    )
    edges = list(zip(found.source.tolist(), found.target.tolist(), found.rank.tolist(), strict=True))
    assert (0, 2, 0) in edges
    assert all((source, target) not in {(0, 1), (1, 0)} for source, target, _ in edges)
    assert max(rank for _, _, rank in edges) == 1
