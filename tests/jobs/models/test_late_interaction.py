"""Late interaction: which lines match a question, whatever stands beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from quern.jobs.models.folders import ModelError
from quern.jobs.models.late_interaction import FILE, FORMAT, LateInteraction

LINES = [
    "The ferry Gannet was built in 1971 and carries 240 people.",
    "In March she lost a propeller off Tern Head and was towed home.",
    "The yard asked 84,000 crowns for a new one.",
    "Her master, Ines Okafor, has been with the line for thirty years.",
]


def scores(question: str, lines: list[str]) -> list[float]:
    model = LateInteraction.load()
    return model.scores(question, model.lines(lines, range(-1, len(lines) - 1)))


@pytest.mark.parametrize(("question", "line"), [("How much money was wanted?", 2), ("Who is in command?", 3)])
def test_a_line_that_answers_in_other_words_matches_best(question: str, line: int) -> None:
    assert int(np.argmax(scores(question, LINES))) == line


def test_scores_do_not_depend_on_the_lines_behind() -> None:
    alone = scores("How much money was wanted?", LINES[:2])
    assert scores("How much money was wanted?", LINES)[:2] == pytest.approx(alone, abs=1e-12)


def test_empty_questions_and_lines_have_finite_scores() -> None:
    assert np.isfinite(scores("", ["", "a ferry"])).all()
    assert np.isfinite(scores("?", [" "])).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [("cut", "damaged"), ("format", f"not of the format {FORMAT}"), ("missing", "cannot be read")],
)
def test_weights_that_cannot_be_used_are_named(tmp_path: Path, change: str, message: str) -> None:
    file = tmp_path / "weights.safetensors"
    if change == "cut":
        file.write_bytes(FILE.read_bytes()[:1000])
    elif change == "format":
        save_file({name: values for name, values in load_file(FILE).items() if name != FORMAT}, file)
    with pytest.raises(ModelError, match=message):
        LateInteraction(file)
