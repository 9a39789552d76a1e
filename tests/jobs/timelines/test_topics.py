from __future__ import annotations

from datetime import date, timedelta

import pytest

from quern.jobs.timelines.build import granularity, keywords

FIRST = date(2024, 1, 1)


@pytest.mark.parametrize(
    ("days", "precisions", "unit"),
    [
        *((days, ["day"] * 2, unit) for days, unit in [(5, "day"), (100, "week"), (400, "month"), (2000, "quarter")]),
        (9000, ["day"] * 2, "year"),
        (0, ["year", "year", "day"], "year"),
        (0, ["year", "day"], "day"),
    ],
)
def test_the_unit_is_as_the_spread_of_events_and_no_finer_than_half_of_the_dates(
    days: int, precisions: list[str], unit: str
) -> None:
    assert granularity([FIRST, FIRST + timedelta(days)], precisions) == unit


def test_keywords_are_what_several_events_share() -> None:
    titles = ["Ferry strikes dredger", "Dredger fined over ferry", "Bridge opens"]
    assert keywords(["Lady Orrin", "Lady Orrin", "Skarrow"], titles, "Skarrow", 8) == ["Lady Orrin", "dredger", "ferry"]
