"""Dates and quantities in sentences."""

from __future__ import annotations

import json
import time
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quern.jobs.reasoning.questions.rewrite import spans
from quern.jobs.text.dates import dates, order_of
from quern.jobs.text.quantities import quantities
from tests.benchmarks.date_expressions import benchmark_dates


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
    days = "2024-06-03 2024-03-02 2023-01-01 2024-06-02 2023-12-20".split()
    assert [str(w.from_day) for w in dates(text, published)] == days
    assert [w.from_day for w in dates("on 2 March")] == [None]
    told, planned = dates("It was sold on 15 November.", published), dates("It will be sold on 15 November.", published)
    assert [str(w.from_day) for w in (*told, *planned)] == ["2023-11-15", "2024-11-15"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The hall burnt down on 2 March 2014; that year it was rebuilt.", "2014-01-01"),
        ("It sank on 2 March 2014, and the following day it was found.", "2014-03-03"),
        ("She left in 2013. The previous year she wed.", "2012-01-01"),
        ("On 2 March 2014 it sank; that week nobody sailed.", "2014-02-24"),
        ("On 2 March 2014 it sank; three weeks later it was raised.", "2014-03-23"),
    ],
)
def test_a_time_may_be_told_from_the_one_that_was_spoken_of_last(text: str, day: str) -> None:
    assert str(dates(text, date(2016, 11, 7))[-1].from_day) == day


PUBLISHED = datetime(2016, 11, 7, 16, 12)  # A Monday.


@pytest.mark.parametrize(
    ("text", "flaw", "day"),
    [
        ("31 February 2020", "impossible", "None"),
        ("am 30.02.2016", "impossible", "None"),
        ("2023年2月29日", "impossible", "None"),
        ("04/05/2016", "ambiguous", "2016-04-05"),
        ("Monday, 5 March 2024", "contradictory", "2024-03-05"),
        ("tomorrow, 13/04/21", "contradictory", "2021-04-13"),
        ("农历2015年十月初一", "lunar", "None"),
        ("今年春节", "lunar", "None"),
        ("on 9999-12-31", "", "9999-12-31"),
    ],
)
def test_what_is_wrong_or_unsure_is_told_and_not_guessed(text: str, flaw: str, day: str) -> None:
    assert [(w.flaw, str(w.from_day)) for w in dates(text, PUBLISHED)] == [(flaw, day)]


def test_day_and_month_are_ordered_by_the_other_dates_of_a_text() -> None:
    assert [str(w.from_day) for w in dates("04/05/2016", order="day first")] == ["2016-05-04"]
    assert [str(w.from_day) for w in dates("04/05/2016, 13/05/2016")] == ["2016-05-04", "2016-05-13"]
    assert [order_of(t) for t in ("13/05/2016", "05/13/2016", "04/05/2016")] == ["day first", "month first", None]


@pytest.mark.parametrize(
    ("text", "signal", "days"),
    [
        ("since 2011", "since", ("2011-01-01", "None")),
        ("until 5 May 2016", "until", ("None", "2016-05-05")),
        ("after 2011", "after", ("2011-12-31", "None")),
        ("2018年7月9日或之前", "until", ("None", "2018-07-09")),
    ],
)
def test_a_signal_opens_one_side(text: str, signal: str, days: tuple[str, str]) -> None:
    (found,) = dates(text)
    assert (found.signal, tuple(map(str, found.days))) == (signal, days)


_WORDS = (
    "may March 5 31 Feb 2019 30.02. 9999-12-31 10/1 0000-00-00 the of , . - / to from between 3pm last next week first "
    "twenty days ago in century early now Christmas Eve 年 月 日 2019年 29日 上周 初一 康熙 至 前 十 ² ٣"
).split()


@example(["9999-12-31", "to", "may"], " ", 1)
@given(st.lists(st.sampled_from(_WORDS), max_size=14), st.sampled_from(["", " "]), st.sampled_from([1, 2016, 9999]))
def test_hostile_text_gives_disjoint_spans_with_ordered_days(words: list[str], between: str, year: int) -> None:
    text, end = between.join(words), 0
    for when in dates(text, date(year, 12, 31)):
        assert end <= when.start < when.end
        assert text[when.start : when.end] == when.text
        assert (when.from_day is None) == (when.to_day is None) or when.flaw
        assert when.from_day is None or when.to_day is None or when.from_day <= when.to_day
        end = when.end


@pytest.mark.parametrize("run", ["1", "May 5 ", "in the ", "2019-", "twenty-", "first week of ", "3月", "十", " "])
def test_a_hundred_thousand_characters_take_seconds_not_minutes(run: str) -> None:
    started = time.process_time()
    dates(run * (100_000 // len(run)), PUBLISHED)
    assert time.process_time() - started < 10  # .05 to 2 on an idle core; what grows with the square takes minutes.


def test_figures_on_the_shared_cases_are_as_good_as_their_floors(shared: Path) -> None:
    floors = json.loads((Path(__file__).parents[2] / "floors.json").read_text("utf-8"))["date_expressions"]
    found = benchmark_dates(shared)
    assert {name: found[name] for name, floor in floors["at least"].items() if found[name] < floor} == {}
    assert {name: found[name] for name, most in floors["at most"].items() if found[name] > most} == {}


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


@pytest.mark.parametrize("reference", [date(1, 1, 1), date(2, 3, 1)])
@pytest.mark.parametrize("text", ["It was shut on 29 February.", "It was shut on 25 December.", "２9 February ２２3"])
def test_a_day_without_a_year_is_read_at_the_beginning_of_the_calendar(text: str, reference: date) -> None:
    (when,) = (w for w in dates(text, reference) if w.text.startswith(("2", "２")))
    assert when.from_day is None or when.from_day <= reference


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


@pytest.mark.parametrize(
    "text",
    [
        "at six in the morning, from six to nine o'clock in the evening, after six at night",
        "this week, last six weeks, the first six years, since last Saturday, five minutes and six miles",
        "in the first week of August, on Friday, in winter, since six days",
    ],
)
@pytest.mark.parametrize(("plain", "odd"), [("s", "ſ"), ("i", "ı"), ("i", "İ"), ("k", "\N{KELVIN SIGN}")])
def test_letters_that_match_another_end_no_rule(text: str, plain: str, odd: str) -> None:
    # Where case is ignored `ſ` is matched as `s` and `ı` as `i`: rules that look up what they match must stand that.
    changed, day = text.replace(plain, odd), date(2024, 5, 5)
    spans(changed, day)
    for found in (*dates(changed, day), *quantities(changed)):
        assert changed[found.start : found.end] == found.text
