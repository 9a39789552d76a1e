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
OTHER = "".join(
    f"<p>Another page of the parish tells of the school, part {n}, and of all that is taught there.</p>"
    for n in range(9)
)
STATE = {
    "messages": {"cookies": "We keep cookies so that the page can be shown, and you may forbid that at any time."},
    "page": {"title": "Quarry of Holm", "slug": "quarry", "body": BODY},
    "others": [{"title": "School of Holm", "body": OTHER}],
}


def text_of(body: str) -> str:
    page = f'<html lang="en"><head><title>Quarry of Holm</title></head><body>{body}</body></html>'
    return str(extract_page(page.encode(), "https://holm.example/quarry", "utf-8")["text"])


@pytest.mark.parametrize(
    "body",
    [
        f"<header><nav>{MENU}<main><h1>Quarry of Holm</h1>{BODY}</main>",
        f"<nav>{MENU}<div><h1>Quarry of Holm</h1>{BODY}</div>",
        f"<nav><ul><li><a href=/>Home</a><li><a href=/map>Map</a><article>{BODY}</article>",
        f"<header><div>{MENU}</div><h1>Quarry of Holm</h1>{BODY}<footer>Parish of Holm</footer>",
        f"<footer>{MENU}<article><h1>Quarry of Holm</h1>{BODY}</article>",
        f"<select><option>English<option>Dansk<main>{BODY}</main>",
    ],
)
def test_an_element_that_was_not_closed_loses_no_text(body: str) -> None:
    assert text_of(body).split("\n") == [*LINES]


def test_a_menu_that_is_closed_stays_out() -> None:
    teasers = "<p>Read what the parish says of the school and of the road, each in one line or in two of them.</p>"
    text = text_of(f"<nav>{MENU}{teasers}</nav><main><h1>Quarry of Holm</h1>{BODY * 2}</main>")
    assert "what the parish says" not in text


@pytest.mark.parametrize(
    "body",
    [
        f"<script type='text/template'>{BODY}</script>",
        f"<script type='text/x-template'>{BODY}</script><noscript>{BODY}</noscript>",
        f"<noscript><div><p>Please turn JavaScript on.</p>\n{BODY}</div></noscript>",
        f"<template>{BODY}</template>",
        f"<script id=__NEXT_DATA__ type='application/json'>{json.dumps({'props': {'pageProps': STATE}})}</script>",
        f"<script>window.__STATE__ = {json.dumps(STATE)};</script>",
    ],
)
def test_a_text_that_scripts_would_show_is_read_once(body: str) -> None:
    found = text_of(f"<nav>{MENU}</nav><div id=app></div>{body}")
    assert found.split("\n") == [*LINES]


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
    assert text_of(f"<nav>{MENU}</nav><div id=app></div>{body}") == ""


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
