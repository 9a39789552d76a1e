"""Lines that repeat over a site are found, and only where they should be."""

from __future__ import annotations

from typing import Any

import pytest

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, run_whole
from quern.jobs.documents.boilerplate import COLUMN, RepeatedLines, marked_drafts
from quern.schemas.settings import NormaliseSettings
from quern.schemas.tables import DOCUMENTS
from tests.conftest import Staged

BODY = "The ferry of day {n} was late by {n} minutes because of the fog at the head of the pier."
FOOT = "Quay Notes is written by volunteers."


def draft(n: int, text: str, site: str | None = "quay.example", page: str = "https://quay.example/") -> dict[str, Any]:
    return {"doc_id": f"{page}{n}", "page_url": f"{page}{n}", "site": site, "text": text}


def marked(drafts: Stage, run: Run, settings: NormaliseSettings = NormaliseSettings()) -> list[list[int]]:  # noqa: B008
    (repeated,) = run_whole(RepeatedLines(settings), {"drafts": drafts}, run).stages
    view = marked_drafts(drafts, repeated, settings)
    assert view.rows == drafts.rows
    return [lines for batch in view.batches([COLUMN], 3) for lines in batch.column(0).to_pylist()]


def site_of(count: int, **more: Any) -> list[dict[str, Any]]:
    return [draft(n, f"{BODY.format(n=n)}\n{FOOT}", **more) for n in range(count)]


def test_a_line_of_many_documents_of_a_site_is_marked(staged: Staged, run: Run) -> None:
    assert marked(staged(DOCUMENTS, site_of(6)), run) == [[1]] * 6


@pytest.mark.parametrize(
    "drafts",
    [
        site_of(4),
        site_of(8, site=None),
        site_of(8, page="doc:"),
        [draft(n, f"{BODY.format(n=n)}\n{FOOT}", site=f"{n}.example") for n in range(8)],
        [draft(n, "\n".join([BODY.format(n=n), FOOT * (n < 5)])) for n in range(20)],
        [draft(n, f"{BODY.format(n=n)}\n{FOOT * 10}") for n in range(8)],
        [draft(n, f"{BODY.format(n=0)}\n{FOOT}") for n in range(8)],
        [draft(n, f"Short {n}.\n{FOOT}") for n in range(8)],
    ],
    ids=["few", "no site", "jsonl", "many sites", "small share", "long line", "copies", "most of the text"],
)
def test_a_line_that_is_no_boilerplate_stays(drafts: list[dict[str, Any]], staged: Staged, run: Run) -> None:
    assert not any(marked(staged(DOCUMENTS, drafts), run))


def test_a_line_counts_once_in_a_document(staged: Staged, run: Run) -> None:
    drafts = [draft(n, f"{BODY.format(n=n)} {BODY.format(n=n + 50)}\n" + f"{FOOT}\n" * 2 * (n == 0)) for n in range(6)]
    assert not any(marked(staged(DOCUMENTS, drafts), run, NormaliseSettings(repeated_share=0.1)))
