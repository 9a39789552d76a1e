"""What reading a page costs grows with the page and no faster."""

from __future__ import annotations

import time
from collections.abc import Callable

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.documents.html.images import article_images
from quern.jobs.documents.html.parse import drop_unread, parse_page


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def test_a_long_standfirst_without_an_end_is_read_at_once() -> None:
    header = f"<header><h1>Tides</h1><p>{'word and ' * 4_500}</p></header>"
    page = f"<html><body><article>{header}<p>The board met on Tuesday and read the figures.</p></article></body></html>"
    assert seconds(lambda: extract_page(page.encode(), "https://seite.example/", "utf-8")) < 2


def test_many_times_of_one_paragraph_are_read_at_once() -> None:
    page = f"<html><body><p>{'At <time>12:30</time> a thing happened. ' * 8_000}</p></body></html>"
    tree = parse_page(page.encode(), "utf-8")
    assert seconds(lambda: drop_unread(tree)) < 2
    assert tree.text_content().startswith("At 12:30 a thing happened. At 12:30 a")
    assert tree.text_content().count("At 12:30 a thing happened.") == 8_000
    assert next(tree.iter("time"), None) is None


def test_very_many_main_parts_of_a_page_with_an_image_are_found_at_once() -> None:
    parts = "<div role='main' itemprop='articleBody'>Tide</div>" * 60_000
    page = f"<html><body>{parts}<article>High<img src='/a.png'>{'Tide ' * 20}</article></body></html>"
    tree = parse_page(page.encode(), "utf-8")
    assert seconds(lambda: article_images(tree, "https://page.example/")) < 3
    shown = parse_page(f"<html><body>{page[-150:]}{parts[:5000]}".encode(), "utf-8")
    assert [image["url"] for image in article_images(shown, "https://page.example/")] == ["https://page.example/a.png"]
