"""Digits of all scripts become ASCII digits; English number words become digits where the setting asks for it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quern.jobs.text.numbers import english_value, with_arabic_numbers, with_digits
from quern.schemas.settings import NormaliseSettings

WORDS = NormaliseSettings(number_words=True)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("٢٠٢٤", "2024"),
        ("۱۲۳", "123"),
        ("२०२४ में", "2024 में"),
        ("１２３", "123"),
        ("٣٫١٤ ٪ ٥٠٪", "3.14 ٪ 50%"),
        ("x²", "x²"),
    ],
)
def test_decimal_digits_of_any_script_become_ascii(text: str, plain: str) -> None:
    assert with_digits(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("twenty-five ferries", "25 ferries"),
        ("Two hundred and five guests", "205 guests"),
        ("one million two hundred thousand", "1200000"),
        ("three thousand", "3000"),
        ("one of them", "one of them"),
        ("a hundred", "a hundred"),
        ("one two three", "one two three"),
        ("twenty-five-year-old", "twenty-five-year-old"),
    ],
)
def test_english_numbers_of_two_words_and_more_become_digits(text: str, plain: str) -> None:
    assert with_arabic_numbers(text, "en", WORDS) == plain


def test_number_words_stay_by_default_and_in_other_languages() -> None:
    assert with_arabic_numbers("twenty-five", "en", NormaliseSettings()) == "twenty-five"
    assert with_arabic_numbers("twenty-five", "fr", WORDS) == "twenty-five"


def test_chinese_numerals_are_read_in_chinese_texts_only() -> None:
    assert with_arabic_numbers("三百人", "zh", NormaliseSettings()) == "300人"
    assert with_arabic_numbers("三百人", "ja", NormaliseSettings()) == "三百人"
    assert with_arabic_numbers("三百人", "zh", NormaliseSettings(chinese_numerals=False)) == "三百人"


@settings(deadline=None)
@given(st.integers(1, 999), st.sampled_from(["", " thousand", " million"]))
def test_written_english_numbers_are_read_back(number: int, scale: str) -> None:
    assert english_value(f"{_written(number)}{scale}") == number * {"": 1, " thousand": 10**3, " million": 10**6}[scale]


def _written(number: int) -> str:
    small = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
    )
    small += "seventeen eighteen nineteen".split()
    tens = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
    if number >= 100:
        rest = f" and {_written(number % 100)}" if number % 100 else ""
        return f"{small[number // 100]} hundred{rest}"
    if number < 20:
        return small[number]
    return tens[number // 10] + (f"-{small[number % 10]}" if number % 10 else "")


@settings(deadline=None)
@given(st.text())
def test_a_second_time_changes_nothing(text: str) -> None:
    once = with_digits(text)
    assert with_digits(once) == once
