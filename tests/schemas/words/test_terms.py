"""Words for full-text search."""

from hypothesis import given
from hypothesis import strategies as st

from quern.schemas.words.terms import search_terms


def test_words_are_lower_case_and_numbers_stay():
    assert search_terms("In 2026, Hailey moved to House 12B.") == "in 2026 hailey moved to house 12b"


def test_a_camel_case_name_is_followed_by_its_parts():
    assert search_terms("LiHua met YuxuanFan") == "lihua li hua met yuxuanfan yuxuan fan"
    assert search_terms("HTMLParser") == "htmlparser html parser"


def test_capitalised_words_and_acronyms_are_not_split():
    assert search_terms("NASA's PDFs, Alice") == "nasa pdfs alice"


def test_a_possessive_is_left_out_with_either_apostrophe():
    assert search_terms("Hailey's and Li’s") == "hailey and li"


def test_diacritics_and_full_width_forms_are_folded():
    assert search_terms("Café Müller, ＡＢＣ") == "cafe muller abc"


def test_underscores_separate_words():
    assert search_terms("20260408_08:38") == "20260408 08 38"


def test_runs_of_chinese_japanese_and_korean_become_pairs_of_characters():
    assert search_terms("北京大学") == "北京 京大 大学"
    assert search_terms("東京タワー") == "東京 京タ タワ ワー"
    assert search_terms("한국어") == "한국 국어"


def test_a_single_chinese_character_stays():
    assert search_terms("我 ok") == "我 ok"


def test_marks_inside_words_of_other_scripts_stay():
    assert search_terms("हिन्दी भाषा") == "हिन्दी भाषा"


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
