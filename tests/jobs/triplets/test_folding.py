"""Which names are one entity, and which are kept apart."""

from __future__ import annotations

import time
from itertools import groupby

import pytest

from quern.jobs.text.names import name_key
from quern.jobs.triplets.entities import Folded, Known, Names, Page, Told, address_name, folded


def entities(pages: dict[str, Page], *told: tuple[str, str, str, str]) -> dict[Known, Folded]:
    """Of `(document, subject, relation, object)`."""
    rows = [
        Told(f"t{n}", doc, subject, relation, value, value if value[:1].isupper() else "")
        for n, (doc, subject, relation, value) in enumerate(told)
    ]
    names = Names(rows, pages)
    documents = groupby(sorted(rows, key=lambda row: row.doc_id), lambda row: row.doc_id)
    mentions = (mention for _, some in documents for mention in names.mentions([*some]))
    return folded([*mentions, *names.titles()])


def known(name: str) -> Known:
    return Known(name_key(name))


def test_short_forms_and_aliases_are_forms_of_the_full_name() -> None:
    found = entities(
        {"a": Page("Harbour", ""), "b": Page("News", "")},
        ("a", "Lorcan Tighe", "is", "a vet"),
        ("a", "Tighe", "lives in", "Skarrow"),
        ("b", "Tighe", "met", "the mayor"),
        ("a", "Harbour Conservation Board", "is known as", "HCB"),
        ("b", "HCB", "closed", "the quay"),
        ("a", "University of Brannock", "hired", "Brannock"),
    )
    assert found[known("Lorcan Tighe")].forms.keys() == {"Lorcan Tighe", "Tighe"}
    assert found[known("Tighe")].documents == {"b"}, "another document's Tighe may be another"
    assert {"HCB", "Harbour Conservation Board"} <= found[known("Harbour Conservation Board")].forms.keys()
    assert known("Brannock") in found, "a place is not the university that is named for it"


def test_a_name_with_a_page_of_its_own_is_nobodys_alias_because_another_page_says_so() -> None:
    pages = {"b": Page("The Harbour Board", "board.example"), "s": Page("Casino", "spam.example")}
    claim = ("Lucky Casino", "is known as", "Harbour Board")
    found = entities(pages, ("b", "Harbour Board", "closed", "the quay"), ("s", *claim))
    assert found[known("Harbour Board")].documents == {"b", "s"}
    assert known("Lucky Casino") in found
    assert list(entities({"b": Page("Harbour Board", "")}, ("b", *claim))) == [known("Lucky Casino")]


def test_who_shares_a_name_is_kept_apart_where_pages_say_so() -> None:
    pages = {
        "p": Page("Mercury (planet)", "sky.example"),
        "e": Page("Mercury (element)", "lab.example"),
        "s": Page("A night out", "sky.example"),
        "n": Page("News", "news.example"),
    }
    found = entities(pages, *((doc, "Mercury", "has", f"{n} grams") for n, doc in enumerate(pages)))
    assert {one.apart: folds.documents for one, folds in found.items()} == {
        "planet": {"p", "s"},
        "element": {"e"},
        "": {"n"},
    }


def test_the_name_in_an_address_that_led_elsewhere_is_a_form() -> None:
    assert address_name("https://wiki.example/wiki/Old_Lady.html") == "Old Lady"
    assert [address_name(key) for key in ("doc:Report_17", "doc://[x", "http://[x/Lady")] == ["", "", ""]
    found = entities({"w": Page("Lady Orrin", "", ("Old Lady",))}, ("w", "Lady Orrin", "is", "a ferry"))
    assert found[known("Lady Orrin")].forms.keys() == {"Lady Orrin", "Old Lady"}


@pytest.mark.parametrize("title", ["", "Mercury (part {n})"])
def test_a_name_on_every_page_costs_what_the_pages_cost(title: str) -> None:
    pages = {f"d{n}": Page(title.format(n=n), f"s{n}.example") for n in range(12_000)}
    before = time.process_time()
    kinds = ("a lawyer", "a town", "6 moons", "9 moons")
    found = entities(pages, *((doc, "Mercury", "is", kinds[n % 4]) for n, doc in enumerate(pages)))
    assert len(found) == (12_000 if title else 1)
    assert time.process_time() - before < 3  # Some .3; where they cost their square, from 4 to 15.
