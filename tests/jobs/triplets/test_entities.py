"""The table `entities` over nights: whatever comes, goes or is renamed, it is what a full run makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Made
from quern.jobs.core.run import Run, run_whole
from quern.jobs.triplets.entities import FoldEntities
from quern.schemas.digests import text_digest
from quern.schemas.tables import DOCUMENTS, TRIPLETS
from tests.conftest import Staged

Told = dict[str, tuple[str | None, str, str, str]]
"""Document to its title, and the subject, relation and object that it states."""

DAY: Told = {
    "Report_17": ("The Lady Orrin", "Lady Orrin", "struck", "Marl Hopper"),
    "[x": (None, "Lady Orrin", "is", "a ferry"),
    "d3": ("", "Lorcan Tighe", "commanded", "Lady Orrin"),
    "d4": ("Harbour", "Harbour Board", "is known as", "HB"),
}
NEXT: Told = {
    "Report_17": ("The Marl Hopper", "Lady Orrin", "struck", "Marl Hopper"),
    "[x": DAY["[x"],
    "d4": ("Harbour", "Tighe", "left", "Harbour Board"),
    "d5": ("News", "HB", "sold", "Lady Orrin"),
}


@dataclass(frozen=True)
class Tonight(FoldEntities):
    """The job on the night after `published` was made."""

    published: Stage | None = None

    def of_last_night(self, table: str, run: Run) -> Stage | None:
        return self.published


def given(told: Told, stage: Staged) -> dict[str, Stage]:
    documents, triplets = [], []
    for doc, (title, subject, relation, value) in told.items():
        at = {"doc_id": doc, "page_url": f"doc:{doc}", "url": f"http://{doc}/Fog"}
        documents.append(at | {"title": title})
        names = {"subject_name": subject, "object_name": value if value[:1].isupper() else None}
        words = {"subject": subject, "relation": relation, "object": value, "how": "sentence"}
        keys = {"triplet_id": text_digest(doc, subject, relation), "chunk_id": f"{doc}-0", "doc_id": doc}
        triplets.append(keys | words | names)
    return {"triplets": stage(TRIPLETS, triplets), "documents": stage(DOCUMENTS, documents)}


def test_a_night_makes_what_a_full_run_makes_and_no_key_or_bad_address_names_anything(run: Run, staged: Staged) -> None:
    nights = count()

    def made(told: Told, published: Stage | None = None) -> Made:
        tonight = replace(run, stages=run.stages / str(next(nights)))
        tonight.stages.mkdir(parents=True)
        return run_whole(Tonight(published), given(told, staged), tonight)

    def rows(made: Made) -> list[dict[str, Any]]:
        return [row for batch in made.stages[0].batches() for row in batch.to_pylist()]

    first = made(DAY)
    forms = {row["name"]: row["forms"] for row in rows(first)}
    assert forms["Lady Orrin"] == ["Lady Orrin", "The Lady Orrin"]
    assert forms["Lorcan Tighe"] == ["Lorcan Tighe"]
    night, whole = made(NEXT, first.stages[0]), made(NEXT)
    assert rows(night) == rows(whole) != rows(first)
    backwards = made(dict(reversed(NEXT.items())))
    assert rows(backwards) == rows(whole)
    same = made(DAY, first.stages[0])
    assert same.counts.computed == 0
    assert 0 < night.counts.computed <= len(rows(night))
