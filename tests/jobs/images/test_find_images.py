"""The table `images`: where images stand, what is out by rule, and what a night computes."""

from __future__ import annotations

import time

from lxml.html import document_fromstring

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run
from quern.jobs.documents.html.extract import extract_page
from quern.jobs.documents.html.images import article_images
from quern.jobs.images.build import BuildImages
from quern.schemas.digests import text_digest
from quern.schemas.settings import ImageRuleSettings
from quern.schemas.tables import DOCUMENTS
from tests.conftest import Staged
from tests.jobs.nights_of_a_job import Nights, rows_of

FOG = "The ferry Lady Orrin struck the dredger Marl Hopper in thick fog on Saturday morning."
COURT = "A court fined the owners of the ferry on Tuesday, and the captain of the dredger was cleared of all blame."
YARD = "The ferry came back from the yard at Dunmere on Wednesday with a new bow and a new foghorn."
FIGURE = (
    "<figure><img src='/img/{n}.jpg' alt='The ferry' width=640 height=480>"
    "<figcaption>The Lady Orrin at the North Mole</figcaption></figure>"
)


def page(number: int, fate: str = COURT) -> str:
    """A page on one site: a logo in its text, a figure between the first paragraph and the second."""
    return (
        f"<html lang=en><head><title>The ferry, part {number}</title></head><body><article><h1>Ferry {number}</h1>"
        f"<p>{FOG} It was collision number {number}.</p>{FIGURE.format(n=number)}"
        f"<p>{fate} That was report number {number} of the harbour.</p><h2>The yard</h2>"
        f"<p>{YARD} Its bill was {number} hundred crowns.</p><img src='/gfx/arms.gif' alt=Arms></article></body></html>"
    )


def documents(pages: dict[int, str], stage: Staged) -> Stage:
    """The documents of pages of one site."""
    rows = []
    for number, html in pages.items():
        found = extract_page(html.encode(), f"https://c.example/{number}", None)
        said = {"text": found["text"], "images": found["images"], "digest": text_digest(None, found["text"])}
        rows.append({"doc_id": f"d{number}", "site": "c.example", "page_url": f"https://c.example/{number}"} | said)
    return stage(DOCUMENTS, rows)


def test_a_page_tells_of_an_image_where_it_stands_how_large_it_is_and_where_it_leads() -> None:
    html = (
        f"<article><h1>Ferry</h1><p>{FOG}</p><h2>The yard</h2><p>{YARD}</p>"
        "<a href='/img/full.jpg'><img src='data:image/gif;base64,xx' data-src='/img/480.jpg' width=480 height=320"
        " srcset='/img/480.jpg 480w, /img/960.jpg 960w' alt='A ferry in a yard'></a>"
        "<noscript><img src='/img/480.jpg' alt='A ferry in a yard'></noscript>"
        f"<figcaption>not its caption</figcaption><p>{COURT}</p>"
        "<a href='/other'><img src='/img/other.jpg'></a><img src='/img/other.jpg' alt='Told again in other words'>"
        f"<img src='data:image/png;base64,{'A' * 5_000_000}'>"
        "<svg onload=alert(1)><script>alert(1)</script><image href='/x.png'/></svg></article>"
    )
    yard, other = extract_page(html.encode(), "https://c.example/a", None)["images"]
    assert yard == {
        "url": "https://c.example/img/480.jpg",
        "alt": "A ferry in a yard",
        "caption": None,
        "link": None,
        "width": 960,
        "height": 640,
        "heading": "The yard",
        "before": YARD,
        "after": COURT,
    }
    assert (other["link"], other["before"], other["after"]) == ("https://c.example/other", COURT, None)


def test_a_box_of_captions_is_read_once_however_many_images_it_holds() -> None:
    box = "<img src=/a.jpg><figcaption></figcaption>" * 400 + "<figcaption></figcaption>" * 2_000
    tree = document_fromstring(f"<article><div class=caption>{box}<figcaption>The mole</figcaption></div></article>")
    before = time.process_time()
    (image,) = article_images(tree, "https://c.example/")
    assert image["caption"] == "The mole"
    assert time.process_time() - before < 1  # A tenth of it, or three seconds where it is read for each.


def test_images_stand_by_their_paragraph_and_a_night_computes_those_of_changed_documents_alone(
    run: Run, staged: Staged
) -> None:
    nights = Nights(BuildImages(ImageRuleSettings()), run)
    pages = {number: page(number) for number in range(6)}
    given = documents(pages, staged)
    first = nights.made({"documents": given})
    texts = {row["doc_id"]: row["text"] for row in rows_of(given)}
    found = rows_of(first.stages[0])
    assert len(found) == 12
    for row in found:
        text = texts[row["doc_id"]][row["start"] : row["end"]]
        assert text.startswith(FOG if row["caption"] else YARD)
        assert row["heading"] == (None if row["caption"] else "The yard")
        assert row["out_by"] == (None if row["caption"] else "repeated")

    pages[3] = page(3, fate="Nobody was fined, though the court sat for three whole weeks in the old town hall.")
    given = documents(pages, staged)
    night, whole = (nights.made({"documents": given}, known) for known in (first.stages[0], None))
    assert night.counts.computed == 2
    assert rows_of(night.stages[0]) == rows_of(whole.stages[0]) != found
