"""Links of an element weighed as trafilatura weighs them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.html import fromstring
from trafilatura.htmlprocessing import link_density_test

from quern.jobs.documents.html.reading import _link_density

_WORDS = st.sampled_from(
    ["", " ", "tide", "more", "the board met on Tuesday and read the figures ", "x" * 99, "word " * 40]
)


@st.composite
def _blocks(draw: st.DrawFn) -> str:
    parts = draw(
        st.lists(st.tuples(st.sampled_from(["{}", "<ref>{}</ref>", "<p><ref>{}</ref></p>", "<p>{}</p>"]), _WORDS))
    )
    tag = draw(st.sampled_from(["div", "p", "list"]))
    parts = [(form, words) for form, words in parts if tag != "p" or "<p>" not in form]
    inner = "".join(form.format(words) for form, words in parts)
    return f"<section><{tag}>{inner}</{tag}>{draw(st.sampled_from(['', '<em>after</em>']))}</section>"


@settings(max_examples=300, deadline=None)
@given(_blocks())
def test_an_element_is_links_where_trafilatura_says_so(markup: str) -> None:
    element = fromstring(markup)[0]
    is_linked, is_short = link_density_test(element, element.tag == "p")
    found, short = _link_density(element)
    assert found == is_linked
    assert is_linked or short == is_short  # what is links is not asked for its length
