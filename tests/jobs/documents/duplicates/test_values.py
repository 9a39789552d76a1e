from __future__ import annotations

import pytest

from quern.jobs.documents.duplicates.values import differ_in_value

REST = "\nThe ferry leaves when the water is high, and whoever comes late waits for the next tide on the quay.\n" * 40

DIFFERENT = {
    "name": ("This certifies that Anna Berg has passed.", "This certifies that Jonas Lind has passed."),
    "first name": ("We gave it to Anna Berg yesterday.", "We gave it to Anne Berg yesterday."),
    "number": ("You have seat 12 in the boat.", "You have seat 14 in the boat."),
    "sign": ("It was -5 degrees.", "It was 5 degrees."),
    "decimals": ("It weighs 1.5 kg.", "It weighs 15 kg."),
    "code": ("Model ABCDE is sold out.", "Model ABCDF is sold out."),
    "date": ("Given at the quay on 3 May 2024.", "Given at the quay on 3 June 2024."),
    "weekday": ("The lamp is dark until Monday.", "The lamp is dark until Friday."),
    "field": ("Colour: red", "Colour: blue"),
    "cell": ("Kettle | red | new", "Kettle | blue | new"),
    "field that is empty": ("Name: ____ of the guild", "Name: Anna Berg of the guild"),
    "many values in a line": (
        "Ticket A-12 from Tollen to Ostrand on 3 May at 10:15, seat 4, for Anna Berg",
        "Ticket B-77 from Marlow to Vik on 9 June at 8:40, seat 9, for Jonas Lind",
    ),
    "numeral in Chinese": ("会议室里有三张桌子", "会议室里有四张桌子"),
    "name in Chinese": ("兹证明王丽华已完成课程", "兹证明陈建国已完成课程"),
    "name in Arabic": ("قال محمد إن الجسر مغلق", "قال أحمد إن الجسر مغلق"),
}
ALIKE = {
    "typo in a name": ("We met Professor Hansson there.", "We met Professor Hanssno there."),
    "typo in Chinese": ("他们在这里住了很久吗", "他们在这里住了很久嘛"),
    "edited word": ("The red kettle is on the stove.", "The old kettle is on the stove."),
    "first word of a sentence": ("However, it rained.", "Still, it rained."),
    "marks": ("Berg's boat — the old one — sank.", "Berg’s boat - the old one - sank."),
    "agency": ("TOLLEN - The mayor came.", "TOLLEN (Reuters) - The mayor came."),
    "paragraph more": ("The end.", "The end.\nTickets for Ostrand cost 12 EUR, until 3 May 2024."),
    "other footer": (
        "Read more on our pages. Follow us there for news of the day and for the best of Harbour Weekly.",
        "Subscribe to the letter that this town has read since 1931 and get all of it free by mail.",
    ),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_a_value_that_differs_makes_two_documents_at_any_length(one: str, other: str) -> None:
    for rest in ("", REST):
        assert differ_in_value(one + rest, other + rest)
        assert differ_in_value(rest + other, rest + one)


@pytest.mark.parametrize(("one", "other"), ALIKE.values(), ids=ALIKE)
def test_what_changes_no_value_leaves_near_duplicates(one: str, other: str) -> None:
    for rest in ("", REST):
        assert not differ_in_value(one + rest, other + rest)
        assert not differ_in_value(rest + other, rest + one)


def test_a_value_that_differs_in_a_book_is_found_without_aligning_it() -> None:
    book = REST * 150
    assert differ_in_value(f"Copy 17.{book}", f"Copy 18.{book}")
    assert not differ_in_value(f"{book}", f"{book}\nPrinted for Anna Berg.")
