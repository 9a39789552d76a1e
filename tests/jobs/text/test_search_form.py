"""Texts are searched in one form of characters and numbers, whatever form they are quoted in."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.text.search_form import SearchForm, places, plain_characters
from quern.schemas.settings import NormaliseSettings

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
    forms = [SearchForm(), as_it_is, SearchForm(NormaliseSettings(personal_data="keep", noise_phrases=("x",)))]
    assert [form.configuration() == SearchForm().configuration() for form in forms] == [True, False, True]


def test_a_column_keeps_its_nulls() -> None:
    assert SearchForm().column(pa.array(["a", None, "第三次"])).to_pylist() == ["a", None, "第3次"]
    assert SearchForm().column(pa.array(["a", None])).to_pylist() == ["a", None]


@given(ODD)
def test_the_form_of_a_form_is_itself(text: str) -> None:
    once = SearchForm()(text)
    assert SearchForm()(once) == once


@given(st.text(alphabet=st.sampled_from("ab .\n1２三。😀\u200d\xad（２\ufe0f✔")))
def test_plain_characters_are_found_again_in_the_text(text: str) -> None:
    plain = plain_characters(text, noise=True)
    at = places(text, plain)
    assert at[len(plain)] == len(text)
    assert [plain_characters(text[n], noise=False) for n in at[:-1]] == list(plain)
