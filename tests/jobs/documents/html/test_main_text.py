"""Main text of the mini-web against its gold texts, and what the pages planted there must come to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from quern.jobs.documents.clean import Clean
from quern.jobs.pages.formats.rows import FileReject
from quern.schemas.settings import IngestSettings
from tests.benchmarks.extraction import f1_of
from tests.jobs.pages.archived import read_pages

TESTS = Path(__file__).parents[3]
CORPUS = TESTS / "corpus"
DEFACED = "harbour-courier.example/2024/12/council-site-defaced.html"
MENU = "harbour-courier.example/sections/index.html"


class Cleaned(NamedTuple):
    """Documents by the file of their page, and reasons of what was left out."""

    documents: dict[str, dict[str, Any]]
    unread: dict[str, str]
    rejects: dict[str, str]


@pytest.fixture(scope="module")
def cleaned() -> Cleaned:
    found = Cleaned({}, {}, {})
    for pages in read_pages(CORPUS / "pages", IngestSettings()):
        if isinstance(pages, FileReject):
            found.unread[pages.key] = pages.reason
            continue
        files = pages.column("source_file").to_pylist()
        made = Clean().apply(pages.select(list(Clean.reads)))
        found.rejects.update((files[reject.row], reject.reason) for reject in made.rejects)
        found.documents.update(zip((files[n] for n in made.parents), made.rows.to_pylist(), strict=True))
    return found


def planted(kind: str) -> list[str]:
    return [p["path"] for p in json.loads((CORPUS / "planted.json").read_text("utf-8")) if p["kind"] == kind]


def tokens(text: str) -> str:
    """`text` with each Chinese character a word, which the shingles of words would take for runs."""
    return re.sub("([\u4e00-\u9fff])", r" \1 ", text)


def test_the_main_text_is_as_good_as_its_floor(cleaned: Cleaned) -> None:
    floor = json.loads((TESTS / "floors.json").read_text("utf-8"))["mini_web"]["main_text_f1"]
    found: dict[str, float] = {}
    for slug, path in json.loads((CORPUS / "main_text" / "index.json").read_text("utf-8")).items():
        gold = (CORPUS / "main_text" / f"{slug}.txt").read_text("utf-8")
        text = cleaned.documents[path]["text"] if path in cleaned.documents else ""
        found[slug] = f1_of({slug: tokens(gold)}, {slug: tokens(text)})
    assert sum(found.values()) / len(found) >= floor, found


def test_every_page_becomes_a_document_save_the_empty_one_and_the_menu(cleaned: Cleaned) -> None:
    assert planted("empty_page") == ["averil-council.example/notices/2023/archive.html"]
    assert cleaned.unread == dict.fromkeys(planted("empty_page"), "empty")
    assert planted("nav_only_page") == [MENU]
    assert cleaned.rejects == {MENU: "no_text"}
    assert len(cleaned.documents) == 80


def test_scripts_stay_out_and_escaped_markup_is_literal(cleaned: Cleaned) -> None:
    thread = "tidewiki.example/forum/thread-2217.html"
    assert planted("script_injection") == [DEFACED, thread]
    text, posts = cleaned.documents[DEFACED]["text"], cleaned.documents[thread]["text"]
    assert "the string began with <img src=x onerror=alert(1)> and ended" in text
    assert "<script>alert('fence')</script>" in text
    assert "alert(1)</script>" not in text
    assert "_goat" not in text
    assert "dataLayer" not in text
    assert posts.count("<script>alert(1)</script>") == 1
    assert "turn every < into &lt; before" in posts
    assert "search for <b>shed</b>, the next" in posts
    assert "<script>alert(1)</script>" in cleaned.documents[thread]["title"]


def test_a_big_page_keeps_what_is_far_down(cleaned: Cleaned) -> None:
    (path,) = planted("big_page")
    lines = cleaned.documents[path]["text"].split("\n")
    for entry in (873, 2417, 3391, 4120):
        assert sum(line.startswith((f"Entry {entry}.", f"Entry {entry} ")) for line in lines) == 1, entry
