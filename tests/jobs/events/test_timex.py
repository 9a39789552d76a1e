from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.events.timex import of_days, period

DAYS = st.dates(date(1000, 1, 1), date(2999, 12, 31))


@given(DAYS, st.integers(0, 5000))
def test_a_value_means_the_days_that_it_was_written_of(first: date, length: int) -> None:
    last = first + timedelta(length)
    days = period(of_days(first, last))
    assert days
    assert (days.from_day, days.to_day) == (first, last)


@pytest.mark.parametrize(
    "value", ["2024-03-02", "2024-W09", "2024-03", "2024-Q1", "2024-SP", "2024-WI", "2024-H2", "2024", "198X"]
)
def test_units_of_the_calendar_have_short_values(value: str) -> None:
    days = period(value)
    assert days is not None
    assert of_days(days.from_day, days.to_day) == value


# The Sunday of the last week of 9999 is in no calendar.
@pytest.mark.parametrize(
    "value",
    [
        *"2024-02-30 0000 2024-W54 2024-3-2 2024/2023 2024/2025/2026 9999-W52".split(),
        "",
        pytest.param("/" * 5000, id="slashes"),
    ],
)
def test_what_is_in_no_calendar_is_no_value(value: str) -> None:
    assert period(value) is None


@pytest.mark.parametrize("value", ["9999-12", "999X"])
def test_a_value_at_the_end_of_the_calendar_ends_there(value: str) -> None:
    assert getattr(period(value), "to_day", None) == date.max
