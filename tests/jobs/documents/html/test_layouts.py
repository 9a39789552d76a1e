"""Main text of pages in layouts of many kinds: what must be read, and what must stay out."""

from __future__ import annotations

import pytest

from quern.jobs.documents.html.extract import extract_page
from tests.jobs.documents.html.layouts import Page, pages


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_line_of_the_text_is_read_and_none_beside_it(page: Page) -> None:
    text = extract_page(page.html.encode(), "https://seite.example/", None)["text"]
    assert [line for line in page.wanted if line not in text] == []
    assert [line for line in page.unwanted if line in text] == []
