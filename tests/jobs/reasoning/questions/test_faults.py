"""Which questions cannot be used, and why."""

from __future__ import annotations

import pytest

from quern.jobs.reasoning.questions.preprocess import fault_of


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("", "empty"),
        (" \n\t\ufeff\u200b ", "empty"),
        ("why? " * 500, "too_long"),
        ("?!... --- ???", "not_text"),
        ("🙂🙂", "not_text"),
        ("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01", "not_text"),
        ("Wh\ufffd\ufffd is \ufffd\ufffd\ufffd?", "not_text"),
    ],
)
def test_a_question_that_cannot_be_used_has_a_reason(question: str, reason: str) -> None:
    fault = fault_of(question, 2000)
    assert fault is not None
    assert fault.reason == reason
    assert fault.detail.isprintable()


@pytest.mark.parametrize(
    "question",
    [
        "When?",
        "船什么时候到港？",
        "42",
        "Ποιος;",
        "What is 2 + 2?\nSay it.",
        "Who\x00 sank it?",
        "ما هي الباخرة؟",
        "👩\u200d🚒 who?",
    ],
)
def test_questions_of_every_language_and_shape_can_be_used(question: str) -> None:
    assert fault_of(question, 2000) is None
