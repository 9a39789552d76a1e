from __future__ import annotations

from datetime import date

import pytest

from tests.benchmarks.semeval import Placed, Relations, event_word, relations, timed

GOLD = [
    Placed(0, "XXXX-XX-XX", "7-9-owned"),
    Placed(1, "2005-XX-XX", "7-3-sold"),
    Placed(2, "2005-06-13", "7-0-wins"),
    Placed(2, "2005-06-13", "7-2-won"),
    Placed(3, "2006-01-02", "8-4-delivered"),
]


@pytest.mark.parametrize(
    ("gold", "ours", "expected"),
    [
        # Four dates and two steps; that the two of one day are simultaneous follows, and is not counted.
        (GOLD, GOLD, Relations(6, 6, 6, 6)),
        (
            [Placed(1, "2005-01-01", "1-1-a"), Placed(2, "2005-01-02", "1-2-b")],
            [Placed(1, "2005-01-02", "1-2-b"), Placed(2, "2005-01-01", "1-1-a")],
            Relations(3, 2, 3, 2),
        ),
        # `sold` before `delivered` is not stated in the gold timeline, and follows from it.
        (GOLD, [GOLD[1]._replace(order=1), GOLD[4]._replace(order=2)], Relations(3, 3, 6, 2)),
        # Simultaneous events told apart lose the date and the step.
        (GOLD[2:4], [GOLD[2], Placed(3, "2005-06-14", "7-2-won")], Relations(3, 1, 2, 1)),
        (GOLD, GOLD[:-1], Relations(4, 4, 6, 4)),
        (GOLD, [*GOLD, Placed(3, "2006-01-02", "9-1-rained")], Relations(7, 6, 6, 6)),
        (GOLD, [], Relations(0, 0, 6, 0)),
    ],
)
def test_relations_hold_in_the_closure_of_the_other_timeline(
    gold: list[Placed], ours: list[Placed], expected: Relations
) -> None:
    assert relations(gold, ours) == expected


def test_figures_are_shares_of_relations_and_nought_where_there_are_none() -> None:
    assert Relations(4, 3, 6, 3).figures() == {"precision": 0.75, "recall": 0.5, "f1": pytest.approx(0.6)}
    assert (Relations(1, 1, 2, 1) + Relations(3, 2, 4, 2)) == Relations(4, 3, 6, 3)
    assert Relations().figures() == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_days_months_and_years_are_placed_and_what_is_vaguer_is_not() -> None:
    events = [
        (date(2005, 6, 13), date(2005, 6, 13), "1-1-won"),
        (date(2005, 6, 1), date(2005, 6, 30), "1-2-built"),
        (date(2000, 1, 1), date(2009, 12, 31), "1-3-grew"),
        (date(2005, 4, 1), date(2005, 6, 30), "1-4-sold"),
    ]
    assert [*timed(events)] == [
        (3, "2005-06-13", "1-1-won"),
        (2, "2005-06-XX", "1-2-built"),
        (0, "", "1-3-grew"),
        (1, "2005-XX-XX", "1-4-sold"),
    ]


@pytest.mark.parametrize(
    ("sentence", "title", "word"),
    [
        ("The ferry struck the harbour wall on Monday .", False, "struck"),
        ("The troubled yard has finally delivered its second ferry .", False, "delivered"),
        ("Divers will inspect the hull .", False, "inspect"),
        ("The ferry can fly a flag and will be the first that does .", False, "fly"),
        ("The yard had rolled out two ferries .", False, "rolled_out"),
        ("Two engines were also being replaced .", False, "replaced"),
        ("A ferry of the old kind , ``", False, None),
        ("Harbour ferry strikes wall damaged last year", True, "strikes"),
        ("Yard to replace engines", True, "replace"),
        ("Owners to be paid for delays", True, "paid"),
    ],
)
def test_the_word_of_an_event_is_its_first_verb_in_a_title_in_the_present(
    sentence: str, title: bool, word: str | None
) -> None:
    assert event_word(sentence, title=title) == word
