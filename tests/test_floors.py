from __future__ import annotations

import pytest

from tests.floors import broken, wilson


@pytest.mark.parametrize(("refused", "fails"), [(18, False), (16, False), (12, True)])
def test_a_share_of_24_questions_breaks_its_floor_by_more_than_chance(refused: int, fails: bool) -> None:
    assert bool(broken({"refused": refused / 24}, {"at least": {"refused": 0.75}}, 24)) == fails


def test_a_figure_with_an_interval_of_its_own_is_held_by_it() -> None:
    figures = {"words": 41.0, "words_low": 39.0, "words_high": 43.0}
    assert broken(figures, {"at most": {"words": 40.0}}) == {}
    assert broken(figures, {"at most": {"words": 38.0}, "at least": {"words": 44.0}}) == {"words": (39.0, 43.0, 44.0)}


def test_a_bound_of_all_is_broken_by_one() -> None:
    figures = {"quotes_equal": 118 / 119, "quotes_equal_low": 0.97, "quotes_equal_high": 1.0}
    assert broken(figures, {"at least": {"quotes_equal": 1.0}}) != {}
    assert broken({"access": 1.0}, {"at least": {"access": 1.0}}, 44) == {}


def test_an_interval_is_that_of_the_literature() -> None:
    assert wilson(0.75, 24) == pytest.approx((0.551, 0.880), abs=1e-3)
    assert wilson(1.0, 10)[1] == pytest.approx(1.0)
