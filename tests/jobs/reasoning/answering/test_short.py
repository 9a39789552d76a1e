from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.task import answer_task
from quern.schemas.settings import AnswerSettings

MILL = (
    "The windmill on Tarn Hill was built in 1811 by Josef Arndt, a joiner from Elm Cross. "
    "It is 19 metres tall and holds 240 sacks of rye. "
    "On Friday its wheel broke because a starling had nested in the gears. "
    "The repair cost 3,100 crowns and lasted nine days. "
    "The mill was not insured."
)
CHINESE = "塔恩山上的磨坊建于1811年，由木匠王大力建造。磨坊高19米。修理费是3100克朗。"


def short(question: str, *texts: str, title: str | None = "The mill on Tarn Hill") -> str:
    """The short answer by the rule; the pages were published on Monday 6 May 2024 and a day later each."""
    found = [Evidence(text, title, [], [], datetime(2024, 5, 6 + n, tzinfo=UTC)) for n, text in enumerate(texts)]
    given = AnswerInput(question, found)
    return answer_task(AnswerSettings(min_score=0.0)).rule(given).short


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the windmill on Tarn Hill built?", "1811"),
        ("Who built the windmill?", "Josef Arndt"),
        ("How tall is the windmill on Tarn Hill?", "19 metres"),
        ("How many sacks of rye does the windmill hold?", "240 sacks"),
        ("How much did the repair of the windmill cost?", "3,100 crowns"),
        ("How long did the repair of the windmill last?", "nine days"),
        ("Was the mill insured?", "No"),
        ("Did the repair cost 3,100 crowns?", "Yes"),
        ("Did the repair cost 4,500 crowns?", "No"),
    ],
)
def test_the_short_answer_is_what_is_asked_for(question: str, answer: str) -> None:
    assert short(question, MILL) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("磨坊建于哪一年？", "1811年"),
        ("磨坊是谁建造的？", "王大力"),
        ("磨坊多高？", "19米"),
        ("修理费是多少克朗？", "3100克朗"),
    ],
)
def test_chinese_is_answered_in_short(question: str, answer: str) -> None:
    assert short(question, CHINESE, title=None) == answer


def test_a_day_of_the_week_is_told_as_the_date_that_it_was() -> None:
    assert short("When did the wheel of the windmill break?", MILL) == "3 May 2024 (Friday)"
