"""A quote is found again on its page, whatever markup, references and escapes it is written with there."""

from __future__ import annotations

import json

import pytest

from quern.pipelines.inspect.show import place_on_page

HTML = "text/html"


@pytest.mark.parametrize(
    ("quote", "body", "there"),
    [
        ("The ferry sailed.", "<p>The <b>ferry</b>\n sailed.</p>", "The <b>ferry</b>\n sailed."),
        ("Fish & chips: 5 €", "<p>Fish &amp; chips:&nbsp;5 &#8364;</p>", "Fish &amp; chips:&nbsp;5 &#8364;"),
        ("a | b", "<tr><td>a</td><td>b</td></tr>", "a</td><td>b"),
        ("5 < 6", "<script>5 < 6</script><!-- 5 < 6 --><p>5 < 6</p>", "5 < 6"),
        ("To [EMAIL] now", "<p>To <a href='x'>a@b.example</a> now</p>", "To <a href='x'>a@b.example</a> now"),
        ("第一次", "<p>这是第一次</p>", "第一次"),
    ],
)
def test_a_quote_is_found_behind_markup(quote: str, body: str, there: str) -> None:
    place = place_on_page(quote, body, HTML)
    assert place is not None
    assert body[slice(*place)] == there
    assert place_on_page("not said", body, HTML) is None


def test_a_line_of_json_says_its_text_with_escapes_read() -> None:
    text = 'He said "第一次"\n\U0001f6a2 and left.'
    body = json.dumps({"doc_id": "d", "text": text})
    place = place_on_page('"第一次"\n\U0001f6a2', body, "application/json")
    assert place is not None
    assert json.loads(f'"{body[slice(*place)]}"') == '"第一次"\n\U0001f6a2'


@pytest.mark.parametrize("body", ["", "<", "<p", "&", "&#x110000;", "&#99999999;", "<script>", "\\u12"])
@pytest.mark.parametrize("kind", [HTML, "text/plain", "application/json", None])
def test_broken_bodies_have_no_place_for_a_quote(body: str, kind: str | None) -> None:
    assert place_on_page("a quote", body, kind) is None
    assert place_on_page(" | ", body, kind) is None
