"""The pages that the reader of lines is trained on are as `reading_pages` describes them, and so are the choices."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.reading_pages import (
    FOLDER,
    Asked,
    by_twins,
    choice,
    decided,
    evened,
    pages_of,
    read_pages,
    turned_round,
    verdicts_on_pages_kept,
)

FILE = """\
== two mills
# The old mill
1 The old mill was built in 1801 by Ada Moss.
2 It burned down in 1931.
Q 1 Who put it up? => Ada Moss
Y 2 Did the older one go up in flames?
N How tall was it?
# The new mill
1 Its wheel was made in 1950.
2 Year | Sacks
3 1951 | 900
4 1952 | 1,100
Q 1,4 Since when has it turned?
X 1 Was the newer wheel made before the war?
Q 3 Was 1951 a year of more than a thousand sacks? => no
== alone
# The barn
1 The barn is dry.
Q 1 Is the barn damp? => no
"""
TWINS = """\
# The ferry
1 It sails all year.
1' It is laid up from October on.
2 Bicycles cost nothing.
2' A bicycle is 4 crowns.
Y 1 Can I cross in January?
X 2 Do I pay for my bike?
"""


@pytest.fixture
def asked(tmp_path: Path) -> list[Asked]:
    (tmp_path / "mills-01.txt").write_text(FILE, "utf-8")
    return read_pages(kept=False, folder=tmp_path)


def test_questions_are_read_with_their_lines_and_archives(asked: list[Asked]) -> None:
    assert [(one.question.split()[0], sorted(one.right), one.yes) for one in asked] == [
        ("Who", [0], None),
        ("Did", [1], True),
        ("How", [], None),
        ("Since", [0, 3], None),
        ("Was", [0], False),
        ("Was", [2], False),
        ("Is", [0], False),
    ]
    assert [[p.title for p in page.archive] for page in pages_of(asked)] == [
        ["The old mill", "The new mill"],
        ["The old mill", "The new mill"],
        ["The barn"],
    ]


def test_a_question_of_twins_is_answered_otherwise_by_each(tmp_path: Path) -> None:
    (tmp_path / "twins-01.txt").write_text(TWINS, "utf-8")
    asked = read_pages(kept=False, folder=tmp_path)
    assert [(one.page.lines[min(one.right)], one.yes) for one in asked] == [
        ("It sails all year.", True),
        ("It is laid up from October on.", False),
        ("Bicycles cost nothing.", False),
        ("A bicycle is 4 crowns.", True),
    ]
    assert [[p.title for p in page.archive] for page in pages_of(asked)] == [["The ferry"], ["The ferry"]]


def test_a_choice_has_the_right_line_behind_what_it_needs_unless_it_is_left_out(asked: list[Asked]) -> None:
    pages, left_out = pages_of(asked), 0
    for seed in range(200):
        one = asked[seed % len(asked)]
        given = choice(one, pages, random.Random(seed))
        lines = [(p.title, line, right) for p, rs in zip(given.passages, given.right, strict=True)
                 for line, right in zip(p.lines, rs, strict=True)]  # fmt: skip
        wanted = {one.page.lines[n] for n in one.right}
        told = [(title, line) for title, line, right in lines if right]
        left_out += bool(wanted) and not told
        assert {line for _, line in told} <= wanted
        assert all(title == one.page.title for title, _ in told)
        assert given.yes == (one.yes if told else None)
    assert 0 < left_out < 60


def test_what_is_measured_leaves_no_line_out(asked: list[Asked]) -> None:
    pages = pages_of(asked)
    for seed in range(60):
        one = asked[seed % len(asked)]
        given = choice(one, pages, random.Random(seed), measured=True)
        assert any(map(any, given.right)) == bool(one.right)


def test_all_files_are_as_described() -> None:
    known = re.compile(r"== .+|# .+|\d+'? .+|[QYX] \d+(,\d+)* .+|N .+|")
    for file in sorted(FOLDER.glob("*.txt")):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            assert known.fullmatch(line), f"{file.name}:{number}: {line}"
    for kept in (False, True):
        questions = read_pages(kept=kept)
        assert questions
        assert all(max(one.right, default=0) < len(one.page.lines) for one in questions)
        assert all(one.right or one.yes is None for one in questions)


def test_questions_of_yes_or_no_count_so_that_shared_words_tell_nothing() -> None:
    """Those of no share more words with what answers them where no page is a twin: `docs/explanation/reader.md`."""
    written, twins = by_twins(decided(read_pages(kept=True)))
    assert len({(o.question, o.page.title, o.yes) for o in twins}) == len(twins)
    yes, shared = np.array([o.yes for o in written]), np.array([o.shared for o in written])
    apart = shared[~yes].mean() - shared[yes].mean()
    counts = evened(written)
    even = np.average(shared[~yes], weights=counts[~yes]) - np.average(shared[yes], weights=counts[yes])
    assert apart > 0.15
    assert abs(even) < 0.03


def test_the_line_that_decides_is_given_last_and_mostly_behind_the_one_before() -> None:
    written = [one for one in decided(read_pages(kept=True)) if one.right[0] > 0]
    for one in written[:50]:
        at = one.right[0]
        assert list(one.passage().lines) == one.page.lines[at - 1 : at + 1]
    chance = random.Random(0)
    assert {len(written[0].passage(chance).lines) for _ in range(20)} == {1, 2}


def test_sentences_of_pages_are_turned_round_to_both_answers() -> None:
    made = turned_round(read_pages(kept=True))
    assert {one.yes for one in made} == {True, False}
    assert np.mean([one.shared for one in made]) > 0.8


def test_a_reader_that_goes_by_shared_words_alone_tells_much_but_nothing_evened() -> None:
    by_words = verdicts_on_pages_kept(lambda every: [0.4 - one.shared for one in every])
    assert by_words["pages kept apart, yes or no told"] > 0.6
    assert by_words["pages kept apart, yes or no told, evened"] == pytest.approx(0.5, abs=0.05)
    assert by_words["pages kept apart, yes or no told of those"] < 0.5
    right = verdicts_on_pages_kept(lambda every: [1.0 if one.yes else -1.0 for one in every])
    assert (
        right["pages kept apart, yes or no told, evened"] == right["pages kept apart, yes or no told of twins"] == 1.0
    )
    assert by_words["pages kept apart, yes or no told of twins"] < 0.5
