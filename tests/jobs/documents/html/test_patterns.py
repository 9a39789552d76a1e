"""Patterns read from XPath against XPath itself, on the mini-web and on markup made at random."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.etree import XPath
from lxml.html import HtmlElement, fromstring

from quern.jobs.documents.html import patterns
from quern.jobs.documents.html.parse import PageError, parse_page
from quern.jobs.documents.html.patterns import Pattern, Patterns, _with_shared_beginnings, every, quick

PAGES = Path(__file__).parents[3] / "corpus" / "pages"
_RE = {"re": "http://exslt.org/regular-expressions"}
# The library's own patterns as they are before they are replaced, from a process of its own.
_PRINTED = """
import json
from trafilatura import xpaths
from quern.jobs.documents.html.patterns import _ALL, _FIRST
print(json.dumps([(x.path, name in _FIRST) for name in (*_ALL, *_FIRST) for x in getattr(xpaths, name)]))
"""


@pytest.fixture(scope="module")
def library() -> list[tuple[XPath, Pattern | XPath, bool]]:
    """Each of trafilatura's patterns, as it is and quick, and whether only its first match counts."""
    printed = subprocess.run([sys.executable, "-c", _PRINTED], capture_output=True, text=True, check=True).stdout
    made = [(XPath(path, namespaces=_RE), first) for path, first in json.loads(printed)]
    return [(xpath, quick(xpath, first=first), first) for xpath, first in made]


def _trees() -> Iterator[HtmlElement]:
    for path in sorted(PAGES.rglob("*.html")):
        try:
            yield parse_page(path.read_bytes(), None)
        except PageError:
            continue


def test_patterns_of_the_library_find_what_xpath_finds_on_every_page(
    library: list[tuple[XPath, Pattern | XPath, bool]],
) -> None:
    found = 0
    for tree in _trees():
        for xpath, pattern, first in library:
            expected = xpath(tree)[:1] if first else xpath(tree)
            found += len(expected)
            assert pattern(tree)[: 1 if first else None] == expected, xpath.path
    assert found > 100
    assert sum(isinstance(pattern, Pattern) for _, pattern, _ in library) >= len(library) - 1


_VALUES = st.sampled_from(["", "cookie", "hidden", "reply-1", "x nav", "bottom", "link", "Teaser", "article", "post"])
_TAGS = st.sampled_from(["div", "p", "span", "section", "article", "main", "em"])


@st.composite
def _markup(draw: st.DrawFn) -> str:
    def element(depth: int) -> str:
        tag = draw(_TAGS)
        names = draw(st.lists(st.sampled_from(["id", "class", "style", "role", "title"]), unique=True))
        attributes = "".join(f' {name}="{draw(_VALUES)}"' for name in names)
        inner = "".join(element(depth + 1) for _ in range(draw(st.integers(0, 2)))) if depth < 3 else ""
        return f"<{tag}{attributes}>t{inner}</{tag}>"

    return f"<html><body>{element(0)}{element(0)}</body></html>"


@settings(max_examples=40, deadline=None)
@given(_markup())
def test_patterns_of_the_library_find_what_xpath_finds_in_random_markup(
    library: list[tuple[XPath, Pattern | XPath, bool]], markup: str
) -> None:
    tree = fromstring(markup)
    for xpath, pattern, first in library:
        assert pattern(tree)[: 1 if first else None] == (xpath(tree)[:1] if first else xpath(tree)), xpath.path


@settings(max_examples=40, deadline=None)
@given(_markup())
def test_several_patterns_find_in_one_walk_what_each_finds(
    library: list[tuple[XPath, Pattern | XPath, bool]], markup: str
) -> None:
    tree = fromstring(markup)
    several = [pattern for _, pattern, _ in library]
    assert Patterns(several)(tree) == [pattern(tree) for pattern in several]


_PARTS = st.sampled_from(["nav", "navbar", "na", "bar", "^sh", "share", "(?:x|y)z", "[ab]c", "-ad-", " ad ", "banner"])


@given(st.lists(_PARTS, min_size=1, max_size=6), st.text("abcdnrvshxyz -", max_size=12))
def test_words_with_shared_beginnings_are_found_where_they_were(parts: list[str], value: str) -> None:
    pattern = "|".join(parts)
    assert bool(re.search(_with_shared_beginnings(pattern), value)) == bool(re.search(pattern, value))


def test_a_choice_within_another_stays_as_it_is() -> None:
    assert _with_shared_beginnings("a|x(b|(c|d)e|f)|g") == "a|x(b|(c|d)e|f)|g"
    assert _with_shared_beginnings("share|shape|[a|b]c") == "share|shape|[a|b]c"
    assert _with_shared_beginnings("share|shape|^x") == "sha(?:re|pe)|^x"


def test_of_two_attributes_the_first_in_the_markup_is_tested() -> None:
    path = ".//*[re:test(@id|@class, 'cookie')]"
    tree = fromstring("<div><p id='a' class='cookie'>x</p><p class='cookie' id='a'>y</p></div>")
    pattern = quick(XPath(path, namespaces=_RE))
    assert isinstance(pattern, Pattern)
    assert [e.text for e in pattern(tree)] == ["y"] == [e.text for e in XPath(path, namespaces=_RE)(tree)]


@pytest.mark.parametrize(
    "path",
    [
        ".//*[@id='a' and @class='b']",
        ".//*[not(@id)]",
        ".//*[re:test(@id, '^$|a')]",  # an attribute that is absent would match
        ".//div//a[@href]",
        "//*[@id='a']",
        ".//*[contains(translate(@id, 'AB', 'a'), 'a')]",
        ".//*[@id='a'][1]",
        "(.//*[@id='a'])[1]|(.//main)[1]",
    ],
)
def test_a_pattern_of_another_form_stays_as_it_is(path: str) -> None:
    xpath = XPath(path, namespaces=_RE)
    assert quick(xpath) is xpath


def test_a_pattern_remembers_a_bounded_number_of_short_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_REMEMBERED", 4)
    pattern = quick(XPath(".//*[contains(@class, 'a')]"))
    values = [*(f"{n}" for n in range(9)), "a" * 1000]
    tree = fromstring("<div>" + "".join(f"<p class='{value}'>x</p>" for value in values) + "</div>")
    assert len(pattern(tree)) == 1
    held = pattern._held["class"]
    assert 0 < len(held) <= 4
    assert "a" * 1000 not in held


def test_every_match_of_a_pattern_that_names_the_first_is_found() -> None:
    tree = fromstring("<div><article>a</article><article>b</article></div>")
    (pattern,) = every([XPath("(.//article)[1]")])
    assert [e.text for e in pattern(tree)] == ["a", "b"]
