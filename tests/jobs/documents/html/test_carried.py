"""Pages whose text stands where no text is sought: in elements that were not closed, templates, `noscript` and JSON."""

from __future__ import annotations

import json
import time

import pytest

from quern.jobs.documents.html.extract import extract_page

LINES = (
    "The quarry of Holm was leased by Greta Vahl in the spring, and she pays the parish every quarter of the year.",
    "A load of more than 30 tonnes has to be announced at the gate by telephone, at least two days before.",
)
BODY = "".join(f"<p>{line}</p>" for line in LINES)
MENU = '<ul><li><a href="/">Home</a></li><li><a href="/map">Map of the parish</a></li></ul>'
OTHER = "<p>Another page of the parish tells of the school, and of all that is taught there.</p>" * 9
STATE = {
    "messages": {"cookies": "We keep cookies so that the page can be shown, and you may forbid that at any time."},
    "page": {"title": "Quarry of Holm", "slug": "quarry", "body": BODY},
    "others": [{"title": "School of Holm", "body": OTHER}],
}


def text_of(body: str) -> str:
    page = f'<html lang="en"><head><title>Quarry of Holm</title></head><body>{body}</body></html>'
    return str(extract_page(page.encode(), "https://holm.example/quarry", "utf-8")["text"])


SCRIPTS = f"<nav>{MENU}</nav><div id=app></div>"


@pytest.mark.parametrize(
    "body",
    [
        f"<header><nav>{MENU}<main><h1>Quarry of Holm</h1>{BODY}</main>",
        f"<nav>{MENU}<div><h1>Quarry of Holm</h1>{BODY}</div>",
        f"<nav><ul><li><a href=/>Home</a><li><a href=/map>Map</a><article>{BODY}</article>",
        f"<header><div>{MENU}</div><h1>Quarry of Holm</h1>{BODY}<footer>Parish of Holm</footer>",
        f"<footer>{MENU}<article><h1>Quarry of Holm</h1>{BODY}</article>",
        f"<select><option>English<option>Dansk<main>{BODY}</main>",
        f"{SCRIPTS}<script type='text/template'>{BODY}</script>",
        f"{SCRIPTS}<script type='text/x-template'>{BODY}</script><noscript>{BODY}</noscript>",
        f"{SCRIPTS}<noscript><div><p>Please turn JavaScript on.</p>\n{BODY}</div></noscript>",
        f"{SCRIPTS}<template>{BODY}</template>",
        f"{SCRIPTS}<script id=__NEXT_DATA__ type='application/json'>{json.dumps({'props': STATE})}</script>",
        f"{SCRIPTS}<script>window.__STATE__ = {json.dumps(STATE)};</script>",
    ],
)
def test_a_text_in_an_unclosed_element_or_that_scripts_would_show_is_read_once(body: str) -> None:
    assert text_of(body).split("\n") == [*LINES]


@pytest.mark.parametrize(
    "body",
    [
        f"<script>var texts = {json.dumps(STATE['messages'])}</script>",
        "<script type='text/template'><p>{{name}} was leased by {{tenant}}, who pays every quarter.</p></script>",
        "<noscript><p>This page needs JavaScript, so turn it on and come again.</p></noscript>",
        '<script type=\'application/json\'>{"title": "Quarry of Holm", "body": </script>',
        f"<script type='application/json'>{'[' * 100_000}</script>",
    ],
)
def test_messages_and_empty_templates_are_no_text(body: str) -> None:
    assert text_of(f"{SCRIPTS}{body}") == ""


def test_a_short_page_is_not_replaced_by_what_its_scripts_carry() -> None:
    own = "<p>The quarry of Holm is closed until further notice.</p>"
    data = json.dumps({"others": STATE["others"], "messages": STATE["messages"]})
    assert "closed until" in text_of(
        f"<main><h1>Quarry</h1>{own}</main><script type='application/json'>{data}</script>"
    )


@pytest.mark.parametrize(
    "body",
    [
        "<template>" * 3_000 + BODY,
        "<nav>" * 3_000 + BODY,
        f"<script type='application/json'>{json.dumps([STATE] * 5_000)}</script>",
    ],
)
def test_very_much_that_is_carried_is_read_in_time(body: str) -> None:
    started = time.process_time()
    text_of(body)
    assert time.process_time() - started < 10
