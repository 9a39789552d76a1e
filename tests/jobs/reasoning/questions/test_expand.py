"""Further queries around a question."""

from __future__ import annotations

from quern.jobs.reasoning.questions.expand import ExpandInput, expanded
from quern.jobs.reasoning.runner import Reasoner


def test_a_question_is_expanded_by_its_words_its_names_and_what_the_index_asks_near_it() -> None:
    near = ["When did Ostley Bridge open?", "Who built Ostley Bridge?"]
    neighbours = ["What does Marr cost?", "Where does Ostley Bridge end?"]
    asked = ExpandInput("When did the Ostley Bridge open?", near, neighbours)
    assert expanded(Reasoner(), [asked, ExpandInput("Ostley Bridge")]) == [
        ["ostley bridge open", "Ostley Bridge", "Who built Ostley Bridge?", "Where does Ostley Bridge end?"],
        [],
    ]
