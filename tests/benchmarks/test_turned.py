"""Sentences that are turned round to questions of yes or no."""

import random

import pytest

from quern.jobs.training.turned import names_of, turned


def every(line: str, names: list[str], seeds: int = 30) -> set[tuple[str, bool]]:
    return {one for seed in range(seeds) for one in turned(line, names, random.Random(seed))}


@pytest.mark.parametrize(
    ("line", "question", "yes"),
    [
        ("The mill was sold in 1931.", "Was the mill sold in 1931?", True),
        ("Ines Okafor has left the yard.", "Has Ines Okafor left the yard?", True),
        ("The mill was not sold to the county.", "Was the mill sold to the county?", False),
        ("No ferry was sold in spring.", "Was a ferry sold in spring?", False),
        ("The gate is open at noon, but the yard is closed.", "Is the gate open at noon?", True),
        ("The gate is open at noon.", "Is the gate closed at noon?", False),
    ],
)
def test_a_sentence_with_an_auxiliary_verb_is_turned_round(line: str, question: str, yes: bool) -> None:
    assert (question, yes) in every(line, [])


def test_no_is_made_with_another_value_month_day_or_name() -> None:
    asked = every("The yard was bought by Omar Teel for 40 crowns on Friday, 3 May 1931.", ["Ruth Vance"])
    denied = {question for question, yes in asked if not yes}
    assert any("Ruth Vance" in q for q in denied)
    assert any("Omar Teel" in q and "40 crowns" not in q for q in denied)
    assert any("May" not in q for q in denied)
    assert all("Omar Teel for 40 crowns on Friday" in q for q, yes in asked if yes)


@pytest.mark.parametrize(
    "line", ["", "Closed.", "In May the mill was sold.", "Fee | is | 40", "That was all there was."]
)
def test_what_has_no_subject_before_an_auxiliary_verb_is_left_as_it_is(line: str) -> None:
    assert not every(line, ["Ruth"])


def test_months_and_days_are_no_names() -> None:
    assert names_of(["She met Omar Teel on Friday in May.", "Then came Ruth."]) == ["Omar Teel", "Ruth"]
