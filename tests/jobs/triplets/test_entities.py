"""The table `entities` over nights: whatever comes, goes or is renamed, it is what a full run makes."""

from __future__ import annotations

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Made
from quern.jobs.core.run import Run
from quern.jobs.triplets.entities import FoldEntities
from quern.schemas.digests import text_digest
from quern.schemas.tables import DOCUMENTS, TRIPLETS
from tests.conftest import Staged
from tests.jobs.nights_of_a_job import Nights, rows_of

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
    nights = Nights(FoldEntities(), run)

    def made(told: Told, published: Stage | None = None) -> Made:
        return nights.made(given(told, staged), published)

    first = made(DAY)
    forms = {row["name"]: row["forms"] for row in rows_of(first)}
    assert forms["Lady Orrin"] == ["Lady Orrin", "The Lady Orrin"]
    assert forms["Lorcan Tighe"] == ["Lorcan Tighe"]
    night, whole = made(NEXT, first.stages[0]), made(NEXT)
    assert rows_of(night) == rows_of(whole) != rows_of(first)
    backwards = made(dict(reversed(NEXT.items())))
    assert rows_of(backwards) == rows_of(whole)
    same = made(DAY, first.stages[0])
    assert same.counts.computed == 0
    assert 0 < night.counts.computed <= len(rows_of(night))
