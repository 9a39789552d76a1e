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
    'Somebody let the goat into the mill. "Our gate was open," said Berta Quill, the mill\'s head of grinding. '
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
    assert content_of_name(points.names) <= points.words_of(page)


def content_of_name(names: frozenset[str]) -> frozenset[str]:
    """The stems of a name, which there must be."""
    assert names
    return names
