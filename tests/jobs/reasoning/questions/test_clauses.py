"""Questions that fall into clauses."""

from __future__ import annotations

import pytest

from quern.jobs.reasoning.questions.parts import clauses


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Did Mara order the pylons before Tomas closed the ferry?",
            ["Did Mara order the pylons", "Tomas closed the ferry"],
        ),
        (
            "Were there ten days between Mara ordering the pylons and Tomas closing the ferry?",
            ["Mara ordering the pylons", "Tomas closing the ferry"],
        ),
        ("Who built the mill, and when was the weir raised?", ["Who built the mill", "when was the weir raised"]),
        ("玛拉订购塔架之后，托马斯关闭了渡口吗？", ["玛拉订购塔架", "托马斯关闭了渡口吗"]),
        ("Who mended the bridge after 1990?", []),
        ("Who built the mill?", []),
        ("", []),
    ],
)
def test_a_question_is_cut_where_two_events_are_joined(question: str, expected: list[str]) -> None:
    assert clauses(question) == expected


def test_a_long_list_of_clauses_is_bounded() -> None:
    assert len(clauses("; ".join(["one two three four"] * 50))) == 4
