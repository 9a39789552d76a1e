"""Sources of gold questions by the measures of Know Where to Go (`pipelines.sources.measure`), over built warehouses.

The sites of the sample corpus are its sources. Sets of documents without sites have each document as a source of its
own, which is much harder: one of 442 or 1,890 instead of one of six. Seconds are of one question, in a batch of all.
"""

from __future__ import annotations

import time
from collections.abc import Collection
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


def benchmark_sources(folder: Path, warehouses: Collection[Path], only: Collection[str] = ()) -> dict[str, float]:
    """All figures of the sets that the warehouses are of; a minute each.

    Args:
        folder: The folder of the datasets.
        warehouses: Of the sample corpus, `demo` in their names; of `lihua` and `musique`.
        only: Sets to measure, of `sample`, `readers`, `lihua`, `musique`.
    """
    figures: dict[str, float] = {}
    for name, questions, part in (
        ("sample", CORPUS / "questions.jsonl", "demo"),
        ("readers", CORPUS / "reader_questions.jsonl", "demo"),
        ("lihua", folder / "lihua_world" / "queries.jsonl", "lihua"),
        ("musique", folder / "musique_train100" / "queries.jsonl", "musique"),
    ):
        warehouse = next((w for w in warehouses if part in w.name), None)
        if warehouse is None or (only and name not in only):
            continue
        asked = read_questions(questions)
        measures = gold_sources(searcher_of(warehouse, None, None), asked[:: max(1, len(asked) // _MOST)])
        figures |= {f"{name}, {key}": value for key, value in measures.items()}
    return figures


def gold_sources(searcher: Searcher, questions: list[Question]) -> dict[str, float]:
    """The figures of gold questions over one snapshot."""
    rows = [
        row
        for batch in searcher.snapshot.stage("documents").batches(["doc_id", "url", "site", "site_name"])
        for row in batch.to_pylist()
    ]
    column = "site" if any(row["site"] for row in rows) else "doc_id"
    names = {row[column]: row.get("site_name") for row in rows if row[column]}
    known = [{"site": site, "name": name, "home_url": None} for site, name in sorted(names.items())]
    if column == "site":
        known = [{**row, "home_url": f"https://{row['site']}/"} for row in known]
    pool = pool_of(searcher, known, column)
    site_of = {key: str(row[column]) for row in rows for key in (row["doc_id"], row["url"]) if key and row[column]}
    with Reasoner() as reasoner:
        started = time.monotonic()
        found = Seeker(searcher, pool, reasoner).sources(questions)
        seconds = time.monotonic() - started
    return {**measured(questions, found, sites_by(site_of)), "seconds a question": seconds / len(questions)}
