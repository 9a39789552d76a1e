"""What reading a page costs grows with the page and no faster."""

from __future__ import annotations

import time
from collections.abc import Callable

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.documents.html.loose_text import is_sentence


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def test_a_long_standfirst_without_an_end_is_read_at_once() -> None:
    header = f"<header><h1>Tides</h1><p>{'word and ' * 4_500}</p></header>"
    page = f"<html><body><article>{header}<p>The board met on Tuesday and read the figures.</p></article></body></html>"
    assert seconds(lambda: extract_page(page.encode(), "https://seite.example/", "utf-8")) < 2


def test_a_sentence_is_told_by_its_end() -> None:
    text = "The board met on Tuesday and read the figures"
    ends = [".", '."', ".)  \n", "…", "?»", ".........................", "!”"]
    assert [end for end in ends if not is_sentence(text + end)] == []
    assert [end for end in ["", ",", ". and", '"'] if is_sentence(text + end)] == []
    assert not is_sentence("... ... ... ... ... ... ... ... ...")
