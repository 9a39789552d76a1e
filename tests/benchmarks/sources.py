"""Sources of the sample corpus' questions by the measures of Know Where to Go (`pipelines.sources.measure`).

Seconds are of one question, in a batch of all.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.api.asking import searcher_of
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.measure import measured, sites_by
from quern.pipelines.sources.pool import pool_of
from quern.pipelines.sources.seek import Seeker
from quern.schemas.answers import Question
from tests.conftest import CORPUS

_MOST: Final = 120  # Questions of a set: those of a larger one at equal distances.


def benchmark_sources(warehouse: Path) -> dict[str, float]:
    """The figures of the gold and of the readers' questions, over a warehouse of the sample corpus."""
    figures: dict[str, float] = {}
    for name in ("questions", "reader_questions"):
        asked = read_questions(CORPUS / f"{name}.jsonl")
        measures = gold_sources(searcher_of(warehouse, None, None), asked[:: max(1, len(asked) // _MOST)])
        figures |= {f"{name}, {key}": value for key, value in measures.items()}
    return figures


def gold_sources(searcher: Searcher, questions: list[Question]) -> dict[str, float]:
    """The figures of gold questions over one snapshot."""
    rows = [
        row
        for batch in searcher.snapshot.stage("documents").batches(["doc_id", "url", "site", "site_name"])
        for row in batch.to_pylist()
        if row["site"]
    ]
    names = {row["site"]: row["site_name"] for row in rows}
    known = [{"site": s, "name": name, "home_url": f"https://{s}/"} for s, name in sorted(names.items())]
    pool = pool_of(searcher, known)
    site_of = {key: row["site"] for row in rows for key in (row["doc_id"], row["url"]) if key}
    with Reasoner() as reasoner:
        started = time.monotonic()
        found = Seeker(searcher, pool, reasoner).sources(questions)
        seconds = time.monotonic() - started
    return {**measured(questions, found, sites_by(site_of)), "seconds a question": seconds / len(questions)}
