"""Products that differ by a number, their tables, notices and lists: own small pages, answered by rule."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.kinds.units import MONEY, WEIGHTS
from quern.jobs.reasoning.answering.named_numbers import counts_nothing, names_numbered
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.confidence.fits.misfit import misfit
from quern.schemas.settings import AnswerSettings

SHEET_3 = ("Kiln 3: product sheet", "Weight | 19 kg\nHeating time | 40 minutes\nUp to six units fit on one Elm shelf.")
TEST = ("Kiln 5 and Ofen 2 side by side", "Measured | Kiln 5 | Ofen 2\nWeight | 23 kg | 27 kg\nNoise | 38 dB | 43 dB")
ORDER = ("Potters order kilns", "The school of Elm Cross has ordered 128 Kiln 3 table kilns for its rooms.")
RECALL = (
    "Kiln 3 recall",
    "Elm Cross, 9 May 2023. Owners of a Kiln 3 must change the plug. It must be changed by 28 February 2023.",
)
LATER = ("A letter on the Kiln 3", "Of the plugs 4,498 had been changed by the deadline of 28 February.")
BOX = (
    "Kiln 3: in the box",
    "What is in the box\n\n- a kiln with its plug\n- two tongs\n- a quick guide\n\n"
    "You need\n\n- a screwdriver\n- the sheet that comes with the plug",
)
PRICES = (
    "Prices",
    "Glazes, price per box of 50 in crowns\nGlaze | 2022 | 2023\nG20 red | 97 | 103\nG30 blue | 88 | 90",
)
DAYS = ("Canteen", "On Thursdays there are pancakes in the canteen. The canteen was painted on 7 October 2023.")


def given(question: str, *pages: tuple[str, str]) -> AnswerInput:
    """A question with these pages, published a day after each other."""
    found = [
        Evidence(text, title, [], [], datetime(2024, 5, 6 + n, tzinfo=UTC)) for n, (title, text) in enumerate(pages)
    ]
    return AnswerInput(question, found)


def short(question: str, *pages: tuple[str, str]) -> str:
    """The short answer by rule."""
    return answer_task(AnswerSettings()).rule(given(question, *pages)).short


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much does the Kiln 3 weigh?", "19 kg"),
        ("How heavy is the Kiln 3?", "19 kg"),
        ("How heavy is the Kiln 5?", "23 kg"),
        ("How much does the Ofen 2 weigh?", "27 kg"),
        ("How loud is the Ofen 2?", "43 dB"),
    ],
)
def test_a_table_of_another_number_answers_nothing(question: str, answer: str) -> None:
    assert short(question, TEST, SHEET_3, ORDER).startswith(answer)


def test_what_only_another_number_has_is_refused() -> None:
    asked = given("How heavy is the Kiln 4?", TEST, SHEET_3)
    found = misfit(asked, answer_task(AnswerSettings()).rule(asked))
    assert found is not None
    assert found.code == "other_entity"


def test_the_number_of_a_name_counts_nothing() -> None:
    assert short("How many Kiln 3 kilns has the school ordered?", ORDER).startswith("128")
    assert short("How many Kiln 3 kilns fit on one Elm shelf?", SHEET_3) == "six units"
    assert names_numbered("In May 2024 the Kiln 3 and the Ofen 2.5") == {("Kiln", "3"), ("Ofen", "2.5")}
    assert counts_nothing("Is it a Kiln 5?", "Two Kiln 3 kilns", 9)
    assert not counts_nothing("Is it a Kiln 5?", "In Elm 3 kilns", 7)


def test_a_day_is_told_with_the_year_that_another_page_writes() -> None:
    assert short("By what date had the plugs been changed?", RECALL, LATER) == "28 February 2023"


def test_the_place_and_day_that_head_a_report_date_nothing_in_it() -> None:
    told = (
        "A new head",
        "Elm Cross, 9 May 2023.\n\nIda Reed was named as head. She will take up the post of head on 1 July 2023.",
    )
    assert short("When did Ida Reed start as head?", told).startswith("1 July 2023")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What comes in the box with a Kiln 3?", "a kiln with its plug; two tongs; a quick guide"),
        ("What did a box of G20 red glaze cost in 2023?", "103 crowns (G20 red)"),
        ("On which day are there pancakes in the canteen?", "Thursdays"),
    ],
)
def test_lists_by_what_leads_to_them_prices_by_their_table_days_of_the_week(question: str, answer: str) -> None:
    assert short(question, BOX, PRICES, DAYS) == answer


def test_a_date_told_by_the_way_is_not_that_of_the_order() -> None:
    told = ("Order", "The clinic has just ordered 60 kilns for its new house, which opens in January 2025.")
    assert short("Did the clinic order kilns in 2024?", told).startswith("Yes")
    assert short("Did the clinic order kilns in 2024?", ("Order", "The clinic ordered 60 kilns in 2022.")).startswith(
        "No"
    )


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How big was the fine that they got?", Kind("how_much", units=MONEY)),
        ("What was the revenue of the mill in 2023?", Kind("how_much", frozenset({"revenu"}), MONEY)),
        ("How much does it weigh?", Kind("how_much", units=WEIGHTS)),
        ("How many crowns was it?", Kind("how_much", units=frozenset({"crown"}))),
        ("Which companies bid for the mill?", Kind("list", frozenset({"compani"}))),
        ("Which bank lends the mill the rest?", Kind("which", frozenset({"bank"}))),
    ],
)
def test_what_is_asked_for(question: str, kind: Kind) -> None:
    assert kind_of(question) == kind


def test_after_whom_needs_a_name() -> None:
    asked = given("What are the kilns named after?", ("Kilns", "The maker has called back 4,120 kilns."))
    assert misfit(asked, answer_task(AnswerSettings()).rule(asked)) is not None


RESULTS = ("The mill grows", "Million crowns | 2022 | 2023\nRevenue | 148.2 | 163.5\nProfit | 14.0 | 15.1")
CORRECTION = (
    "Correction",
    "Million crowns | As published 5 March | Corrected\nRevenue 2023 | 163.5 | 161.8\nof which service | 21.1 | 19.4",
)


def test_a_value_that_a_table_corrects_is_told_as_corrected() -> None:
    asked = "What was the revenue of the mill in 2023?"
    assert short(asked, RESULTS).startswith("163.5 million crowns")
    assert short(asked, RESULTS, CORRECTION).startswith("161.8 million crowns")
    assert short("What was the revenue of the mill in 2023 as first published?", RESULTS, CORRECTION).startswith(
        "163.5"
    )
    assert short("What was the revenue of the mill in 2022?", RESULTS, CORRECTION).startswith("148.2")
