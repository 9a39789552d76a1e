"""Answers as CSV: a row each that reads back as it was, and no cell that a spreadsheet would run."""

import pandas as pd
import pytest

from quern.pipelines.answers.files import COLUMNS, row, write_answers
from quern.schemas.answers import SubAnswer
from tests.pipelines.answers.views.test_terminal import ANSWER, said

REFUSED = ANSWER.model_copy(
    update={"sentences": [], "citations": [], "reason": "other_time", "expected": "1871", "type": "null"}
)


def test_a_spreadsheet_opens_the_answers(tmp_path):
    parts = [SubAnswer(number=1, parents=[], question="Which lamp?", answer="Pell Head", citations=[1])]
    asked = ANSWER.model_copy(update={"query_id": "渡", "sub_questions": parts, "notes": ["a note", "another"]})
    write_answers([asked, REFUSED], tmp_path, "Lamps", {})
    assert (tmp_path / "answers.csv").read_bytes().startswith(b"\xef\xbb\xbfquery_id,")
    first, second = pd.read_csv(tmp_path / "answers.csv", keep_default_na=False).to_dict("records")
    assert tuple(first) == COLUMNS
    assert first["query_id"] == "渡"
    assert first["answer"] == "The lamp was lit in 1871."
    assert first["text"] == "The lamp was lit in 1871. [1]"
    assert first["sub_questions"] == "1. Which lamp? Pell Head [1]"
    assert first["notes"].splitlines() == ["a note", "another"]
    assert first["sources"] == "https://tidewiki.example/lamp"
    assert (second["found"], second["answer"], second["expected"]) == ("no", "", "1871")
    assert second["reason"] == "What was found speaks of another time."


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"])
def test_no_cell_is_a_formula(start):
    evil = f"{start}cmd|'/c calc'!A0\",\"=1+1"
    fields = {**dict.fromkeys(("query_id", "question", "kind"), evil), "sentences": [said(evil)], "notes": [evil]}
    cells = row(ANSWER.model_copy(update=fields))
    assert len(cells) == len(COLUMNS)
    assert all(c.startswith(("'", "cmd")) for c in cells if "cmd" in c)
    assert not [c for c in cells if c[:1] in tuple("=+-@\t\r＝＋－＠")]
