"""Who only speaks of it, whom the question names, and rows of something else are no answers: own small pages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.reading import Reader
from quern.jobs.reasoning.answering.task import Draft, Statement, answer_task
from quern.jobs.reasoning.confidence.features import asked
from quern.jobs.reasoning.confidence.fits.misfit import misfit
from quern.jobs.reasoning.confidence.judge import judged
from quern.schemas.settings import AnswerSettings
from tests.jobs.reasoning.confidence.fits.test_misfit import DoubtsAll, reason

GOAT = (
    'Somebody let the goat into the mill. "The gate was open," said Berta Quill, the mill\'s head of grinding. '
    "Union convener Ivo Lund said that he had seen it."
)
BOX = "Miller | Berta Quill (since 2003)\nWheel | 5.2 metres"
DESKS = "Desk | Telephone\nRegistrar of births | 555-0801\nHarbour desk | 555-0802\nSwitchboard | 555-0800"
FOG = "Month | Mornings with fog\nJanuary | 3\nMarch | 14\nMay | 2"


@pytest.mark.parametrize(
    ("question", "refused"),
    [
        ("Who let the goat into the mill?", True),
        ("Who said that the gate was open?", False),
        ("Who is the head of grinding at the mill?", False),
        ("Which union convener had seen the goat?", False),
    ],
)
def test_who_speaks_of_it_did_not_do_it(question: str, refused: bool) -> None:
    said = "Ivo Lund" if "convener" in question else "Berta Quill"
    line = 3 if "convener" in question else 2
    given = AnswerInput(question, [Evidence(GOAT, "The goat", [], [])])
    draft = Draft(sentences=[Statement(text=said, rests_on=[line])])
    assert (misfit(given, draft) is not None) == refused


def test_whom_the_question_names_is_not_whom_it_asks_for() -> None:
    assert reason("Who was the miller at Orford before Berta Quill took over in 2003?", BOX) == "other_entity"
    assert reason("Who is the miller at Orford?", BOX) is None


def test_a_sentence_without_anybody_names_nobody_where_it_is_doubted() -> None:
    text = "1822: the brig Constant is lost with nineteen souls. Rye is milled."
    question = "Who was the captain of the brig Constant?"
    given = AnswerInput(question, [Evidence(text, "Wrecks", [], [])], reader=Reader(DoubtsAll(), 0.6))
    found = misfit(given, Draft(sentences=[Statement(text="The brig is lost.", rests_on=[1])]))
    assert found is not None
    assert found.detail == "What was found names nobody."


@pytest.mark.parametrize(
    ("question", "table", "refused"),
    [
        ("On how many mornings in October is there fog?", FOG, "other_time"),
        ("On how many mornings in March is there fog?", FOG, None),
        ("What is the telephone number of the registrar of deaths?", DESKS, "other_entity"),
        ("What is the telephone number of the registrar of births?", DESKS, None),
        ("What is the telephone number of the registrar?", DESKS, None),
    ],
)
def test_a_row_answers_what_its_label_names(question: str, table: str, refused: str | None) -> None:
    assert reason(question, table, "Orford") == refused


@pytest.mark.parametrize(
    ("question", "text", "refused"),
    [
        ("How much does a pitch at the fair cost?", "The hall was painted in May at a cost of 9,000 crowns.", True),
        ("How much did it cost to paint the hall?", "The hall was painted in May at a cost of 9,000 crowns.", False),
        ("From when was the mill to have one price for flour?", "There will be one price for flour from May.", False),
        ("What was the result of the test of the saws?", "Foresters will test the saws from March.", True),
        ("How often did the van call at the mill?", "A van will call at the mill every ten minutes.", False),
        (
            "How many hours of talk had the mill recorded?",
            "The mill opened in March and intends to collect 300 hours of talk.",
            True,
        ),
    ],
)
def test_prices_and_plans(question: str, text: str, refused: bool) -> None:
    assert (reason(question, text, "The mill") is not None) == refused


def test_what_one_pays_is_told_by_the_price() -> None:
    text = "Handcarts are 3 crowns each way, barrows 5 crowns."
    given = AnswerInput(
        "What do you pay to take a barrow?",
        [Evidence(text, "Carts", [], [])],
        reader=Reader(DoubtsAll(), 0.6),
    )
    assert misfit(given, Draft(sentences=[Statement(text="5 crowns", rests_on=[1])])) is None


def test_a_list_of_as_many_as_the_question_says_stands_though_it_is_doubted() -> None:
    text = "I hear of three bidders. One is a fund. One is the management. The third is Elm Mills, which would learn."
    found = [Evidence(text, "Bids", [], [], datetime(2024, 5, 6, tzinfo=UTC))]

    def refused(question: str) -> bool:
        given = AnswerInput(question, found, reader=Reader(DoubtsAll(), 0.6))
        (judgement,) = judged([given], [answer_task(AnswerSettings()).rule(given)], AnswerSettings())
        return judgement.refused

    assert not refused("Who were the three bidders for the mill?")
    assert refused("Who were the four bidders for the mill?")


def test_our_wiki_is_called_as_its_site_is() -> None:
    points = asked("In which year did Millwiki make the same mistake?")
    page = Evidence("Our wiki made the mistake in 2019.", "Mistakes", [], [], site="millwiki.example")
    assert points.names
    assert points.names <= points.words_of(page)


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        ("Who wrote the song?", 'The song was a hit. "I wrote it in one night," said Ada Lind.', "Ada Lind"),
        ("Who let the goat into the mill?", "It was Berta Quill, said the police of the mill.", "Berta Quill"),
        ("Who won the match between Ada Lind and Bo Reed?", "The winner of the match was Ada Lind.", "Ada Lind"),
        ("Who won the vote, Lind or Reed?", "The winner of the vote was Ada Lind.", "Lind"),
    ],
)
def test_who_speaks_of_himself_or_is_one_of_two_offered_stands(question: str, text: str, said: str) -> None:
    line = text.count(".") if "said Ada" in text else 1
    given = AnswerInput(question, [Evidence(text, "News", [], [])])
    assert misfit(given, Draft(sentences=[Statement(text=said, rests_on=[line])])) is None


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("What is the date of his birth?", "Date of birth | 5 June 1920\nPlace of birth | Orford"),
        ("What is the height of the old tower?", "Height of the tower | 40 metres\nWidth | 6 metres"),
        ("What is the number of pupils?", "Number of students | 40\nNumber of rooms | 6"),
        ("Which month has the most mornings with fog after January?", FOG),
    ],
)
def test_what_a_measure_is_of_may_be_said_in_other_words(question: str, table: str) -> None:
    given = AnswerInput(question, [Evidence(table, "Orford", [], [])])
    draft = answer_task(AnswerSettings()).rule(given)
    found = misfit(given, draft)
    assert found is None or found.code == "only_related"


def test_other_people_of_the_same_number_are_not_listed_for_those_asked_for() -> None:
    text = "Three painters came in spring. Zoe Lind paints cellars. Ivo Aske paints barns. Mara Quill paints mills."
    for question in ("Who were the three surgeons of 1950?", "Which dishes did the three painters like?"):
        given = AnswerInput(question, [Evidence(text, "Elm mill", [], [])])
        assert "Zoe Lind; Ivo Aske" not in answer_task(AnswerSettings()).rule(given).short
    more = "Three speakers came. Mayor Ann Field met them. Bob Stone spoke. Carl Reed spoke. Dora Quill spoke."
    given = AnswerInput("Who were the three speakers?", [Evidence(more, "Elm mill", [], [])])
    assert ";" not in answer_task(AnswerSettings()).rule(given).short


@pytest.mark.parametrize(
    ("question", "text", "refused"),
    [
        ("How many children were able to attend the fair?", "The fair will welcome 300 children.", True),
        ("How did visitors travel to the mill?", "Visitors will travel to the mill by boat.", False),
    ],
)
def test_what_was_possible_is_no_plan(question: str, text: str, refused: bool) -> None:
    assert (reason(question, text, "The fair") is not None) == refused
