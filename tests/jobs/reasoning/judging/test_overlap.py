"""What an answer is worth against the gold one."""

from __future__ import annotations

import pytest

from quern.jobs.reasoning.judging.overlap import exact_match, gold_words, polarity, token_f1, words


@pytest.mark.parametrize(
    ("said", "gold", "exact", "f1"),
    [
        ("The Eiffel Tower!", "eiffel tower", 1, 1),
        ("in Lyon", "Lyon", 0, 2 * 0.5 / 1.5),
        ("Lyon", "Paris", 0, 0),
        ("", "Paris", 0, 0),
        ("364.6公里", "364．6 公里。", 1, 1),
        ("约86平方米", "86平方米", 0, 2 * 4 / 5 / (4 / 5 + 1)),
        ("Yes: both were built in 1931.", "Yes", 1, 1),
        ("No: it was Corran.", "Yes", 0, 0),
        ("Yes, after it: 17 September.", "No, before: 1 October", 0, 0),
    ],
)
def test_exact_match_and_f1_are_those_of_squad(said: str, gold: str, exact: float, f1: float) -> None:
    assert exact_match(said, [gold]) == exact
    assert token_f1(said, [gold]) == pytest.approx(f1)


def test_the_nearest_of_several_gold_answers_counts() -> None:
    gold = ["G. Stanley Hall", "Stanley Hall"]
    assert exact_match("Stanley Hall", gold) == 1
    assert gold_words("It was Stanley Hall.", gold) == 1
    assert gold_words("It was Mr Hall.", gold) == 0.5


def test_only_a_yes_that_stands_alone_is_one() -> None:
    said = ["Yes", "yes.", "No: it sank.", "No 4 Quay Road", "Norway", "Yesterday", "是的。", "不是，是乙", "是谁", ""]
    assert [polarity(s) for s in said] == ["yes", "yes", "no", None, None, None, "yes", "no", None, None]


def test_length_counts_words_and_characters_of_chinese() -> None:
    assert words("The pylon is dark. 第一次") == 7
