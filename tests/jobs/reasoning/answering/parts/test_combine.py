"""Answers made of several answers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence
from quern.jobs.reasoning.answering.parts.combine import combined
from quern.jobs.reasoning.questions.outline import outline


def _answer(question: str, *answers: str) -> str:
    """The short answer where the leaves of `question` were answered so, each by a sentence of its own."""
    published = datetime(2024, 11, 5, tzinfo=UTC)
    form = outline(question).sub_questions
    leaves = [s.text for n, s in enumerate(form, 1) if all(n not in t.parents for t in form)]
    texts = [f"{q.rstrip('?')}: {a}" if a else "It rained." for q, a in zip(leaves, answers, strict=True)]
    evidence = [Evidence(text, None, [], [], published) for text in texts]
    before = [AskedBefore(q, a, [n], a) for n, (q, a) in enumerate(zip(leaves, answers, strict=True), 1)]
    whole = combined(AnswerInput(question, evidence, before))
    return whole.text if whole else ""


@pytest.mark.parametrize(
    ("question", "answers", "expected"),
    [
        ("Which is longer and by how much, the Orrin or the Maren?", ["61 metres", "She is 68 metres long."],
         "The Maren, by seven metres (68 against 61 metres)"),
        ("How much longer is the Maren than the Orrin?", ["She is 68 metres long.", "61 metres"],
         "Seven metres (68 against 61 metres)"),
        ("How many fewer guests did the fair have in 2021 than in 2019?", ["23,400", "33,700"],
         "10,300 (23,400 against 33,700)"),
        ("Who paid less, Brandt or Okafor?", ["1.2 million crowns", "410,000 crowns"],
         "Okafor (410,000 against 1.2 million crowns)"),
        ("Did the fair draw more guests on Mill Green in 2019 or on Long Field in 2021?", ["23,400", "33,700 guests"],
         "Long Field in 2021 (33,700 guests against 23,400)"),
        ("Was the cost of Ostley Bridge higher or lower than the estimate of May 2020?",
         ["3.1 million crowns", "2.9 million crowns"], "Higher: 3.1 million against 2.9 million crowns"),
        ("How did the effect in the first trial compare with that in the second?", ["18 per cent", "22 per cent"],
         "18 against 22 per cent"),
        ("Had Brandt and Okafor merged before or after the plant was sold?",
         ["on 1 October 2024", "It was sold on 17 September."], "After: 1 October 2024, against 17 September 2024"),
        ("How long after its publication was the paper in Nature retracted?", ["6 June 2023", "9 July 2024"],
         "13 months: 6 June 2023 to 9 July 2024"),
        ("Which came first, the flood or the fire, and how many weeks lay between them?",
         ["11 June 2024", "21 May 2024"], "The fire (21 May 2024), before 11 June 2024; three weeks apart"),
        ("When did Mei take over the Ostley Bridge, and how long before the opening was that?",
         ["December 2024", "14 June 2025"], "December 2024, about six months before 14 June 2025"),
        ("When did the mill in Ostley open and when did it close?", ["8 May 2001.", ""], "8 May 2001"),
        ("Did it take more than three weeks from the arrest to the trial?", ["21 May 2024", "14 June 2024"],
         "Yes, 24 days: 21 May 2024 to 14 June 2024"),
        ("Was the time between the flood and the reopening more than 10 months?", ["21 May 2024", "14 June 2024"],
         "No, 24 days: 21 May 2024 to 14 June 2024"),
        ("How many minutes before the crash was the mate on the telephone?", ["7.52am", "At 7.49am he was speaking."],
         "Three minutes: 7.52am to 7.49am"),
        ("How many hours passed between the flood and the alarm?", ["in May", "noon"], "In May, against noon"),
        ("How many hours passed between the flood and the alarm?", ["9.30", "noon"], "2.5 hours: 9.30 to noon"),
        ("How many months old was the Ostley mill when it closed?", ["3 May 2001", "5 October 2001"],
         "Five months: 3 May 2001 to 5 October 2001"),
        ("Were Jeff Marr and Kyle Stone both in The Reeds?", ["Yes: he sang", "No: never"], "No: only Jeff Marr"),
        ("When did the mill in Ostley open and when did it close?", ["", ""], ""),
        ("Was the cost of Ostley Bridge higher than the estimate of May 2020?", ["It rained.", "It is red."], ""),
    ],
)  # fmt: skip
def test_answers_are_combined_by_what_the_question_asks(question: str, answers: list[str], expected: str) -> None:
    assert _answer(question, *answers) == expected


@pytest.mark.parametrize(
    ("question", "side"),
    [
        ("Who had to pay the bigger fine, the leather works or the beer house?", "The leather works"),
        ("Who had to pay the lower fine, the leather works or the beer house?", "The beer house"),
        ("Who had to pay the bigger fine, the beer house or the leather works?", "The leather works"),
        ("Who had to pay the bigger fine, the school or the church?", "410 crowns"),
    ],
)
def test_a_sentence_that_compares_says_which_where_one_value_is_found_for_both(question: str, side: str) -> None:
    told = "The leather company must pay a larger fine than the beer brewers. A fine of 410 crowns was set."
    parts = outline(question).sub_questions
    before = [AskedBefore(p.text, "410 crowns", [2], "410 crowns") for p in parts]
    whole = combined(AnswerInput(question, [Evidence(told, None, [], [])], before))
    assert whole is not None
    assert whole.text == side


def test_two_parts_are_not_answered_by_one_sentence() -> None:
    question = "What happened to the logbooks of the mill and where are the logbooks kept now?"
    first, second = "The logbooks of the mill survived.", "The logbooks are kept in a dry store."
    leaves = [s.text for s in outline(question).sub_questions]
    before = [AskedBefore(q, first, [1], first) for q in leaves]
    whole = combined(AnswerInput(question, [Evidence(f"{first} {second}", None, [], [])], before))
    assert whole is not None
    assert whole.text == "The logbooks of the mill survived; The logbooks are kept in a dry store"


def test_a_part_that_was_told_a_sentence_is_told_a_value_where_the_evidence_has_one() -> None:
    question = "Who built the mill in Ostley and how many sacks does the mill in Ostley hold?"
    long, held = "The mill in Ostley was full of sacks when it burned on Friday.", "The mill in Ostley holds 240 sacks."
    leaves = [s.text for s in outline(question).sub_questions]
    before = [AskedBefore(leaves[0], "Josef Arndt", [], ""), AskedBefore(leaves[1], long, [1], long)]
    whole = combined(AnswerInput(question, [Evidence(f"{long} {held}", None, [], [])], before))
    assert whole is not None
    assert (whole.text, whole.rests_on) == ("Josef Arndt; 240 sacks", [2])


def test_a_difference_that_a_sentence_states_is_told() -> None:
    text = "The sockets of Brandt are rounder and 11 kilograms heavier. The budget is 61 million."
    question = "How much heavier are Brandt's sockets than those of Okafor?"
    leaves = [s.text for s in outline(question).sub_questions]
    before = [AskedBefore(q, "11 kilograms", [1], "11 kilograms") for q in leaves]
    whole = combined(AnswerInput(question, [Evidence(text, None, [], [])], before))
    assert whole is not None
    assert whole.text == "11 kilograms"


def test_hours_of_one_sentence_tell_how_long_lies_between() -> None:
    text = "On 2 March low water was at 7.04am, and the crash happened at 7.52. Fog has been measured since 2016."
    question = "How long after low water did the crash happen?"
    leaves = [s.text for s in outline(question).sub_questions]
    before = [AskedBefore(q, "2 March", [1], "2 March") for q in leaves]
    whole = combined(AnswerInput(question, [Evidence(text, None, [], [])], before))
    assert whole is not None
    assert whole.text == "48 minutes: 7.04am to 7.52"
    assert whole.rests_on == [1]


@pytest.mark.parametrize(
    "text",
    [
        "Low water was at 11.30pm, and the crash happened at 1.15am.",
        "Low water was at 7.10am on 2 March, and the crash happened at 7.50am on 4 March.",
        "The crash happened three days after low water; the office is open from 9.00 to 17.30.",
    ],
)
def test_hours_of_two_days_or_of_something_else_are_not_set_beside_each_other(text: str) -> None:
    question = "How long after low water did the crash happen?"
    before = [AskedBefore(s.text, "2 March", [1], "2 March") for s in outline(question).sub_questions]
    whole = combined(AnswerInput(question, [Evidence(text, None, [], [])], before))
    assert whole is None or "minute" not in whole.text


def test_a_difference_from_a_third_is_not_told() -> None:
    text = "The Elm Tower is 90 metres tall. The Oak Tower is 70 metres tall. It is 35 metres taller than the hall."
    question = "How much taller is the Elm Tower than the Oak Tower?"
    leaves = [s.text for s in outline(question).sub_questions]
    before = [
        AskedBefore(q, a, [n], a) for n, (q, a) in enumerate(zip(leaves, ["90 metres", "70 metres"], strict=True), 1)
    ]
    whole = combined(AnswerInput(question, [Evidence(text, None, [], [])], before))
    assert whole is not None
    assert whole.text.startswith("20 metres")
