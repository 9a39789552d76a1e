"""What holds of evidence that contradicts itself: the later, unless a page tells a value as denied or as of before."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.superseded import _is_denied, stage
from quern.jobs.reasoning.answering.task import Draft, answer_task
from quern.jobs.reasoning.answering.typed.value import Value
from quern.schemas.settings import AnswerSettings

FELT = "Felt soaked in brine was found to keep 71 per cent of the moths from the granary of Elm Cross."
RETRACTED = (
    "Felt soaked in brine was reported in 2019 to keep 71 per cent of the moths from the granary, but the paper was "
    "retracted. A second trial found that it kept 22 per cent away."
)


def drafted(question: str, *pages: tuple[int, str], title: str = "The granary of Elm Cross") -> Draft:
    """The answer by rule to `question` from pages of these years."""
    found = [Evidence(text, title, [], [], datetime(year, 5, 6, tzinfo=UTC)) for year, text in pages]
    return answer_task(AnswerSettings()).rule(AnswerInput(question, found))


@pytest.mark.parametrize("order", [1, -1])
def test_a_later_page_that_tells_a_value_as_retracted_does_not_bear_it_out(order: int) -> None:
    pages = [(2019, FELT), (2021, RETRACTED)][::order]
    draft = drafted("What share of the moths does felt soaked in brine really keep from the granary?", *pages)
    assert draft.short.startswith("22 per cent")
    assert "retracted" in " ".join(s.text for s in draft.sentences)


def test_what_is_denied_is_told_with_what_holds_instead() -> None:
    said = "The fire in the granary of Elm Cross was believed to come from Copper Lane."
    found = "The report says that the fire did not come from Copper Lane. A lamp fell over in the yard of Anvil Street."
    draft = drafted("Where did the fire in the granary actually come from?", (2019, said), (2020, found))
    assert draft.short == "Anvil Street"
    assert draft.sentences[2].text == "The report says that the fire did not come from Copper Lane."
    claim = "The pump of the granary appears to have been locked for an hour."
    end = "A statement that the pump had been locked was withdrawn. The pump of the granary was open but dry."
    asked = "What was actually the matter with the pump of the granary?"
    assert "locked" in drafted(asked, (2019, claim)).short
    assert "dry" in drafted(asked, (2019, claim), (2020, end)).short


def test_the_latest_of_several_is_told_with_the_earlier_in_order() -> None:
    pages = [(2019 + n, f"{hurt} people were hurt in the fire of the granary.") for n, hurt in enumerate((14, 16, 17))]
    asked = "How many people were hurt in the fire of the granary?"
    assert drafted(asked, pages[1], pages[2], pages[0]).short == "17 people (earlier: 14 people, then 16 people)"
    assert drafted(asked.replace("How", "At first, how"), *pages).short == "14 people"
    elsewhere = (2022, "Four people were hurt in a storm on the lake, and the inn was shut.")
    assert drafted(asked, pages[0], elsewhere).short == "14 people"


def test_what_was_planned_before_is_not_when_it_will_be() -> None:
    old = "The granary of Elm Cross will open again in October 2024."
    new = "The granary had been due to open in October 2024. It will open again in March 2025."
    assert (
        drafted("When will the granary open again?", (2023, old), (2024, new)).short
        == "March 2025 (earlier: October 2024)"
    )
    planned = "When was the granary first due to open?"
    assert drafted(planned, (2024, "The granary had been due to open in October 2024.")).short == "October 2024"
    raised = "The fee of the granary was raised from 1 May 2024."
    assert drafted("When was the fee of the granary raised?", (2024, raised)).short == "1 May 2024"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What did the bridge cost in the end?", "last"),
        ("Who really paid?", "last"),
        ("What was originally to be paid?", "first"),
        ("When did barnacles first appear?", ""),
    ],
)
def test_a_question_says_whether_the_beginning_or_the_end_is_asked_for(question: str, asked: str) -> None:
    assert stage(question) == asked


def test_of_a_hundred_thousand_characters_of_values_each_is_held_against_what_is_near_it() -> None:
    text = "It had been due in 71 months, " * 3_500
    found = [Value(m.start(), m.end(), "71", 1.0, "71") for m in re.finditer("71", text)]
    started = time.process_time()
    assert all(_is_denied(value, text) for value in found)
    assert time.process_time() - started < 5.0
