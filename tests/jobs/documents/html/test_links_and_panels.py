"""Links that are text, and parts of a page that readers open."""

# ruff: noqa: E501 - markup on one line is easier to read than markup cut up

from __future__ import annotations

import pytest
from lxml import html

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.documents.html.links import free_links
from quern.jobs.documents.html.panels import show_panels

PAGE = "https://muehle.example/heute"
BEFORE = "<p>Die Mühle steht seit dreihundert Jahren am Bach, und seit hundert Jahren mahlt niemand mehr darin.</p>"
AFTER = "<p>Im Garten wachsen Quitten, die keiner erntet, weil keiner mehr weiß, was man damit macht.</p>"


def text_with(markup: str) -> str:
    page = f"<html><body><article><h1>Die Mühle</h1>{BEFORE}{markup}{AFTER}{BEFORE}</article></body></html>"
    return str(extract_page(page.encode(), PAGE, None)["text"])


@pytest.mark.parametrize(
    ("href", "words"),
    [
        ("https://anders.example/x", "Zur Geschichte der Mühlen am Bach"),
        ("/karte.pdf", "Die Karte"),
        ("/karte.pdf?fassung=2", "Die Karte"),
        ("/karte.pdf#seite=3", "Die Karte"),
        ("mailto:lore@muehle.example", "lore"),
        ("/x", "www.muehle.example"),
    ],
)
def test_links_to_works_files_and_mailboxes_are_text(href: str, words: str) -> None:
    tree = html.fromstring(f'<div><p><a href="{href}">{words}</a></p></div>')
    free_links(tree, PAGE)
    assert tree.find(".//a") is None
    assert tree.text_content() == words


@pytest.mark.parametrize(
    ("href", "words"),
    [
        ("/gestern", "Was gestern in der Mühle am Bach geschah"),
        ("https://www.muehle.example/gestern", "Was gestern in der Mühle am Bach geschah"),
        ("https://anders.example/", "Anderes Blatt"),
        ("https://www.facebook.com/muehle", "Folgen Sie der Mühle am Bach"),
        ("https://anders.example/share?url=x", "Teilen Sie das mit Ihren Freunden"),
        ("#oben", "Nach oben auf dieser Seite hier"),
        ("http://[", "Eine Adresse, die keine Adresse ist"),
    ],
)
def test_ways_around_the_site_stay_links(href: str, words: str) -> None:
    tree = html.fromstring(f'<div><p><a href="{href}">{words}</a></p></div>')
    free_links(tree, PAGE)
    assert tree.find(".//a") is not None


def test_a_list_of_works_elsewhere_is_read_and_one_of_other_pages_is_not() -> None:
    names = ("Zur Geschichte der Mühlen am Bach", "Steg und Wehr im Wandel der Zeit", "Das Mahlwerk und seine Steine")
    elsewhere = "".join(f'<li><a href="https://w{i}.test/">{name}</a></li>' for i, name in enumerate(names))
    here = "".join(f'<li><a href="/w{i}">{name}</a></li>' for i, name in enumerate(names))
    assert names[1] in text_with(f"<h2>Quellen</h2><ul>{elsewhere}</ul>")
    assert names[1] not in text_with(f"<h2>Mehr</h2><ul>{here}</ul>")


def test_answers_that_a_style_hides_below_their_questions_are_read() -> None:
    answer = (
        '<h3>Frage {0}?</h3><div class="antwort" style="display: none"><p>Antwort {0} ist Mehl und Wasser.</p></div>'
    )
    text = text_with(answer.format(1) + answer.format(2))
    assert "Antwort 1 ist Mehl" in text
    assert "Antwort 2 ist Mehl" in text


def test_the_rest_of_a_text_behind_a_control_and_a_tab_beside_a_shown_one_are_read() -> None:
    rest = '<div style="display:none"><p>Der Rest vom Mehl ist hier.</p></div><a href="#" onclick="x()">mehr</a>'
    assert "Der Rest vom Mehl" in text_with(rest)
    tabs = '<div class="tab-pane"><p>Sonntags ist offen.</p></div><div class="tab-pane" style="display:none"><p>{}</p></div>'
    assert "Fünf Euro kostet es." in text_with(tabs.format("Fünf Euro kostet es."))


@pytest.mark.parametrize(
    "markup",
    [
        '<div style="display:none"><p>Eine Fassung für Telefone.</p></div>',
        '<h3>Suche</h3><div class="panel" style="display:none"><form>Ein Feld für Wörter.</form></div>',
        '<a href="#m">Anmelden</a><div id="m" class="modal" style="display:none"><p>Bitte melden Sie sich an.</p></div>',
        '<div aria-hidden="true"><p>Nur ein Schmuck der Seite.</p></div>',
    ],
)
def test_what_nothing_opens_and_what_asks_for_something_stays_hidden(markup: str) -> None:
    tree = html.fromstring(f"<div>{markup}</div>")
    show_panels(tree)
    assert html.tostring(tree, encoding="unicode") == html.tostring(
        html.fromstring(f"<div>{markup}</div>"), encoding="unicode"
    )


def test_a_form_around_the_text_and_a_fact_box_are_read() -> None:
    links = "".join(f'<a href="/{i}">Ein langer Verweis auf Seite {i} mit vielen Worten</a>' for i in range(30))
    wrapped = f"<html><body><div>{links}</div><form><h1>Mühle</h1>{BEFORE}{AFTER}</form></body></html>"
    assert "Quitten" in extract_page(wrapped.encode(), PAGE, None)["text"]
    assert "Nur sonntags." in text_with("<aside><h4>Gut zu wissen</h4><p>Nur sonntags.</p></aside>")


def test_a_standfirst_without_a_full_stop_is_read() -> None:
    lead = "Die Mühle am Bach bleibt, sagt der Rat, und das Wehr auch"
    page = f"<html><body><article><h1>Die Mühle</h1><div class='intro'>{lead}</div><div>{BEFORE}{AFTER}</div></article></body></html>"
    assert lead in extract_page(page.encode(), PAGE, None)["text"]


def test_a_teaser_that_leads_nowhere_is_the_pages_own_standfirst() -> None:
    own = '<div class="teaser-text"><p>Der Rat hat entschieden, dass die Mühle bleibt.</p></div>'
    other = '<div class="teaser-text"><a href="/x"><p>Der Rat hat entschieden, dass die Mühle bleibt.</p></a></div>'
    assert "Der Rat hat" in text_with(own)
    assert "Der Rat hat" not in text_with(other)
