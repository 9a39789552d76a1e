"""Dates and quantities in sentences."""

from __future__ import annotations

from datetime import date

import pytest

from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It opened on Saturday 2 March 2024.", [("Saturday 2 March 2024", "2024-03-02", "2024-03-02", "day")]),
        ("From 22 to 24 August 2025 it rains.", [("22 to 24 August 2025", "2025-08-22", "2025-08-24", "range")]),
        ("by the end of October 2024", [("the end of October 2024", "2024-10-21", "2024-10-31", "month")]),
        ("between 2022 and 2025", [("2022 and 2025", "2022-01-01", "2025-12-31", "range")]),
        ("in the spring of 2024", [("the spring of 2024", "2024-03-01", "2024-05-31", "season")]),
        ("It may march on; 1931 books were lost.", []),
        ("二〇二四年三月二日开馆，2025年底关闭", [
            ("二〇二四年三月二日", "2024-03-02", "2024-03-02", "day"),
            ("2025年底", "2025-09-01", "2025-12-31", "year"),
        ]),
    ],
)  # fmt: skip
def test_a_date_is_read_with_its_precision(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert [(w.text, str(w.from_day), str(w.to_day), w.precision) for w in dates(text)] == expected
    assert all(text[w.start : w.end] == w.text for w in dates(text))


def test_what_a_date_leaves_open_is_read_against_the_day_of_publication() -> None:
    published = date(2024, 6, 5)  # A Wednesday.
    text = "On Monday the ship that sank on 2 March was raised; last year three days ago was 20 December."
    assert [str(w.from_day) for w in dates(text, published)] == [
        "2024-06-03",
        "2024-03-02",
        "2023-01-01",
        "2024-06-02",
        "2023-12-20",
    ]
    assert [w.from_day for w in dates("on 2 March")] == [None]
    told, planned = dates("It was sold on 15 November.", published), dates("It will be sold on 15 November.", published)
    assert [str(w.from_day) for w in (*told, *planned)] == ["2023-11-15", "2024-11-15"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.2 million crowns, or £3.2m", [("1.2 million crowns", 1_200_000, "crown"), ("£3.2m", 3_200_000, "pound")]),
        ("Nine of 28 stay cables", [("Nine", 9, ""), ("28 stay cables", 28, "cable")]),
        ("The Hopper 3 struck at 7.52am on 2 March 2024", [("7.52am", 7 + 52 / 60, "o'clock")]),
        ("two years and six months, half an hour", [
            ("two years and six months", 2.5, "year"),
            ("half an hour", 0.5, "hour"),
        ]),
        ("the 61-metre ferry, 18 per cent longer", [("61-metre", 61, "metre"), ("18 per cent", 18, "per cent")]),
        ("No one knows the first of them, and not one book is lost.", []),
        ("每斤1680元，百分之十八，三百六十盏灯", [
            ("1680元", 1680, "yuan"),
            ("百分之十八", 18, "per cent"),
            ("三百六十盏", 360, "盏"),
        ]),
    ],
)  # fmt: skip
def test_a_quantity_has_its_value_and_its_unit(text: str, expected: list[tuple[str, float, str]]) -> None:
    assert [(q.text, q.value, q.unit) for q in quantities(text)] == expected
    assert all(text[q.start : q.end] == q.text for q in quantities(text))
