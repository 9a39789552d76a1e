"""Numbers are compared by value, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.text.numbers import possible_numbers, stated_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,200 people and nine boats", {1200, 9}),
        ("1.2 million, of which 1,200,", {1_200_000, 1200}),
        ("twenty-five, two hundred and five", {25, 205}),
        ("a twelve-year-old", {12}),
        ("on 2024-05-03 at 9:30", {2024, 5, 3, 9.3}),
        ("the 3rd of May", {3}),
        ("一共三百六十盏，花了5800万元", {360, 58_000_000}),
        ("１２ or ٣", {12, 3}),
        ("one of them, once", set()),
        ("", set()),
    ],
)
def test_a_text_states_numbers_by_value(text: str, numbers: set[float]) -> None:
    assert stated_numbers(text) == numbers
    assert stated_numbers(text) <= possible_numbers(text)


def test_a_source_may_state_more_than_a_sentence_must_have() -> None:
    assert possible_numbers("the third, twice, one 61.7 million") >= {3, 2, 1, 61.7, 61_700_000}
    assert 30 in possible_numbers("开了三十年")


@given(st.integers(0, 10**9))
def test_separators_make_no_difference(number: int) -> None:
    assert stated_numbers(f"{number:,} seats") == stated_numbers(f"{number} seats") == {float(number)}
