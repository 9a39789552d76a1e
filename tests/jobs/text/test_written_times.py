"""Times as people write them in files."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from quern.jobs.text.written_times import written_time

DAY = datetime(2024, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    (
        "2024-05-03|20240503|2024/05/03|2024.05.03|2024. 05. 03.|3.5.2024|03.05.2024|03.05.24|3. Mai 2024|3 mai 2024|"
        "Freitag, 3. Mai 2024|May 3, 2024|May 3rd, 2024|3 May 2024|03-May-2024|3-May-24|2024-May-03|3 de mayo de 2024|"
        "3 maja 2024|3 мая 2024 г.|3 Μαΐου 2024|2024. május 3.|3 Mayıs 2024|2024年5月3日|２０２４年５月３日|"
        "3 मई 2024|3 พฤษภาคม 2024|ngày 3 tháng 5 năm 2024|2024年5月3日 星期五|2024년 5월 3일|Fri May 03 2024|"
        "Fri 3.5.2024"
    ).split("|"),
)
def test_a_day_is_read_as_people_write_it(text: str) -> None:
    assert written_time(text) == DAY


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        ("03.05.2024 14:05", 14, 5),
        ("3. Mai 2024, 14:05 Uhr", 14, 5),
        ("3.5.2024 klo 14.05", 14, 5),
        ("3 mai 2024 à 14h05", 14, 5),
        ("May 3, 2024 at 2:05 PM", 14, 5),
        ("2024年5月3日 下午2:05", 14, 5),
        ("20240503140500", 14, 5),
        ("2024-05-03 10:00:00", 10, 0),
        ("2024-05-03+02:00", 0, 0),
        ("Fri, 03 May 2024 10:00:00 +0200", 8, 0),
        ("Fri May  3 10:00:00 CEST 2024", 8, 0),
        ("Fri May 03 2024 10:00:00 GMT+0200 (Central European Summer Time)", 8, 0),
    ],
)
def test_a_time_of_day_and_its_zone_are_read(text: str, hour: int, minute: int) -> None:
    assert written_time(text) == DAY.replace(hour=hour, minute=minute)


@pytest.mark.parametrize(
    ("text", "day_first", "day"),
    [
        ("11/28/97", None, datetime(1997, 11, 28, tzinfo=UTC)),
        ("28-11-97 14:05", None, datetime(1997, 11, 28, 14, 5, tzinfo=UTC)),
        ("11/28/97", True, datetime(1997, 11, 28, tzinfo=UTC)),
        ("11/28/2031", True, datetime(2031, 11, 28, tzinfo=UTC)),
        ("02/30/97", None, None),
    ],
)
def test_a_day_in_digits_that_is_one_in_one_order_alone_is_read_in_that(
    text: str, day_first: bool | None, day: datetime | None
) -> None:
    assert written_time(text, day_first) == day


def test_a_name_that_languages_give_two_months_is_read_in_the_language_of_the_text() -> None:
    months = [written_time("3 listopada 2024", None, language) for language in (None, "pl", "hr")]
    assert [one.month if isinstance(one, datetime) else None for one in months] == [None, 11, 10]


def test_a_year_of_two_digits_is_last_save_in_the_languages_that_have_it_first() -> None:
    assert written_time("24.12.25") == written_time("24.12.25", False, "de") == datetime(2025, 12, 24, tzinfo=UTC)
    for text, language in (("24. 12. 25.", "ko-KR"), ("24. 12. 25. 오전 0:00", None), ("24. 12. 25.", "hu")):
        assert written_time(text, language=language) == datetime(2024, 12, 25, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    "31.06.2024|2024-06-31|soon|May 2024|2024|12:30|3 5 2024|Invoice 3 May 2024|May 3rd|13/13/2024|99999999|1.1.1|"
    "3 May 2024 25:00|3 May 2024 14:05 PM|3 May June 2024|v1.2.2024|2024-W05|20240503112|2024050311230|"
    "3.5.2024 10:00-11:30|2024-05-03 14:00-15:30|12 May 2024 10:00 foo|1.2.2024.1|31.04.2024|$12.50".split("|"),
)
def test_what_is_no_day_is_none(text: str) -> None:
    assert written_time(text) is None


def test_a_hostile_value_costs_no_time() -> None:
    began = time.process_time()
    for unit in ("9", " ", "(", "1 ", "1.", "2024-", "1:11 ", "mai ", "ﷺ", "٣"):
        assert written_time(unit * (100 // len(unit))) is None
        assert written_time(unit * 5_000_000) is None
    assert time.process_time() - began < 2
