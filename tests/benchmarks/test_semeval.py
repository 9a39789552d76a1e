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


def test_a_timeline_is_measured_perfect_against_itself() -> None:
    found = relations(GOLD, GOLD)
    # Four dates and two steps; that the two of one day are simultaneous follows, and is not counted.
    assert found == Relations(6, 6, 6, 6)
    assert found.figures() == {"precision": 1.0, "recall": 1.0, "f1": 1.0}


def test_a_reversed_order_has_nothing_right() -> None:
    gold = [Placed(1, "2005-01-01", "1-1-a"), Placed(2, "2005-01-02", "1-2-b")]
    reversed_ = [Placed(1, "2005-01-01", "1-2-b"), Placed(2, "2005-01-02", "1-1-a")]
    assert relations(gold, reversed_).figures()["f1"] == 0.0


def test_steps_are_right_by_what_follows_from_the_gold_order() -> None:
    skipping = [GOLD[1], GOLD[4]]
    found = relations(GOLD, [p._replace(order=n) for n, p in enumerate(skipping, 1)])
    # `sold` before `delivered` is not stated in the gold timeline, and follows from it.
    assert (found.ours, found.ours_right) == (3, 3)
    assert (found.gold, found.gold_found) == (6, 2)


def test_simultaneous_events_told_apart_lose_the_date_and_the_step() -> None:
    gold = [Placed(1, "2005-06-13", "7-0-wins"), Placed(1, "2005-06-13", "7-2-won")]
    apart = [gold[0], Placed(2, "2005-06-14", "7-2-won")]
    assert relations(gold, apart) == Relations(ours=3, ours_right=1, gold=2, gold_found=1)


def test_a_missing_event_lowers_recall_and_a_strange_one_precision() -> None:
    missing = relations(GOLD, GOLD[:-1]).figures()
    assert missing["precision"] == 1.0
    assert missing["recall"] == pytest.approx(4 / 6)
    strange = relations(GOLD, [*GOLD, Placed(3, "2006-01-02", "9-1-rained")]).figures()
    assert strange == {"precision": pytest.approx(6 / 7), "recall": 1.0, "f1": pytest.approx(12 / 13)}


def test_no_timeline_against_a_gold_one_is_nought() -> None:
    assert relations(GOLD, []).figures() == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


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
    ("sentence", "word"),
    [
        ("The ferry struck the harbour wall on Monday .", "struck"),
        ("The troubled yard has finally delivered its second ferry .", "delivered"),
        ("Divers will inspect the hull .", "inspect"),
        ("The ferry can fly a flag and will be the first that does .", "fly"),
        ("The yard had rolled out two ferries .", "rolled_out"),
        ("Two engines were also being replaced .", "replaced"),
        ("A ferry of the old kind , ``", None),
    ],
)
def test_the_word_of_an_event_is_its_first_verb(sentence: str, word: str | None) -> None:
    assert event_word(sentence) == word


def test_the_word_of_a_title_is_in_the_present() -> None:
    assert event_word("Harbour ferry strikes wall damaged last year", title=True) == "strikes"
    assert event_word("Yard to replace engines", title=True) == "replace"
    assert event_word("Owners to be paid for delays", title=True) == "paid"
