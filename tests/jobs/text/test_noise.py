"""Emoji, format characters and lines that ask for a click go; what looks like them and is text stays.

Texts are searched in one form of characters and numbers, whatever form they are quoted in.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.text.noise import without_emoji, without_noise
from quern.jobs.text.search_form import SearchForm, places, plain_characters
from quern.schemas.settings import NormaliseSettings


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ab😀c", "abc"),
        ("👩‍👩‍👧‍👦 family", " family"),
        ("🇩🇪 flag", " flag"),
        ("👍🏽 thumb", " thumb"),
        ("1️⃣ First", "1 First"),
        ("❤️ heart ☺️", " heart "),
        ("soft\u00adhyphen\u200b and \u202eorder", "softhyphen and order"),
        ("icon \ue001 font", "icon  font"),
    ],
)
def test_emoji_and_format_characters_go(text: str, plain: str) -> None:
    assert without_emoji(text) == plain


@pytest.mark.parametrize(
    "text", ["می\u200cخواهم", "क्\u200dष", "ක්\u200dර", "© 2024 ™ № → ½ €", "日本語、한국어", "a ☐ b ✓ c ★", "3 × 4 ≤ 13"]
)
def test_joiners_inside_words_and_text_symbols_stay(text: str) -> None:
    assert without_emoji(text) == text


@pytest.mark.parametrize(
    "line",
    (
        "Read More|READ MORE »|[Continue reading…]|Click to Continue|Share this|Share on Facebook, Twitter|阅读全文|"
        "点击查看更多>>|展开全文|责任编辑：李明|Read more: The ferry sails again|"
        "Please enable JavaScript to view the comments"
    ).split("|"),
)
def test_a_line_that_asks_for_a_click_goes(line: str) -> None:
    assert without_noise(line) == ""


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("The ferry sank. Read more", "The ferry sank."),
        ("The ferry sank… [Read more »]", "The ferry sank…"),
        ("渡轮停航。阅读全文", "渡轮停航。"),
    ],
)
def test_the_end_of_a_line_that_asks_for_a_click_goes(line: str, plain: str) -> None:
    assert without_noise(line) == plain


@pytest.mark.parametrize(
    "line",
    (
        "Children should read more|They share this view.|We learn more from failure than from success.|"
        "Sponsored events were cancelled.|大家都在阅读全文的时候|Print this page was the button's label."
    ).split("|"),
)
def test_a_sentence_with_those_words_stays(line: str) -> None:
    assert without_noise(line) == line


def test_a_long_line_takes_no_long_time() -> None:
    line = "read more " * 100_000
    assert without_noise(line).startswith("read more")


ODD = st.text(alphabet=st.sampled_from("ab .,\n1２三十年个，。！か한😀\u200d\xad（）２\ufe0f✔"))


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("The ferry（No．３）sailed 🚢 twice.", "The ferry(No.3)sailed  twice."),
        ("一共三百六十盏，装了十九天。嘉庆十二年重修！", "一共360盏，装了19天。嘉庆十二年重修！"),
        ("第三次", "第3次"),
        ("三百円だったので、買いました。", "三百円だったので、買いました。"),
        ("《もののけ姫》是宫崎骏一九九七年执导的动画电影", "《もののけ姫》是宫崎骏1997年执导的动画电影"),
        ("co\xadoperate ٢٠٢٤", "cooperate 2024"),
        ("twenty-five boats", "twenty-five boats"),
    ],
)
def test_numbers_and_widths_are_unified(text: str, searched: str) -> None:
    assert SearchForm()(text) == searched


def test_what_is_unified_is_a_setting() -> None:
    as_it_is = SearchForm(NormaliseSettings(noise=False, chinese_numerals=False))
    assert as_it_is("三百个 😀") == "三百个 😀"
    assert SearchForm(NormaliseSettings(punctuation="all"))("今天，晴。") == "今天, 晴。"
    assert without_noise("Weiterlesen »", ("Weiterlesen",)) == ""
    forms = [SearchForm(), as_it_is, SearchForm(NormaliseSettings(personal_data="keep", noise_phrases=("x",)))]
    assert [form.configuration() == SearchForm().configuration() for form in forms] == [True, False, True]


@given(ODD)
def test_the_form_of_a_form_is_itself(text: str) -> None:
    once = SearchForm()(text)
    assert SearchForm()(once) == once


@given(st.text(alphabet=st.sampled_from("ab .\n1２三。😀\u200d\xad（２\ufe0f✔")))
def test_plain_characters_are_found_again_in_the_text(text: str) -> None:
    plain = plain_characters(text)
    at = places(text, plain)
    assert at[len(plain)] == len(text)
    assert [plain_characters(text[n]) for n in at[:-1]] == list(plain)
