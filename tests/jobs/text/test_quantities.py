"""Quantities as exact spans with what they mean."""

from __future__ import annotations

import pytest

from quern.jobs.text.quantities import quantities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("They were frozen at minus 28 degrees.", [(-28.0, "degree", "minus 28 degrees")]),
        ("It fell to -5 °C and \u22127.5 degrees.", [(-5.0, "degree", "-5 °C"), (-7.5, "degree", "\u22127.5 degrees")]),
        ("Minus twenty degrees were read.", [(-20.0, "degree", "Minus twenty degrees")]),
        ("Pages 5-7 of the report.", [(7.0, "", "7")]),
        ("- 28 boats", [(28.0, "boat", "28 boats")]),
    ],
)
def test_a_minus_belongs_to_the_number_behind_it(text: str, found: list[tuple[float, str, str]]) -> None:
    assert [(q.value, q.unit, q.text) for q in quantities(text)] == found
    assert all(text[q.start : q.end] == q.text for q in quantities(text))


def test_a_minus_between_two_numbers_is_no_sign() -> None:
    assert [q.value for q in quantities("Ten crowns minus 3 crowns is seven.")][:2] == [10.0, 3.0]
