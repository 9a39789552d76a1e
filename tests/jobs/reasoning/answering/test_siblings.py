"""Values that one sentence sets beside each other: each is said of what stands in its own clause."""

from __future__ import annotations

import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.parts.contrast import contrasted
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.questions.comparisons import pair
from quern.schemas.settings import AnswerSettings

PARTED = "On the Gold plan deleted mailboxes are kept 30 days; on the Platinum plan 180 days; Silver keeps 7 days."
JOINED = "The API limit is 900 requests per minute on Platinum and 120 requests per minute on Gold."
ELIDED = "A day ticket costs 12 crowns for adults, 6 for children, and 9 crowns for pensioners."
RESPECTIVE = "The Harbour and the Castle tours take 45 and 90 minutes respectively."
YEARS = "The first ferry was launched in 1952 and the second in 1961."
WHOLE = "The mill was built for 900 crowns, and the repair of its wheel cost 3,100 crowns."
BESIDE = "The warranty is two years, but not for batteries, which have six months."
BRACKETS = "It was formed on 1 October 2024 by the merger of Odell Mills (founded in 1968) and Rusk (founded in 1931)."
CHINESE = "金牌套餐的邮箱保留30天；白金套餐保留180天。南塔建于1201年，而北塔建于1288年。"
LIST = "Seats in the cinemas:\n- Odeon: 310 seats\n- Rex: 128 seats\n- Lux: 95 seats"
TABLE = "Plan | Price | Storage\nGold | 12 euros | 50 GB\nPlatinum | 30 euros | 200 GB"


def short(question: str, text: str) -> str:
    given = AnswerInput(question, [Evidence(text, None, [], [])])
    return answer_task(AnswerSettings()).rule(given).short


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("How long are deleted mailboxes kept on the Gold plan?", PARTED, "30 days"),
        ("How long are deleted mailboxes kept on the Platinum plan?", PARTED, "180 days"),
        ("How long are deleted mailboxes kept on Silver?", PARTED, "7 days"),
        ("How many requests per minute are allowed on Gold?", JOINED, "120 requests"),
        ("How many requests per minute are allowed on Platinum?", JOINED, "900 requests"),
        ("How much is a day ticket for adults?", ELIDED, "12 crowns"),
        ("How much is a day ticket for pensioners?", ELIDED, "9 crowns"),
        ("How long does the Harbour tour take?", RESPECTIVE, "45"),
        ("How long does the Castle tour take?", RESPECTIVE, "90 minutes"),
        ("When was the second ferry launched?", YEARS, "1961"),
        ("When was the first ferry launched?", YEARS, "1952"),
        ("How much did it cost to build the mill?", WHOLE, "900 crowns"),
        ("How much did the repair of the mill's wheel cost?", WHOLE, "3,100 crowns"),
        ("How long is the warranty on batteries?", BESIDE, "six months"),
        ("How long is the warranty on tools?", BESIDE, "two years"),
        ("When was Odell Mills founded?", BRACKETS, "1968"),
        ("When was Rusk founded?", BRACKETS, "1931"),
        ("When was the merger of Odell Mills and Rusk?", BRACKETS, "1 October 2024"),
        ("金牌套餐的邮箱保留多久？", CHINESE, "30天"),
        ("白金套餐的邮箱保留多久？", CHINESE, "180天"),
        ("北塔建于哪一年？", CHINESE, "1288年"),
        ("How many seats does the Rex have?", LIST, "128 seats"),
        ("How much does the Platinum plan cost?", TABLE, "30 euros (Platinum)"),
    ],
)
def test_a_value_is_told_of_what_stands_in_its_own_clause(question: str, text: str, answer: str) -> None:
    assert short(question, text) == answer


APPROVERS = "Recovery takes two approvers from the customer's own admins and a waiting time of 24 hours."


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("How many approvers does the recovery of a two-factor device take?", APPROVERS, "two approvers"),
        ("How many admins does the recovery need?", "Recovery takes 24 hours and costs 30 euros.", ""),
        ("How many cars does the ferry hold?", "Capacity | 280 passengers, 36 cars", "36 cars (Capacity)"),
    ],
)
def test_a_count_is_a_number_of_what_is_counted(question: str, text: str, answer: str) -> None:
    said = short(question, text)
    assert said == answer or (not answer and said == text)


@pytest.mark.parametrize(
    "question",
    [
        "Which is higher and by how much, the API limit on Platinum or on Gold?",
        "Which is higher, the API limit on Platinum or on Gold, and by how much?",
        "Which is lower, the API limit of Platinum or Gold?",
    ],
)
def test_both_values_of_one_sentence_are_compared(question: str) -> None:
    compared = pair(question)
    assert compared is not None
    given = AnswerInput(question, [Evidence(JOINED, None, [], [])])
    found = contrasted(given, compared.questions, ["", ""], compared.word)
    assert [side.text for side in found] == ["900 requests", "120 requests"]
