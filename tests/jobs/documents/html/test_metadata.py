"""Metadata of pages: which source states which field, what is believed first, and what is not believed."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.documents.html.metadata import SOURCES, read_metadata
from quern.jobs.documents.html.parse import PageError, parse_page

URL = "https://www.tideline.example/ferry"
STORY = "<p>The ferry was suspended on Tuesday after a collision in thick fog, and nobody knows for how long.</p>"


def read(head: str = "", body: str = "", url: str = URL) -> dict[str, Any]:
    page = f"<html lang=en><head>{head}</head><body>{body}{STORY}</body></html>"
    return read_metadata(parse_page(page.encode(), None), url)


def linked(**properties: object) -> str:
    return f"<script type='application/ld+json'>{json.dumps({'@type': 'NewsArticle'} | properties)}</script>"


def meta(name: str, content: str, attribute: str = "name") -> str:
    return f"<meta {attribute}='{content and name}' content='{content}'>"


def prop(name: str, content: str) -> str:
    return meta(name, content, "property")


def source(found: dict[str, Any], field: str) -> str | None:
    sources = [stated["by"] for stated in found["metadata_from"] if stated["field"] == field]
    assert len(sources) <= 1
    assert set(sources) <= set(SOURCES)
    return sources[0] if sources else None


DAY = datetime(2024, 3, 5, tzinfo=UTC)
ARTICLE = "<div itemscope itemtype='https://schema.org/Article'>{}</div>"


@pytest.mark.parametrize(
    ("field", "head", "body", "value", "by"),
    [
        ("title", linked(headline="Fog &amp; ferry"), "", "Fog & ferry", "json-ld"),
        ("title", prop("og:title", "Fog"), "", "Fog", "open-graph"),
        ("title", "", ARTICLE.format("<h2 itemprop='name headline'>Fog</h2>"), "Fog", "microdata"),
        ("title", meta("citation_title", "Fog"), "", "Fog", "meta"),
        ("title", "<title>Fog - Tideline</title>", "", "Fog", "html"),
        ("title", "<title>Our Paper :: Fog at sea</title>", "<h1>Paper</h1><h2>Fog at sea</h2>", "Fog at sea", "html"),
        ("author", linked(author=[{"name": "Imke S."}, {"name": "Per Lind"}]), "", "Imke S.; Per Lind", "json-ld"),
        ("author", prop("article:author", "Imke Sandoval"), "", "Imke Sandoval", "open-graph"),
        ("author", "", ARTICLE.format("<b itemprop=author><i itemprop=name>Imke S.</i></b>"), "Imke S.", "microdata"),
        ("author", meta("author", "By Imke Sandoval"), "", "Imke Sandoval", "meta"),
        ("author", meta("author", "admin"), "<p class=byline>By Imke Sandoval | 5 March</p>", "Imke Sandoval", "html"),
        ("site_name", prop("og:site_name", "The Tideline"), "", "The Tideline", "open-graph"),
        ("site_name", linked(publisher={"name": "The Tideline"}), "", "The Tideline", "json-ld"),
        ("site_name", meta("application-name", "The Tideline"), "", "The Tideline", "meta"),
        ("published_at", linked(datePublished="2024-03-05"), "", DAY, "json-ld"),
        ("published_at", prop("article:published_time", "2024-03-05T02:00:00+02:00"), "", DAY, "open-graph"),
        ("published_at", "", ARTICLE.format("<time itemprop=datePublished datetime=2024-03-05>"), DAY, "microdata"),
        ("published_at", meta("dc.date", "March 5, 2024"), "", DAY, "meta"),
        ("published_at", "", "<time datetime=2024-03-05>Tuesday</time>", DAY, "html"),
        ("published_at", "", "<p class=dateline>5. März 2024</p>", DAY, "html"),
        ("published_at", "", "<p>Reference PA/12. Issued 5 March 2024.</p>", DAY, "text"),
        ("modified_at", linked(dateModified="2024-03-05"), "", DAY, "json-ld"),
        ("modified_at", prop("og:updated_time", "2024-03-05"), "", DAY, "open-graph"),
        ("modified_at", "", "<time class=updated datetime=2024-03-05>", DAY, "html"),
        ("modified_at", "", "<p>This page was last edited on 5 March 2024. Copy it freely.</p>", DAY, "text"),
    ],
)  # fmt: skip
def test_each_source_states_a_field_and_is_recorded(field: str, head: str, body: str, value: object, by: str) -> None:
    found = read(head, body)
    assert found[field] == value
    assert source(found, field) == by


def test_linked_data_goes_before_open_graph_and_that_before_other_meta_elements() -> None:
    stated = meta("date", "2024-03-07") + prop("article:published_time", "2024-03-06")
    assert source(read(stated), "published_at") == "open-graph"
    assert source(read(stated + linked(datePublished="2024-03-05")), "published_at") == "json-ld"


def test_what_speaks_of_another_thing_is_not_the_page() -> None:
    other = {"@type": "NewsArticle", "headline": "Other", "author": "Ann Other"}
    others = [
        {"@type": "ItemList", "itemListElement": [other]},
        {"@type": "Comment", "author": {"name": "Ann Other"}, "datePublished": "2023-01-01"},
    ]
    comment = "<i itemscope itemtype='https://schema.org/Comment'><b itemprop=author>Ann Other</b></i>"
    aside = "<aside><time datetime=2023-01-01>Then</time><span class=author>Ann Other</span></aside>"
    found = read(f"<script type='application/ld+json'>{json.dumps(others)}</script>", comment + aside)
    assert [found[field] for field in ("title", "author", "published_at")] == [None, None, None]


def test_an_author_may_be_a_reference_into_the_graph() -> None:
    graph = [{"@type": "Article", "author": {"@id": "#p"}}, {"@type": "Person", "@id": "#p", "name": "Imke Sandoval"}]
    found = read(f"<script type='application/ld+json'>{json.dumps({'@graph': graph})}</script>")
    assert found["author"] == "Imke Sandoval"


@pytest.mark.parametrize(
    "script",
    ["", "{", "[" * 100_000, '{"headline": ', "null", "3", '{"headline": 3, "author": [[]], "datePublished": {}}'],
)
def test_broken_linked_data_states_nothing(script: str) -> None:
    found = read(f"<script type='application/ld+json'>{script}</script>")
    assert (found["title"], found["author"], found["published_at"]) == (None, None, None)


@pytest.mark.parametrize("wrapped", ["<!-- {} -->", "//<![CDATA[\n{}\n//]]>", "/*<![CDATA[*/ {} /*]]>*/", "\ufeff {};"])
def test_linked_data_in_a_comment_or_before_a_semicolon_is_read(wrapped: str) -> None:
    stated = wrapped.replace("{}", '{"@type": "Article", "headline": "Fog"}')
    assert read(f"<script type='application/ld+json'>{stated}</script>")["title"] == "Fog"


@pytest.mark.parametrize(
    "stated",
    "0000-00-00 0001-01-01T00:00:00Z 9999-12-31 1970-01-01T00:00:00Z 2024-13-45 2024-03-05T10:00+99:00".split(),
)
def test_placeholders_and_impossible_dates_give_way_to_the_next_source(stated: str) -> None:
    assert read(linked(datePublished=stated))["published_at"] is None
    found = read(linked(datePublished=stated), url="https://tideline.example/2024/03/05/ferry")
    assert (found["published_at"], source(found, "published_at")) == (DAY, "url")


def test_a_page_that_states_only_its_last_change_was_published_by_then() -> None:
    found = read(linked(dateModified="2024-03-05"))
    assert found["published_at"] == found["modified_at"] == DAY
    assert source(found, "published_at") == "json-ld"


PROSE = "<p>The ferry of Tideline was painted by its own crew, who took a week for it and a whole barrel of paint.</p>"


@pytest.mark.parametrize(
    "dated",
    [
        '<abbr class="published" title="2024-03-05T21:10:00-03:00">9:10 PM</abbr>',
        '<p class=meta><span class="post-date" title="2024-03-06T00:10:00Z">last week</span></p>',
        '<relative-time datetime="2024-03-06T00:10:00Z">last week</relative-time>',
    ],
)
def test_a_time_that_an_attribute_states_is_read_and_does_not_lead_the_text(dated: str) -> None:
    found = extract_page(f"<html><body><h1>Paint</h1>{dated}{PROSE}</body></html>".encode(), "https://a.example/", None)
    assert datetime.fromisoformat(found["published_at"]) == datetime(2024, 3, 6, 0, 10, tzinfo=UTC)
    assert found["text"].removeprefix("Paint\n").startswith("The ferry")


@pytest.mark.parametrize(
    ("body", "day"),
    [
        (f"<h1>Ferry</h1><p>The ferry first sailed on 5 March 2024.</p>{PROSE}", None),
        (f"<h1>Ferry</h1>{PROSE}<p>First trip 5 March 2024</p>{PROSE}", None),
        (f"<h1>Market on 5 March 2024</h1>{PROSE}", None),
        (f"<h1>Ferry</h1>{PROSE}<ul><li>5 March 2024: market</li><li>6 April 2024: fair</li></ul>", None),
        (f"<h1>Ferry</h1><p>It sails from <time datetime=2024-03-05>5 March</time> on.</p>{PROSE}", None),
        (f"<h1>Ferry</h1><p>Tideline, 5 March 2024</p>{PROSE}", DAY),
        (f"<h1>Ferry</h1><p>Posted by Ada Orm on 5 March 2024</p>{PROSE}", DAY),
        (f"<h1>Ferry</h1>{PROSE}<p>Issued 5 March 2024.</p>", DAY),
    ],
)
def test_a_date_that_the_text_tells_of_is_not_the_pages(body: str, day: datetime | None) -> None:
    page = f"<html><body>{body}</body></html>".encode()
    assert read_metadata(parse_page(page, None), URL)["published_at"] == day


@given(st.text(alphabet="0123456789 -/.:TZ+年月日,MarchAp", max_size=40))
def test_any_stated_date_is_read_or_left_out(text: str) -> None:
    found = read(linked(datePublished=text), f"<p class=date>{text}</p>", url=f"https://a.example/{text}")
    assert found["published_at"] is None or 1450 <= found["published_at"].year < 2200


def test_language_and_byline_come_from_the_text_where_nothing_else_states_them() -> None:
    page = f"<html><body><article><p>By Imke Sandoval</p>{STORY * 12}</article></body></html>"
    found = extract_page(page.encode(), URL, None)
    assert (found["language"], source(found, "language")) == ("en", "text")
    assert (found["author"], source(found, "author")) == ("Imke Sandoval", "text")
    assert source(found, "url") == "url"


@pytest.mark.parametrize("body", [b"<", b"<!---->", b"<?x?>", b"<>", b"\0<\0", b"<html/>", b"<!doctype html>"])
def test_a_page_of_nearly_nothing_is_a_page_or_says_that_it_is_none(body: bytes) -> None:
    with suppress(PageError):
        assert parse_page(body, None).tag == "html"


def test_control_characters_and_stray_surrogates_do_not_reach_the_tree() -> None:
    tree = parse_page(b"<p title='a\x01b'>no\x00 \x0bbell\x07, one&#x7;</p><p>next\x0cpage</p>", None)
    text = tree.text_content()
    assert "no bell, one" in text
    assert "next\npage" in text
    assert tree.find(".//p").get("title") == "ab"


@pytest.mark.parametrize("reference", ["&#1;", "&#x1", "&#0001;", "&#xFFFF;", "&#xd800;", "&#127;"])
def test_a_reference_to_no_character_costs_a_page_nothing(reference: str) -> None:
    page = f"<html lang=en><title>Tide{reference} tables</title><h1>Tide tables{reference}</h1><p>{'High water. ' * 30}"
    assert extract_page(page.encode(), URL, None)["title"] == "Tide tables"
