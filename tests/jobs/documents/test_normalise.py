"""Drafts lose noise, boilerplate and personal data; what stays is as the page has it. JSONL documents keep it all."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.core.contract import Outcome
from quern.jobs.documents.boilerplate import COLUMN
from quern.jobs.documents.normalise import Normalise
from quern.schemas.contract.validate import validate
from quern.schemas.digests import text_digest
from quern.schemas.settings import NormaliseSettings, QualitySettings
from quern.schemas.tables import DOCUMENTS
from tests.tables import batch_of

LAX = QualitySettings(enabled=False)


def apply(job: Normalise, *drafts: dict[str, Any]) -> Outcome:
    defaults = {"digest": "draft", COLUMN: [], "language": "en"}
    rows = [
        defaults | {"doc_id": str(n), "page_url": f"https://quay.example/{n}"} | draft for n, draft in enumerate(drafts)
    ]
    repeated = pa.array([r[COLUMN] for r in rows], pa.list_(pa.int32()))
    made = job.apply(batch_of(DOCUMENTS, rows).append_column(COLUMN, repeated))
    validate(made.rows, DOCUMENTS)
    return made


def document(draft: dict[str, Any], **settings: Any) -> dict[str, Any]:
    made = apply(Normalise(NormaliseSettings(**settings), LAX), draft)
    return dict(made.rows.to_pylist()[0])


def test_a_draft_gets_its_final_form() -> None:
    made = document(
        {
            "title": "Ferry news 🚢",
            "text": "The  ferry（No．３）sailed. Read more\n\nMenu\nShare this\nMail a@b.example 😀 or ring 555-0168.",
            COLUMN: [2],
        }
    )
    assert made["text"] == "The  ferry（No．３）sailed.\n\nMail [EMAIL] 😀 or ring [PHONE]."
    assert made["title"] == "Ferry news 🚢"
    assert made["personal_data"] == [{"type": "EMAIL", "count": 1}, {"type": "PHONE", "count": 1}]
    assert made["digest"] == text_digest(made["title"], made["text"])


def test_personal_data_is_marked_removed_or_kept_but_always_counted() -> None:
    draft = {"text": "Write to a@b.example, or do not."}
    forms = {mode: document(draft, personal_data=mode) for mode in ("mark", "remove", "keep")}
    assert {mode: made["text"] for mode, made in forms.items()} == {
        "mark": "Write to [EMAIL], or do not.",
        "remove": "Write to, or do not.",
        "keep": "Write to a@b.example, or do not.",
    }
    assert {str(made["personal_data"]) for made in forms.values()} == {str([{"type": "EMAIL", "count": 1}])}


def test_personal_data_of_authors_and_images_is_treated_like_that_of_the_text() -> None:
    image = {"url": "https://quay.example/1.png", "alt": "Write to bob@b.example", "caption": "Call 415-555-2671"}
    made = document({"text": "The ferry sailed.", "author": "Ann, ann@b.example", "images": [image]})
    assert made["author"] == "Ann, [EMAIL]"
    assert [(i["url"], i["alt"], i["caption"]) for i in made["images"]] == [
        (image["url"], "Write to [EMAIL]", "Call [PHONE]")
    ]
    assert made["personal_data"] == [{"type": "EMAIL", "count": 2}, {"type": "PHONE", "count": 1}]


@pytest.mark.parametrize("page", ["doc:1", "file:///pumps/commands.md"])
def test_a_given_document_keeps_its_text_but_for_personal_data(page: str) -> None:
    text = "Read more\n\n三百个  😀 １２\na@b.example"
    made = apply(Normalise(), {"page_url": page, "language": "zh", "text": text, "title": "Ｔ a@b.example"})
    (row,) = made.rows.to_pylist()
    assert row["text"] == text.replace("a@b.example", "[EMAIL]")
    assert row["title"] == "Ｔ [EMAIL]"
    assert row["personal_data"] == [{"type": "EMAIL", "count": 2}]


CODE = "Run it:\n\n    def turn(n):\n\treturn n\n\n- a\n  - b\n\n| A |  B |\n|---|---|\n|   | x |"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Read more\n{CODE}\nShare this", CODE),
        ("It sailed. 🚢 Ｒｅａｄ\u200b ｍｏｒｅ »\n👉 Click here 👈\n😀\n阅读全文", "It sailed."),
        ("🚢 Ring ０２０\u200b ７９４６ ０９５８ or a@\xadb.example！ 🚢", "🚢 Ring [PHONE] or [EMAIL]！ 🚢"),
    ],
    ids=["indentation", "clicks", "wide digits"],
)
def test_a_text_keeps_all_but_noise_and_personal_data(text: str, left: str) -> None:
    assert document({"text": text})["text"] == left


def test_only_the_types_of_personal_data_that_are_named_are_marked() -> None:
    made = document({"text": "a@b.example and 203.0.113.7"}, personal_data_types=("IP",))
    assert made["text"] == "a@b.example and [IP]"


def test_low_quality_and_empty_documents_are_rejected_and_the_others_keep_their_place() -> None:
    prose = "The ferry left the harbour at nine and was back before the tide turned."
    made = apply(Normalise(), {"text": prose}, {"text": "Read more"}, {"text": "a b"}, {"text": prose, "doc_id": "z"})
    assert [(r.row, r.reason) for r in made.rejects] == [(1, "no_text"), (2, "quality_few_words")]
    assert made.parents.tolist() == [0, 3]
    assert made.rows.column("doc_id").to_pylist() == ["0", "z"]


@pytest.mark.parametrize("language", ["en", "zh"])
@given(text=st.text(alphabet=st.sampled_from("ab .,\n1２三十年个，。！a@b.c😀\u200d（）Read more")))
def test_what_is_left_is_quoted_and_stays_as_it_is(language: str, text: str) -> None:
    job = Normalise(NormaliseSettings(personal_data="keep"), LAX)
    once = apply(job, {"text": text, "language": language}).rows.column("text").to_pylist()
    page = text.split("\n")
    assert all(any(part in line for line in page) for whole in once for part in whole.split("\n"))
    twice = [t for x in once for t in apply(job, {"text": x, "language": language}).rows.column("text").to_pylist()]
    assert twice == once


def test_pages_begin_where_they_did_when_lines_and_personal_data_go() -> None:
    first, second = "Mail ute@quay.example or\nMenu\nRead more\n", "The ferry sails at nine. It is\nblue all over.\n"
    text = f"{first}{second}Call 555-0168.\nThe end."
    starts = [text.index(words) for words in ("Mail", "The ferry", "It is", "Call", "The end")]
    made = document({"text": text, "page_starts": starts, COLUMN: [1, 5]})
    assert made["text"] == "Mail [EMAIL] or\nThe ferry sails at nine. It is\nblue all over.\nThe end."
    pages = [made["text"][a:b] for a, b in pairwise([*made["page_starts"], len(made["text"])])]
    assert pages == ["Mail [EMAIL] or\n", "The ferry sails at nine. ", "It is\nblue all over.", "\n", "The end."]
