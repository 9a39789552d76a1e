"""Rules of the main text that hold on pages of any make, each on the least page that needs it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from quern.jobs.documents.html.extract import extract_page

LINE = "Der Rat hat am Dienstag nach langer Debatte beschlossen, die alte Markthalle am Fluss zu sanieren, Satz {}."
TEXT = [LINE.format(n) for n in range(8)]
PARAGRAPHS = "".join(f"<p>{line}</p>" for line in TEXT)
MENU = "".join(f'<a href="/{n}">Menüpunkt {n}</a> ' for n in range(6))


def text_of(body: str, head: str = "") -> str:
    page = f"<html><head><title>Titel der Seite</title>{head}</head><body>{body}</body></html>"
    return str(extract_page(page.encode(), "https://seite.example/", None)["text"])


@pytest.mark.parametrize(
    ("opening", "shown"),
    [
        ("<div hidden", False),
        ('<div hidden role="tabpanel"', True),
        ('<div hidden aria-labelledby="x"', True),
        ('<button aria-controls="a x">Mehr</button><div hidden id="x"', True),
    ],
)
def test_what_is_hidden_goes_unless_a_visit_opens_it_or_it_is_all_the_text(opening: str, shown: bool) -> None:
    hidden = f"{opening}><p>Dieser Satz steht in einem verborgenen Kasten der Seite.</p></div>"
    assert ("verborgenen" in text_of(f"<main>{PARAGRAPHS}{hidden}</main>")) == shown
    assert "Satz 7." in text_of("<main>" + PARAGRAPHS.replace("<p>", "<p hidden>") + "</main>")


def test_a_page_of_scripts_and_a_page_of_frames_are_read() -> None:
    stated = '<script type="application/ld+json">{"@type": "NewsArticle", "articleBody": "%s"}</script>'
    assert text_of(f"<div>{MENU}</div>", stated % " ".join(TEXT)) == " ".join(TEXT)
    assert "Satz 7." in text_of(f"<frameset cols='20%,80%'><frame src='a'><noframes>{PARAGRAPHS}</noframes></frameset>")


def test_what_linked_data_say_of_another_page_is_not_the_text() -> None:
    def data(*articles: dict[str, str]) -> str:
        graph = json.dumps({"@graph": [{"@type": "NewsArticle", **article} for article in articles]})
        return f'<script type="application/ld+json">{graph}</script>'

    other = {"articleBody": "Von etwas ganz anderem wird hier erzählt, und zwar sehr lange. " * 40}
    whole = {"articleBody": " ".join([*TEXT, *(LINE.format(f"hinter der Schranke {n}") for n in range(20))])}
    page = f"<article><h1>Halle</h1>{PARAGRAPHS}</article>"
    assert text_of(page, data(other)) == text_of(page)
    assert "Schranke 19" in text_of(
        page, data(*[other | {"headline": "Ganz anderes", "articleBody": other["articleBody"] * 2}] * 4, whole)
    )
    both = data({**other, "headline": "Halle"}, {**whole, "headline": "Der Rat"})
    assert "ganz anderem" in text_of("<h1>Halle</h1>", both)


@pytest.mark.parametrize(
    "page",
    [
        lambda n: PARAGRAPHS + '<div><h3><a href="/x">Eine andere Meldung</a></h3><p>Kurz.</p></div>' * n,
        lambda n: TEXT[0] + "<div>" + "<div>zwei Worte</div>" * n + "</div>" + PARAGRAPHS,
        lambda n: PARAGRAPHS + "<div hidden>Ein verborgener Satz.</div>" * n,
    ],
    ids=["teasers", "lines", "hidden"],
)
def test_time_grows_with_the_page(page: Callable[[int], str]) -> None:
    start = time.process_time()
    text_of(page(10_000))
    assert time.process_time() - start < 20
