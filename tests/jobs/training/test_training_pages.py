"""Training pages: how files are read, and what windows are made of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from quern.jobs.training.pages import MEASURED, Chances, decision, pages_of, read_pages, target
from quern.jobs.training.pairs import DataError

PAGES = """\
== ferries
# Fares of the ferry (old)
@ 2024-01-05
1 The fare is 4 crowns.
2 Zone | Adult | Child
3 Inner | 4 | 2
Q 1 What is the fare? => 4 crowns
Q 3 How much does a child pay in the inner zone? => 2
Y 1 Does it cost 4 crowns?
# Fares of the ferry (new)
@ 2025-01-05
1 The fare is 5 crowns.
2 Dogs travel free.
3 Bicycles travel free.
Q 1 What is the fare now? => 5 crowns
L 2,3 What travels free?
X 2 Must dogs pay?
N Who is the captain?
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ferries-01.txt"
    path.write_text(PAGES, "utf-8")
    return path


def test_pages_of_an_archive_have_their_dates_lines_and_questions(file: Path) -> None:
    questions = read_pages([file])
    assert [q.kind for q in questions] == ["span", "span", "verdict", "span", "list", "verdict", None]
    assert [q.yes for q in questions if q.kind == "verdict"] == [True, False]
    assert questions[0].page.heading == "Fares of the ferry (old) (2024-01-05)"
    assert questions[1].page.lines[2] == "Zone: Inner; Adult: 4; Child: 2"
    assert len(questions[0].page.archive) == 2


def test_a_window_has_the_right_line_and_where_its_words_stand(file: Path) -> None:
    questions = read_pages([file])
    pages = questions[0].page.archive
    window = target(questions[3], pages, random.Random(0), MEASURED)
    assert sum(map(sum, window.right)) == 1
    assert window.span is not None
    passage, line, start, end = window.span
    assert window.right[passage][line]
    assert window.passages[passage].lines[line][start:end] == "5 crowns"


def test_all_lines_of_a_list_are_right_and_a_question_without_an_answer_has_none(file: Path) -> None:
    questions = read_pages([file])
    pages = questions[0].page.archive
    of_list, none = (target(questions[n], pages, random.Random(0), MEASURED) for n in (4, 6))
    assert sum(map(sum, of_list.right)) == 2
    assert sum(map(sum, none.right)) == 0


def test_left_out_and_alone_windows_answer_nothing(file: Path) -> None:
    questions = read_pages([file])
    pages = questions[0].page.archive
    left_out = target(questions[0], pages, random.Random(0), Chances(left_out=1.0, further=0.0, alone_asked=0.0))
    alone = target(questions[0], pages, random.Random(0), Chances(alone_asked=1.0))
    assert not any(map(any, left_out.right))
    assert alone.passages == []


def test_the_questions_of_a_file_that_is_named_twice_are_of_the_same_pages(file: Path) -> None:
    once, twice = read_pages([file]), read_pages([file, file])
    assert len(twice) == 2 * len(once)
    assert len(pages_of(twice)) == len(pages_of(once))


def test_a_deciding_line_stands_last(file: Path) -> None:
    window = decision(read_pages([file])[5], random.Random(1))
    assert window.passages[0].lines[-1] == "Dogs travel free."
    assert window.right[0][-1]
    assert window.kind is None


def test_a_line_that_is_none_of_a_page_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("# Title\n1 A line.\nWhat is this?\n", "utf-8")
    with pytest.raises(DataError, match=r"bad\.txt:3: not a line of a page"):
        read_pages([bad])
    with pytest.raises(DataError, match="cannot be read"):
        read_pages([tmp_path / "none.txt"])
