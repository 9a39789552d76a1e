"""Files of questions: what is wrong is named by line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from quern.pipelines.answers.questions import QuestionError, read_questions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ('{"query_id": "a"}\n', "q.jsonl:1: question: field required"),
        ('{"query_id": "a", "question": ""}\n', "q.jsonl:1: question"),
        ('{"query_id": "a", "question": "b"}\n{oops\n', "q.jsonl:2: not valid JSON"),
        ('{"query_id": "a", "question": "b"}\n' * 2, "q.jsonl:2: query_id 'a' was used before"),
        ("[]\n", "q.jsonl:1"),
    ],
)
def test_a_wrong_file_of_questions_is_an_error_that_names_line_and_field(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "q.jsonl").write_text(text)
    with pytest.raises(QuestionError) as error:
        read_questions(tmp_path / "q.jsonl")
    assert message in str(error.value)


def test_a_missing_file_of_questions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="cannot be read"):
        read_questions(tmp_path / "absent.jsonl")
