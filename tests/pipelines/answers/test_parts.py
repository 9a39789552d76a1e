"""A run that was stopped goes on: what is answered stays answered, by its questions' content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from quern.pipelines.answers.parts import OutputError, parts_of
from quern.schemas.answers import Answer, Question

RUN = {"snapshot": "s1", "settings": "a", "recipe": "bridge"}


def questions(count: int, first: int = 0) -> list[Question]:
    return [Question(query_id=str(n), question=f"Question {n}?") for n in range(first, first + count)]


class StoppedError(Exception):
    pass


class Answering:
    """Answers by batches of two, and notes whom it was asked."""

    def __init__(self, stop_at: str = "") -> None:
        self.asked: list[str] = []
        self._stop_at = stop_at

    def __call__(self, stream: Iterator[Question]) -> Iterable[Answer]:
        for question in stream:
            if question.query_id == self._stop_at:
                raise StoppedError
            self.asked.append(question.query_id)
            nothing = {"sentences": [], "by": "rules", "recipe": "r", "citations": [], "hits": [], "path": []}
            yield Answer(query_id=question.query_id, question=question.question, probability=1 / 3, **nothing)


def run(
    folder: Path, asked: list[Question], answering: Answering, header: dict[str, str] = RUN
) -> tuple[list[str], int, str]:
    with parts_of(folder) as parts:
        parts.begin(header)
        answers = list(parts.answered(asked, answering, 2))
        told = parts.resumed, parts.anew
    assert not (folder / ".parts").exists()
    assert [(a.query_id, a.probability) for a in answers] == [(q.query_id, 1 / 3) for q in asked]
    return answering.asked, *told


def stopped(folder: Path, asked: list[Question], at: str) -> None:
    with pytest.raises(StoppedError):
        run(folder, asked, Answering(at))


def test_a_stopped_run_goes_on_after_its_last_whole_part(tmp_path: Path) -> None:
    stopped(tmp_path, questions(7), "5")
    assert run(tmp_path, questions(7), Answering()) == (["4", "5", "6"], 4, "")


def test_a_file_that_has_grown_is_gone_on_with_and_one_that_differs_from_where_it_does(tmp_path: Path) -> None:
    stopped(tmp_path, questions(6), "5")
    assert run(tmp_path, questions(9), Answering()) == (["4", "5", "6", "7", "8"], 4, "")
    stopped(tmp_path, questions(6), "5")
    changed = [*questions(3), Question(query_id="3", question="Another?"), *questions(2, 4)]
    assert run(tmp_path, changed, Answering()) == (["2", "3", "4", "5"], 2, "")
    stopped(tmp_path, questions(6), "5")
    assert run(tmp_path, questions(3), Answering()) == (["2"], 2, "")


@pytest.mark.parametrize("what", ["snapshot", "settings", "recipe"])
def test_a_run_of_another_kind_begins_anew_and_says_why(tmp_path: Path, what: str) -> None:
    stopped(tmp_path, questions(6), "5")
    assert run(tmp_path, questions(3), Answering(), {**RUN, what: "other"}) == (["0", "1", "2"], 0, what)


def test_a_damaged_part_is_answered_again(tmp_path: Path) -> None:
    stopped(tmp_path, questions(6), "5")
    part = tmp_path / ".parts" / "000002.jsonl"
    part.write_bytes(part.read_bytes()[:-40])
    assert run(tmp_path, questions(6), Answering()) == (["2", "3", "4", "5"], 2, "")


def test_only_its_own_left_overs_are_removed(tmp_path: Path) -> None:
    ours = [".tmp-answers.csv", ".tmp-rejects.jsonl", ".tmp-a1_b2c3d.html"]
    others = [".tmp-notes.txt", ".tmp-index.html"]
    for name in [*ours, *others]:
        (tmp_path / name).touch()
    (tmp_path / ".tmp-answers.kept").mkdir()
    with parts_of(tmp_path):
        assert sorted(p.name for p in tmp_path.glob(".tmp-*")) == sorted([*others, ".tmp-answers.kept"])


def test_two_runs_do_not_write_to_one_place(tmp_path: Path) -> None:
    with parts_of(tmp_path), pytest.raises(OutputError, match="another quern answer"), parts_of(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be made a directory"), parts_of(tmp_path / "file"):
        pass
