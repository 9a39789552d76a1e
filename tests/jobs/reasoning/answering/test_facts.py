"""Triplets of the evidence: in the prompt of a model, and for a side of a comparison that has no answer."""

from __future__ import annotations

import pytest

from quern.jobs.reasoning.answering.facts import Fact, Told, value_of_side
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence
from quern.jobs.reasoning.answering.parts.combine import combined
from quern.jobs.reasoning.answering.task import answer_task
from quern.schemas.settings import Settings

TEXT = "Ship | Length\nLady Orrin | 61 metres\nLady Maren | 68 metres"
ROWS = [Fact("Lady Orrin", "Length", "61 metres", 14, 36), Fact("Lady Maren", "Length", "68 metres", 37, 59)]
LONGER = "Which has the greater length, the Lady Orrin or the Lady Maren?"


def given(facts: list[Fact], *before: AskedBefore) -> AnswerInput:
    return AnswerInput(LONGER, [Evidence(TEXT, "Ships", [], [], facts=facts)], before)


@pytest.mark.parametrize(("most", "told"), [(0, []), (1, ["[2] Lady Orrin | Length | 61 metres"])])
def test_a_model_is_told_as_many_triplets_as_are_asked_for(most: int, told: list[str]) -> None:
    task = answer_task(Settings.model_validate({"answer": {"triplets": most}}).answer)
    prompt = task.render(given([*ROWS, Fact("Tea", "costs", "2 crowns", 14, 36)]))
    assert [line for line in prompt.splitlines() if line.count(" | ") == 2 and line[:1] == "["][-1:] == told
    assert ("Stated there" in prompt) == bool(most)


def test_a_side_without_an_answer_has_the_value_that_a_triplet_states() -> None:
    parts = [AskedBefore(f"What length does the Lady {ship} have?", "") for ship in ("Orrin", "Maren")]
    rows = [Told(n, fact) for n, fact in enumerate(ROWS, 2)]
    assert value_of_side(parts[1].question, "the Lady Maren", rows) == rows[1]
    assert value_of_side(parts[1].question, "the Lady Ruth", rows) is None
    other = Told(3, Fact("Lady Maren", "Length", "70 metres", 37, 59))
    assert value_of_side(parts[1].question, "the Lady Maren", [*rows, other]) is None, "they do not agree"
    assert given(ROWS).told == rows
    assert given(ROWS).identity != given([]).identity
    assert combined(given([], *parts)) is None
