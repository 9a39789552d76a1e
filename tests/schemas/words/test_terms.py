"""Words for full-text search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.schemas.words.terms import search_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("In 2026, Hailey moved to House 12B.", "in 2026 hailey moved to house 12b"),
        ("LiHua met YuxuanFan", "lihua li hua met yuxuanfan yuxuan fan"),  # A name is followed by its parts.
        ("HTMLParser", "htmlparser html parser"),
        ("NASA's PDFs, Alice", "nasa pdfs alice"),
        ("Hailey's and Li’s", "hailey and li"),
        ("Café Müller, ＡＢＣ", "cafe muller abc"),
        ("20260408_08:38", "20260408 08 38"),
        ("北京大学", "北京 京大 大学"),  # Of scripts without spaces pairs of characters.
        ("東京タワー", "東京 京タ タワ ワー"),
        ("한국어", "한국 국어"),
        ("我 ok", "我 ok"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
    ],
)
def test_terms_of(text, terms):
    assert search_terms(text) == terms


def test_title_and_text_are_joined_and_nulls_left_out():
    assert search_terms("Title", None, "", " !! ", "text") == "title text"


@given(st.lists(st.none() | st.text()))
def test_words_are_separated_by_single_spaces(texts):
    terms = search_terms(*texts)
    assert terms == " ".join(terms.split())


@given(st.text(st.characters(codec="latin-1")))
def test_words_of_words_are_the_same_words(text):
    terms = search_terms(text)
    assert search_terms(terms) == terms


@given(st.text(), st.text())
def test_words_of_two_texts_are_the_words_of_each(one, other):
    assert search_terms(one, other).split() == search_terms(one).split() + search_terms(other).split()
