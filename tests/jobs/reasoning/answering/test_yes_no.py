from __future__ import annotations

import pytest

from quern.jobs.reasoning.answering.alternatives import offered
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.parts.contrast import contrasted
from quern.jobs.reasoning.answering.polarity import denies, opposed
from quern.jobs.reasoning.answering.scopes import scopes
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.questions.comparisons import pair
from quern.schemas.settings import AnswerSettings

RULES = """\
The mill is a quiet place with a long history. Visitors may photograph the stones but not the miller.
Bicycles go free from 1 November to the end of March. No drums may be played in the yard after 21.30.
Only members of the trust may climb the cap. The shop is open Tuesday to Saturday.
Up to 40 people may stand on the deck.
The bakery broke even last year. Four of the six sails were replaced. The new road did not open until June 2021.
The owner refused to sell the pond. The loaves were ready within fourteen hours. The mill no longer grinds rye.
The barn was damp and the morning was foggy.
- Monday
- closed
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("May visitors photograph the stones?", "Yes"),
        ("Can I photograph the miller?", "No"),
        ("Do bicycles go free in May?", "No"),
        ("Do bicycles go free in January?", "Yes"),
        ("Could we play drums in the yard at eleven at night?", "No"),
        ("Could we play drums in the yard at 8 pm?", "Yes"),
        ("May children climb the cap?", "No"),
        ("Is the shop open on Sundays?", "No"),
        ("Is the shop open on Fridays?", "Yes"),
        ("Can 60 people stand on the deck?", "No"),
        ("Can 25 people stand on the deck?", "Yes"),
        ("Did the bakery lose money last year?", "No"),
        ("Were all the sails replaced?", "No"),
        ("Did the new road open in June 2021?", "Yes"),
        ("Did the owner sell the pond?", "No"),
        ("Did the owner refuse to sell the pond?", "Yes"),
        ("Were the loaves ready in less than a day?", "Yes"),
        ("Does the mill still grind rye?", "No"),
        ("Isn't the mill a quiet place?", "Yes"),
        ("Was the morning clear?", "No"),
        ("I am free next week. Is it closed on Mondays?", "Yes"),
    ],
)
def test_the_sentence_that_decides_tells_yes_or_no(question: str, answer: str) -> None:
    given = AnswerInput(question, [Evidence(RULES, "Rules", [], [])])
    assert answer_task(AnswerSettings()).rule(given).short.partition(":")[0] == answer


ENDED = """\
Harl, which made the candles, stopped selling them in May 2024 and has no plan to start again.
The baker stopped grinding rye so that he could mill more spelt. The night coach was withdrawn in June.
The county suspended its library bus. The tram stopped at the pier. The potter gave up his stall at the market.
The eels of the lake are a small race that is free of worms, and pike are sold to the mainland.
The lake boat sails without a mate in summer. The tower was built of stone instead of brick.
The baker did not stop baking pies. The chandler sells rope to anybody.
The museum stops selling tickets at four. The lake is free from lead. There is a ban on kites on the beach.
You can hang your pictures in the hall as long as you do not damage the walls.
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Does Harl still sell the candles?", "No"),
        ("Does Harl sell candles?", "No"),
        ("Did Harl sell candles?", "Yes"),
        ("Did Harl stop selling the candles?", "Yes"),
        ("Can I still buy candles from Harl?", "No"),
        ("Can I buy rope?", "Yes"),
        ("Does the baker still grind rye?", "No"),
        ("Does the baker mill spelt?", "Yes"),
        ("Did the baker stop baking pies?", "No"),
        ("Does the baker still bake pies?", "Yes"),
        ("Is there still a night coach?", "No"),
        ("Was the night coach withdrawn?", "Yes"),
        ("Does the county run a library bus?", "No"),
        ("Does the tram stop at the pier?", "Yes"),
        ("Does the tram still call at the pier?", "Yes"),
        ("Does the potter still have a stall at the market?", "No"),
        ("Do the eels of the lake have worms?", "No"),
        ("Are the eels of the lake free of worms?", "Yes"),
        ("Does the lake boat sail in summer?", "Yes"),
        ("Does the lake boat sail with a mate?", "No"),
        ("Was the tower built of stone?", "Yes"),
        ("Can I hang my pictures in the hall?", "Yes"),
        ("Does the museum sell tickets in the morning?", "Yes"),
        ("Is there lead in the lake?", "No"),
        ("Are kites allowed on the beach?", "No"),
        ("Is there a ban on kites on the beach?", "Yes"),
        ("Was the tower built of brick?", "No"),
    ],
)
def test_what_ended_or_is_missing_is_denied_and_nothing_else(question: str, answer: str) -> None:
    given = AnswerInput(question, [Evidence(ENDED, "Village", [], [])])
    assert answer_task(AnswerSettings()).rule(given).short.partition(":")[0] == answer


BOAT = """A water bus for foot passengers, the Wren, sails from Oak Steps from Thursday 7 March.
The boat carries 46 passengers. Pupils may board first. Bicycles are not carried. Dogs are carried on the open deck.
Bring a coat.
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Can I bring my bicycle on the Wren?", "No"),
        ("Can I take my bike on the Wren?", "No"),
        ("Can I bring my dog on the Wren?", "Yes"),
        ("Does the Wren sail from Oak Steps?", "Yes"),
    ],
)
def test_what_says_something_of_the_thing_asked_for_decides(question: str, answer: str) -> None:
    given = AnswerInput(question, [Evidence(BOAT, "The Wren", [], [])])
    assert answer_task(AnswerSettings()).rule(given).short.partition(":")[0] == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Was the miller fined or jailed?", "fined"),
        ("Is the mill run by the county or by a private firm?", "a private firm"),
        ("Does the last boat leave at 9.30 or 10.30?", "10.30"),
        ("Was the offer accepted or rejected?", "rejected"),
    ],
)
def test_of_two_alternatives_the_one_is_told_that_the_evidence_has(question: str, answer: str) -> None:
    text = (
        "The miller was fined 200 crowns. The mill is run by a private firm. The last boat leaves at 10.30. "
        "The offer was rejected. Nobody was hurt."
    )
    given = AnswerInput(question, [Evidence(text, "Mill", [], [])])
    assert answer_task(AnswerSettings()).rule(given).short == answer


def test_whether_anybody_was_one_or_the_other_is_no_choice() -> None:
    assert offered("Was anybody hurt or killed?") is None
    assert offered("Is it open or not?") is None


def test_words_of_denial_that_deny_nothing_do_not() -> None:
    plain = ["not only cars", "no fewer than 12", "did not open until June", "No. 3 dock", "nothing but fog"]
    assert [t for t in plain if denies(t)] == []
    assert denies("it no longer carries cars")
    assert opposed("Was it accepted?", "It was rejected.") == "accepted"


@pytest.mark.parametrize(
    ("text", "unit", "places"),
    [
        ("from 1 November to the end of March", "month", {10, 11, 0, 1, 2}),
        ("from Friday to Monday", "weekday", {4, 5, 6, 0}),
        ("from 10 pm to 1 am", "hour", {44, 45, 46, 47, 0, 1}),
        ("after 22.45", "hour", {45, 46, 47}),
    ],
)
def test_what_returns_goes_round_the_year_the_week_and_the_day(text: str, unit: str, places: set[int]) -> None:
    assert {s.unit: set(s.places) for s in scopes(text)} == {unit: places}


def test_one_day_is_none_that_returns() -> None:
    assert scopes("on Wednesday", returning=True) == []
    assert scopes("on 3 May 2024") == []
    assert scopes("after eight years") == []


def test_even_is_the_opposite_of_a_loss_only_where_one_breaks_even() -> None:
    assert opposed("Did even the captain lose money?", "The captain lost money, and even the mate did.") == ""
    assert opposed("Did even the captain leave?", "The loss was heavy.") == ""
    assert opposed("Did the bakery lose money?", "It broke even.") == "lose"


def test_which_of_two_has_more_is_not_answered_by_yes() -> None:
    text = "The mill will cut 140 jobs, 95 of them at Casterby and 45 in Port Averil."
    given = AnswerInput(
        "Is the mill cutting more jobs at Casterby or in Port Averil?", [Evidence(text, "Mill", [], [])]
    )
    assert not answer_task(AnswerSettings()).rule(given).short.startswith("Yes")
    compared = pair("Is the mill cutting more jobs at Casterby or in Port Averil?")
    assert compared is not None
    assert compared.sides == ("at Casterby", "in Port Averil")
    found = contrasted(given, compared.questions, ["", ""], compared.word)
    assert [side.text for side in found] == ["95", "45"]


def test_values_of_one_place_in_their_halves_are_compared() -> None:
    text = "The new barge takes 320 passengers and 44 carts, compared with 280 and 36 on the Lady Orrin."
    asked = ["How many passengers does the Lady Maren take?", "How many passengers does the Lady Orrin take?"]
    given = AnswerInput("Which takes more passengers, the Lady Maren or the Lady Orrin?", [Evidence(text, "", [], [])])
    assert [side.text for side in contrasted(given, asked, ["", ""], "more")] == ["320 passengers", "280"]
