"""Values that measure others, hours of timetables, numbers by office, lists of people: own small pages, by rule."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.kinds.kind import OFTEN
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.answering.without_context import without_context
from quern.jobs.text.stems import content_words
from quern.schemas.settings import AnswerSettings

LAMPS = (
    "The new shade lets through 0.4 per cent of the glare, compared with 1.9 per cent for the shade on sale today. "
    "Rust was found on 9 of the 13 lamps of Elm Cross. "
    "The lamp house was painted in May at a cost of 81,000 crowns, which was 6,000 crowns below the estimate. "
    "A van will call at the lamp house every twenty minutes. "
    "The oil lamps went out twice."
)
BOATS = (
    "Leaves Elm Quay | Leaves Reed Island | Days\n08.15 | 09.20 | daily\n13.00 | 14.05 | daily\n17.45 | 18.50 | Sunday"
)
DESKS = (
    "The warden, Mr Jonas Reed, sees callers on Tuesdays.\n\n"
    "Desk | Telephone\nHarbour desk | 555-0801\nWarden of the fen | 555-0802\nSwitchboard | 555-0800"
)
GUESTS = (
    "Three painters have moved into the mill this spring. Zoe Lind, a Dane, paints only cellars. She sleeps late. "
    "Dr Ivo Aske is known for his barns. The third, the etcher Mara Quill, brings her own press. "
    "Each painter gets a stove."
)
FAIR = "Year | Place | Visitors\n2021 | Mill Green | 4,100\n2022 | Town Hall | 5,300\n2023 | Mill Green | 6,200"
OAK = "A red oak was planted at the gate in 1999. The miller's goat spends its nights under it."


def short(question: str, *texts: str, title: str | None = None) -> str:
    """The short answer by rule."""
    found = [Evidence(text, title, [], [], datetime(2024, 5, 6 + n, tzinfo=UTC)) for n, text in enumerate(texts)]
    return answer_task(AnswerSettings()).rule(AnswerInput(question, found)).short


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much of the glare does the new shade let through?", "0.4 per cent"),
        ("What share of the glare does the shade on sale today let through?", "1.9 per cent"),
        ("On how many lamps of Elm Cross was rust found?", "9"),
        ("How many lamps are there in Elm Cross?", "13 lamps"),
        ("How much did it cost to paint the lamp house?", "81,000 crowns"),
        ("How many crowns did the painting of the lamp house cost?", "81,000 crowns"),
        ("How far below the estimate was the cost of painting, in crowns?", "6,000 crowns"),
        ("How often does the van call at the lamp house?", "every twenty minutes"),
        ("How often did the oil lamps go out?", "twice"),
    ],
)
def test_what_measures_another_value_is_told_only_where_it_is_asked_for(question: str, answer: str) -> None:
    assert short(question, LAMPS) == answer


@pytest.mark.parametrize(
    ("question", "hour"),
    [
        ("When does the 13.00 from Elm Quay leave Reed Island?", "14.05"),
        ("When did the boat that left Elm Quay at 08.15 leave Reed Island again?", "09.20"),
        ("If I miss the 08.15, when is the next boat from Elm Quay?", "13.00"),
    ],
)
def test_an_hour_of_a_timetable_leads_to_the_one_beside_it(question: str, hour: str) -> None:
    assert short(question, BOATS).startswith(hour)


def test_the_number_of_somebody_is_that_of_his_office() -> None:
    assert short("What is the phone number of Mr Jonas Reed?", DESKS) == "555-0802 (Warden of the fen)"
    assert short("What is the phone number of the harbour desk?", DESKS).startswith("555-0801")


def test_people_who_are_counted_are_listed_by_name() -> None:
    assert short("Who are the three painters at the mill?", GUESTS) == "Zoe Lind; Dr Ivo Aske; Mara Quill"
    assert "Zoe Lind; Dr" not in short("Who are the four painters at the mill?", GUESTS)


def test_the_latest_of_a_table_by_years_is_that_of_the_last_year() -> None:
    before = "Some 4,900 visitors came to the Mill Fair on two days, the first fair of its kind."
    assert short("How many visitors did the most recent Mill Fair have?", FAIR, before).startswith("6,200")


def test_what_it_stands_for_is_told_where_that_is_asked_for() -> None:
    assert short("Under which oak does the miller's goat spend its nights?", OAK) == "red oak"


def test_how_often_is_told_from_how_many_times() -> None:
    assert kind_of("How often does it call?").verb == OFTEN
    assert kind_of("How many times does it call?").verb == ""


@pytest.mark.parametrize(
    ("question", "line", "left"),
    [
        (
            "Was the parade at Mill Fair cancelled in 2022?",
            "The parade of carts is cancelled.",
            "Was the parade cancelled?",
        ),
        (
            "Was the parade at Mill Fair cancelled in 2019?",
            "The parade of carts is cancelled.",
            "Was the parade cancelled in 2019?",
        ),
        ("Was the barn in Elm Cross sold in 2022?", "The barn was sold in 2020.", "Was the barn sold in 2022?"),
        (
            "Did the town pay for the Mill Fair tent?",
            "The town paid for everything.",
            "Did the town pay for the Mill Fair tent?",
        ),
        (
            "Was the song written by Elm Cross?",
            "The song was written by a miller.",
            "Was the song written by Elm Cross?",
        ),
        ("Was it sold before Mill Fair?", "It was sold.", "Was it sold before Mill Fair?"),
        ("Was the lamp lit when the fair began?", "The lamp was lit and was being watched.", "Was the lamp lit?"),
    ],
)
def test_a_line_is_read_without_the_names_and_times_that_its_page_says(question: str, line: str, left: str) -> None:
    known = content_words("Mill Fair 2022, Elm Cross. The fair began early. The parade of carts. The tent.")
    assert without_context(question, line, known) == left


def test_what_another_page_takes_back_decides_nothing() -> None:
    first = "The lamp of the mill had been out for an hour before the cart came, a first bulletin says."
    last = "The lamp of the mill was lit and was being watched. The claim that the lamp had been out was withdrawn."
    said = short("Had the lamp of the mill been out before the cart came?", first, last)
    assert said.startswith("No: The claim that the lamp had been out was withdrawn")
    assert short("Was the lamp of the mill lit?", first, last).startswith("Yes: The lamp of the mill was lit")


def test_what_two_come_to_together_is_added_up_where_no_sentence_says_it() -> None:
    fined = "The judge fined Brandt Mills 410,000 crowns and Okafor Line 240,000 crowns."
    asked = "What did the fines for the two firms add up to in crowns?"
    assert short(asked, fined) == "650,000 crowns (410,000 crowns and 240,000 crowns)"
    assert short("What did the fine for Okafor Line come to?", fined) == "240,000 crowns"
    assert short(asked, f"{fined} The fines for the two firms came to 640,000 crowns in total.") == "640,000 crowns"
    staff = "The two mills have 310 workers, of whom 40 are bakers."
    assert short("How many workers do the two mills have altogether?", staff) == "310 workers"


def test_a_height_is_no_width() -> None:
    told = "The gate of the mill is 7 metres tall. The path to the gate of the mill is two metres wide."
    assert short("How wide is the path to the gate of the mill?", told) == "two metres"
    assert short("How tall is the gate of the mill?", told) == "7 metres"
    given = AnswerInput("How wide is the gate?", [Evidence("The gate is 7 metres tall.", None, [], [])])
    assert answer_task(AnswerSettings()).rule(given).short != "7 metres"


def test_speed_is_no_past() -> None:
    for asked in ("What top speed will the cart reach?", "What will be the top speed of the cart?"):
        assert kind_of(asked).units == kind_of("What is the top speed of the cart?").units


def test_a_number_by_office_is_no_deputys_and_of_nobody_else() -> None:
    desks = "Desk | Telephone\nDeputy warden | 555-0801\nWarden | 555-0802\nSwitchboard | 555-0800"
    asked = "What is the phone number of Jonas Reed?"
    assert short(asked, f"Jonas Reed, the warden, sees callers on Tuesdays.\n\n{desks}").startswith("555-0802")
    for text in (
        "The warden, Mrs Ida Reed, sees callers. Jonas Reed is the cook.",
        "The former warden, Jonas Reed, left.",
    ):
        assert "Warden" not in short(asked, f"{text}\n\n{desks}").partition(" (")[2]


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "How much money was raised for the roof?",
            "The roof appeal raised 4,000 crowns over the weekend.",
            "4,000 crowns",
        ),
        ("On how many days did the ferry run?", "The ferry ran on 9 of the 13 days.", "9"),
        ("How often does the van call?", "The van calls three times a day.", "three times a day"),
    ],
)
def test_time_and_rates_are_no_differences(question: str, text: str, answer: str) -> None:
    assert short(question, text) == answer


def test_an_hour_is_asked_for_of_what_goes_by_a_timetable() -> None:
    asked = "When will the driver of the 7.52 train return to work?"
    told = "The driver of the 7.52 train will return to work on 5 June 2025. The 7.52 leaves at 8.04 on Sundays."
    assert short(asked, told).startswith("5 June 2025")
    assert short("When does the 14.05 from Elm Quay get to Reed Island?", BOATS) != "13.00"
