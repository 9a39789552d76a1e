"""Parts of a question by rule: conjunctions, comparisons, the order of two events."""

from __future__ import annotations

import time

import pytest

from quern.jobs.reasoning.questions.decompose import DECOMPOSE, Decomposition, Relation, decomposed, plan_of
from quern.jobs.reasoning.questions.plan import Plan, SubQuestion, clauses, comparison, parts
from quern.jobs.tasks.prompts import QuestionInput
from quern.jobs.tasks.runner import Reasoner


def texts(question: str) -> list[str]:
    return [sub.text for sub in parts(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Which plant makes the tubing, and who manages it?",
            ["Which plant makes the tubing?", "Who manages it? (#1)"],
        ),
        ("What is the fee and when is it due?", ["What is the fee?", "When is it due? (What is the fee)"]),
        ("Was the fee higher in 2023 than in 2024?", ["Was the fee higher in 2023?", "Was the fee higher in 2024?"]),
        (
            "Did the library open before the old museum closed?",
            ["When: Did the library open?", "When: the old museum closed?"],
        ),
    ],
)
def test_explicit_parts_are_asked_alone(question: str, expected: list[str]) -> None:
    assert texts(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What are the terms and conditions?",
        "How do I pay for parking and charging?",
        "谁建造了磨坊？",
        "Does #1 cost more than #2?",
        "which " * 500,
    ],
)
def test_a_question_that_asks_one_thing_stays_whole(question: str) -> None:
    assert texts(question) == []


@pytest.mark.parametrize(
    ("question", "less", "in_time", "verdict"),
    [
        ("Which came first, the fire or the flood?", True, True, False),
        ("Is the Maren longer than the Orrin?", False, False, True),
        ("Did the fire break out after the bridge had opened?", False, True, True),
    ],
)
def test_what_is_compared_and_how(question: str, less: bool, in_time: bool, verdict: bool) -> None:
    found = comparison(question)
    assert found is not None
    assert (found.less, found.in_time, found.verdict) == (less, in_time, verdict)


def test_a_parent_is_filled_in_by_its_answer_or_by_its_words() -> None:
    plan = Plan("q", parts("Which plant makes the tubing, and who manages it?"))
    assert plan.filled(2, {1: "Lindhall."}) == "Who manages it? (Lindhall)"
    assert plan.filled(2, {}) == "Who manages it? (Which plant makes the tubing)"
    assert plan.filled(2, {1: "a sentence that says more than a name could ever say here"}) == plan.filled(2, {})


def test_all_parts_that_the_question_asks_for_are_told_and_steps_on_the_way_are_not() -> None:
    question = "Which plant makes the tubing, and who manages it?"
    assert Plan(question, parts(question)).asked() == [1, 2]
    chain = (SubQuestion("Which country produced it?"), SubQuestion("When did #1 join?", (1,)))
    assert Plan("When did the country that produced it join?", chain).asked() == [2]


@pytest.mark.parametrize(
    ("texts", "pairs", "reason"),
    [
        (["Who is A?", "When was #1 born?"], [(1, 2), (2, 1)], "cyclic"),
        (["Who is A?", "Who is A?"], [], "duplicate"),
        (["Who is A?", "When was #3 born?"], [(1, 2)], "dangling"),
        (["Who is A?", " "], [], "blank"),
        ([f"Who is {n}?" for n in "ABCDEFG"], [], "too_many"),
    ],
)
def test_a_plan_of_a_model_that_does_not_hold_is_refused(
    texts: list[str], pairs: list[tuple[int, int]], reason: str
) -> None:
    said = Decomposition(
        is_complex=True, sub_queries=texts, parent_child=[Relation(parent=p, child=c) for p, c in pairs]
    )
    checked = DECOMPOSE.check(QuestionInput("When was A born?"), said)
    assert checked.good is None
    assert [p.reason for p in checked.problems] == [reason]


def test_a_reference_makes_a_parent_and_is_renumbered_where_a_sub_question_is_dropped() -> None:
    texts = ["Is it raining somewhere?", "Which plant makes the tubing?", "Who manages #2?"]
    said = Decomposition(is_complex=True, sub_queries=texts, parent_child=[])
    question = "Who manages the plant that makes the tubing?"
    checked = DECOMPOSE.check(QuestionInput(question), said)
    assert checked.good is not None
    plan = plan_of(question, checked.good)
    assert [(s.text, s.parents) for s in plan.sub_questions] == [(texts[1], ()), ("Who manages #1?", (1,))]


def test_hostile_questions_are_read_in_no_time() -> None:
    started = time.monotonic()
    for text in ("which more " * 2000, "who and " * 3000, "a " * 5000 + "than b", "(" * 9999, "is " + ", or " * 3000):
        with Reasoner() as reasoner:
            assert len(decomposed(reasoner, [text])) == 1
    assert len(clauses("; ".join(["one two three four"] * 50))) == 4
    assert time.monotonic() - started < 2.0


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Did Mara order pylons before Tomas closed the ferry?", ["Did Mara order pylons", "Tomas closed the ferry"]),
        ("How long between Mara ordering pylons and Tomas closing it?", ["Mara ordering pylons", "Tomas closing it"]),
        ("玛拉订购塔架之后，托马斯关闭了渡口吗？", ["玛拉订购塔架", "托马斯关闭了渡口吗"]),
        ("Who mended the bridge after 1990?", []),
    ],
)
def test_a_question_is_cut_where_two_events_are_joined(question: str, expected: list[str]) -> None:
    assert clauses(question) == expected
