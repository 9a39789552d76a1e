from __future__ import annotations

import pytest

from quern.jobs.reasoning.answering.kinds.reading import kind_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did the mill open?", "when"),
        ("On what date did the mill open?", "when"),
        ("At what time does the mill close?", "when"),
        ("Who built the mill?", "who"),
        ("After whom is the mill named?", "which"),
        ("What is the name of the baker who rents it?", "who"),
        ("Where is the mill?", "where"),
        ("In which town does the miller live?", "where"),
        ("How many sacks does it hold?", "how_many"),
        ("How much did the roof cost?", "how_much"),
        ("What would a new wheel cost?", "how_much"),
        ("How tall is the mill?", "how_much"),
        ("What is the height of the mill?", "how_much"),
        ("For how long was the mill shut?", "how_long"),
        ("Which grain does it grind?", "which"),
        ("What is the name of the mill's cat?", "which"),
        ("Is the mill open on Sundays?", "yes_no"),
        ("According to the deed, did the miller own the field?", "yes_no"),
        ("The mill, which burnt in 1911, is it open?", "yes_no"),
        ("When the wheel broke, had the stone been dressed?", "yes_no"),
        ("The wheel that broke was of oak, right?", "yes_no"),
        ("I wonder whether the mill is open.", "yes_no"),
        ("When was the mill built, and is it open?", "when"),
        ("Which grains are ground there?", "list"),
        ("List the owners of the mill.", "list"),
        ("Why did the wheel stop?", "why"),
        ("What was the cause of the fire?", "why"),
        ("How is the flour moved?", "how"),
        ("What happened to the mill in 1911?", "what_happened"),
        ("What is a millrace?", "definition"),
        ("When the wheel broke, who mended it?", "who"),
        ("there was a nurse at the mill when it burned, whats her name", "who"),
        ("By grinding at night, what was the miller saving each year?", "how_much"),
        ("What did the miller charge the bakers for a sack?", "how_much"),
        ("What did the miller pay for?", "other"),
        ("What do the bakers get per week?", "how_much"),
        ("price of a sack of rye?", "how_much"),
        ("How far ahead must a sack be ordered?", "how_long"),
        ("How quickly did the firemen reach the mill?", "how_long"),
        ("how quick did the firemen get to the mill", "how_long"),
        ("How fast did the firemen arrive?", "how_long"),
        ("How fast does the wheel turn?", "how_much"),
        ("How well does the new wheel work?", "how"),
        ("How often is the stone dressed?", "how_many"),
        ("What is it that keeps the wheel from turning?", "why"),
        ("Which of the miller's four mills burned?", "which"),
        ("Who else was asked to run it?", "list"),
        ("What was the number of sacks in 1911?", "how_many"),
        ("What is the number of the mill?", "how_much"),
        ("What is the year the mill burned?", "when"),
        ("What are the names of the two mills?", "list"),
        ("Two keepers on the rock in winter: did Hallam begin that in 1911?", "yes_no"),
        ("The mill by the weir, has Mr Hallam sold it?", "yes_no"),
        ("the mill had a special stone, what was it called again", "which"),
        ("there was a vet at the mill, what was she called", "who"),
        ("火是怎么引起的？", "why"),
        ("磨坊最多能坐几个人？", "how_many"),
        ("磨坊什么时候开放？", "when"),
        ("磨坊是谁建的？", "who"),
        ("磨坊在哪里？", "where"),
        ("磨坊有多少袋面粉？", "how_many"),
        ("磨坊关了几年？", "how_long"),
        ("磨坊为什么停了？", "why"),
        ("磨坊星期天开放吗？", "yes_no"),
        ("Mill", "other"),
        ("?", "other"),
    ],
)
def test_what_is_asked_is_read_from_the_words_of_the_question(question: str, kind: str) -> None:
    assert kind_of(question).name == kind


def test_the_thing_that_is_counted_and_the_unit_that_is_wanted_are_known() -> None:
    assert kind_of("How many sacks of rye does it hold?").noun == {"sack"}
    assert "metre" in kind_of("How wide is the pond?").units
    assert "crown" in kind_of("How much did the roof cost?").units


def test_what_is_asked_for_in_its_place_stands_behind_its_verb() -> None:
    assert kind_of("I sail free if I buy what?").verb == "buy"
    assert kind_of("The children were given what on the last day?").verb == "given"


@pytest.mark.parametrize(
    ("question", "units"),
    [
        ("What did the sails of the mill come to?", "crown"),
        ("What does it all add up to in the end?", "crown"),
        ("What money do the bakers get?", "crown"),
        ("How much do bakers get for letting a room?", "crown"),
        ("For how long are the builders sure that the wall stands?", "year"),
        ("How long is a card of the library valid?", "year"),
        ("How long will the paint last?", "year"),
        ("If I miss the 10.05 tram, when is the next one?", "o'clock"),
        ("When is the first tram after 9.15?", "o'clock"),
    ],
)
def test_a_price_a_time_or_an_hour_is_asked_for_in_other_words(question: str, units: str) -> None:
    assert units in kind_of(question).units
    assert "metre" not in kind_of(question).units


def test_what_is_no_price_and_what_has_a_length() -> None:
    assert not kind_of("What did the bakers come to see?").units
    assert "metre" in kind_of("How long is the wall?").units
    assert "metre" in kind_of("How long will the longest string be?").units


def test_an_age_is_what_how_old_asks_for() -> None:
    assert kind_of("What is the age of the mill?") == kind_of("How old is the mill?")


def test_an_hour_a_year_or_a_unit_that_is_wanted_is_known() -> None:
    assert kind_of("Until when is the mill open on Fridays?").units == {"o'clock"}
    assert not kind_of("When did the mill open on Friday 3 May 1908?").units
    assert kind_of("In what year did it open?").grain == "year"
    assert kind_of("Average length, in minutes, of a stop?").units == {"minute"}
    assert "crown" in kind_of("How much is a season ticket for the mill?").units
    assert not kind_of("How much is known of a miller?").units
    assert kind_of("那里能坐几位客人？").units == {"person"}
