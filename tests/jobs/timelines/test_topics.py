from __future__ import annotations

from datetime import date, timedelta

import pytest

from quern.jobs.text.names import name_key
from quern.jobs.timelines.build import granularity, keywords

FIRST = date(2024, 1, 1)


@pytest.mark.parametrize(
    ("days", "precision", "unit"),
    [(5, "day", "day"), (100, "day", "week"), (400, "day", "month"), (2000, "day", "quarter"), (9000, "day", "year")],
)
def test_the_spread_of_events_chooses_the_unit(days: int, precision: str, unit: str) -> None:
    assert granularity([FIRST, FIRST + timedelta(days)], [precision] * 2) == unit


def test_the_unit_is_no_finer_than_half_of_the_dates() -> None:
    assert granularity([FIRST, FIRST], ["year", "year", "day"]) == "year"
    assert granularity([FIRST, FIRST], ["year", "day"]) == "day"


def test_names_are_compared_without_titles_and_legal_forms() -> None:
    assert {name_key(n) for n in ("Dr Ilse Tarnow", "Ilse Tarnow", "ILSE TARNOW")} == {"ilse tarnow"}
    assert name_key("Apple Inc.") == name_key("the Apple") == "apple"
    assert name_key("听澜台")


def test_keywords_are_what_several_events_share() -> None:
    titles = ["Ferry strikes dredger", "Dredger fined over ferry", "Bridge opens"]
    assert keywords(["Lady Orrin", "Lady Orrin", "Skarrow"], titles, "Skarrow", 8) == ["Lady Orrin", "dredger", "ferry"]
