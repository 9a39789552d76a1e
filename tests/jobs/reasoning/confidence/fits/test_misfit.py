"""Answers that do not fit what was asked, and such as do: own small pages, answered by rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from quern.jobs.models.line_reader import Passage, Reading
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence
from quern.jobs.reasoning.answering.reading import Reader
from quern.jobs.reasoning.answering.task import Draft, Statement, answer_task
from quern.jobs.reasoning.confidence.fits.misfit import misfit
from quern.jobs.reasoning.confidence.judge import Judgement, judged
from quern.schemas.settings import AnswerSettings

MILL = """The mill at Orford grinds rye and oats. In 1987 the mill ground 640 tonnes of rye.
Its miller, Berta Quill, has worked there since 2003. The wheel is 5.2 metres high.
The wheel was laid in 1911 and drives two pairs of stones. The county lent 12,000 crowns, and the rest came from a bank.
The mill carries 30 visitors a day through its loft. Baker Jonas Reed buys most of the flour.
"I hope that my mate sees it," said managing director Ivo Lund."""
ROOM = """The mill at Orford grinds rye and oats. Its miller, Berta Quill, lives beside it with two cats.
The wheel is made of oak. I thank Berta Quill, who was ill for half a year. Baker Jonas Reed buys most of the flour."""
TRIALS = """Foresters will test eight new saws from March. The saws weigh 4 kilograms each.
A new kiln would cost 90,000 crowns and would dry a load in six days.
The yard is to be paved, and lorries will be weighed at the gate. The old kiln was sold in 2019."""
POND = """Every autumn the pond is drained. Two hundred carp were taken out for the market.
The pond is home to about 340 pairs of herons. There are 18 rowing boats."""
FAIR = "Year | Place | Visitors over two days\n2021 | Mill Green | 4,100\n2022 | Town Hall | 5,300"


def reason(
    question: str, text: str, title: str = "The mill at Orford", published: int = 2023, month: int = 11
) -> str | None:
    """Why the answer by rule does not stand whatever the risk; None where it does."""
    found = Evidence(text, title, [], [], datetime(published, month, 2, tzinfo=UTC))
    given = AnswerInput(question, [found])
    (judgement,) = judged([given], [answer_task(AnswerSettings()).rule(given)], AnswerSettings(risk=1.0))
    return judgement.reason


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many tonnes of rye did the mill grind in 2019?", MILL),
        ("How many tonnes of rye did the mill grind in the summer of 2020?", MILL),
        ("How many tonnes of rye were ground for the 2021 harvest?", MILL),
        ("How many tonnes of rye did the mill grind in 1999?", MILL),
        ("How much rye did the mill grind during 2005?", MILL),
        ("How many carp were taken out of the pond in 2025?", POND),
        ("How many carp were taken out of the pond in autumn 2026?", POND),
        ("How many carp went to the market at Harvest Fair 2025?", POND),
        ("How many herons were there in May 2024?", POND),
        ("How many rowing boats were there in 2024?", POND),
    ],
)
def test_what_was_at_another_time_answers_nothing(question: str, text: str) -> None:
    assert reason(question, text) == "other_time"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many tonnes of rye did the mill grind in 1987?", MILL),
        ("How many tonnes of rye did the mill grind in the 1987 season?", MILL),
        ("How many tonnes of rye did the mill grind before the wheel was mended in 2020?", MILL),
        ("How many stones does the wheel drive in 2023?", MILL),
        ("How many carp were taken out of the pond in 2023?", POND),
        ("How many carp were taken out in autumn 2023?", POND),
        ("How many carp will be taken out by 2026?", POND),
        ("How many pairs of herons are there in 2023?", POND),
        ("How many visitors came in 2021?", FAIR),
        ("How many visitors came in 2022?", FAIR),
    ],
)
def test_what_was_at_the_time_asked_or_at_no_other_stands(question: str, text: str) -> None:
    assert reason(question, text) is None


@pytest.mark.parametrize(
    "question",
    [
        "How old is the miller Berta Quill?",
        "How old is Berta Quill?",
        "How old is Jonas Reed, the baker?",
        "How heavy is the wheel of the mill?",
        "How wide is the wheel of the mill?",
        "How fast does the wheel turn?",
        "In which year was the wheel made?",
        "What did the wheel cost?",
        "How hot does the flour get in the loft?",
        "At what time does the mill open?",
    ],
)
def test_a_sentence_without_a_value_of_the_kind_answers_nothing(question: str) -> None:
    assert reason(question, ROOM) == "only_related"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the wheel?", MILL),
        ("How many visitors does the mill carry a day?", MILL),
        ("How much did the county lend?", MILL),
        ("When was the wheel laid?", MILL),
        ("Since when has Berta Quill worked there?", MILL),
        ("How heavy is each of the saws?", TRIALS),
        ("When was the old kiln sold?", TRIALS),
        ("How old is Ada Marsh?", "The smith Ada Marsh, 61, lives alone. She sells nails."),
        ("How old is the chancellor?", "The chancellor, born on 3 May 1961, lives at the mill."),
        ("When do you drain the pond?", "Drain the pond after the first frost. Leave the reeds."),
    ],
)
def test_a_value_of_the_kind_stands(question: str, text: str) -> None:
    assert reason(question, text) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "Which bank lent the rest of the money?",
            "The rest of the money was lent by a bank. It is paid back by 2030.",
        ),
        ("Which company built the loft?", "The loft was built by the same company. It smells of flour."),
        ("What newspaper told of the mill?", "A newspaper told of the mill at length. Everybody read it."),
        ("Which university tested the stones?", "The stones were tested at a university. None broke."),
        ("Which ship brought the stones?", "The stones were brought by ship. It took two days."),
        ("Which village buys the flour?", "The flour is bought by a village down the valley."),
        ("Which insurer paid for the flood?", "The insurer paid for the flood at once."),
        ("In which hotel did the millers meet?", "The millers met in a small hotel. They sang."),
        ("Which judge fined the miller?", "A judge fined the miller on Monday. He paid."),
        ("Which charity gets the fees?", "The fees go to a charity that helps swans."),
    ],
)
def test_which_of_the_things_that_go_by_a_name_needs_a_name(question: str, text: str) -> None:
    assert reason(question, text, "News of the week") == "only_related"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which bank lent the rest of the money?", "The rest of the money was lent by Crane Bank."),
        ("Which company built the loft?", "Reed and Daughters built the loft. It smells of flour."),
        ("What newspaper told of the mill?", "The Orford Gazette told of the mill at length."),
        ("Which university tested the stones?", "The stones were tested at Brenmouth. None broke."),
        ("Which ship brought the stones?", "The stones were brought by the Maria Sand."),
        ("Which village buys the flour?", "The flour is bought by Nether Coombe."),
        ("What kind of boat brought the stones?", "The stones were brought by a flat barge."),
        ("Which bank of the stream is steeper?", "The left bank of the stream is steeper."),
        ("Which judge fined the miller?", "Judge Ana Pohl fined the miller on Monday."),
        ("Which station is meant by the stone?", "The stone means the old water station, Upper Weir."),
    ],
)
def test_a_name_told_stands(question: str, text: str) -> None:
    assert reason(question, text, "News of the week") is None


def test_a_page_of_one_thing_names_it() -> None:
    text = "The song begins with a slow piano. Then drums set in."
    assert reason("Which song begins with a slow piano?", text, "Long Way Home (song)") is None
    assert reason("Which song begins with a slow piano?", text, "Notes on how songs begin") == "only_related"


SAWS = "Foresters will test eight new saws from March. A saw is a tool."
KILN = "A new kiln for the parish would take 90,000 crowns. It is of brick."
YARD = "The yard is to be paved in May. It lies by the pond."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Did the new saws of the foresters cut well?", SAWS),
        ("What did the foresters find when they tried the new saws?", SAWS),
        ("Were the foresters happy with the eight new saws?", SAWS),
        ("Who was hurt by the eight new saws of the foresters?", SAWS),
        ("Did any of the eight new saws break?", SAWS),
        ("Has the parish bought a new kiln?", KILN),
        ("Did the council approve a new kiln for the parish?", KILN),
        ("How much did the council give the parish for a new kiln?", KILN),
        ("Was anybody hurt in the yard?", YARD),
        ("Who was it that opened the yard?", YARD),
    ],
)
def test_what_is_only_planned_does_not_say_what_came_of_it(question: str, text: str) -> None:
    assert reason(question, text, "From the yard") == "only_related"


@pytest.mark.parametrize(
    "question",
    [
        "Will foresters test the saws?",
        "How much would a new kiln cost?",
        "How many saws will be tested?",
        "From when will foresters test saws?",
        "Were the eight saws tested?",
        "Have the foresters tested saws?",
        "Was the yard paved?",
        "When was the old kiln sold?",
        "What was planned for the yard?",
        "How many saws did they plan to test?",
    ],
)
def test_what_was_planned_stands_where_that_is_asked(question: str) -> None:
    assert reason(question, TRIALS, "From the yard") is None


@pytest.mark.parametrize(
    ("question", "text", "title"),
    [
        ("How many pairs of storks live at the pond?", POND, "The pond"),
        ("How many pairs of grebes does the pond have?", POND, "The pond"),
        ("How many arrests were there at the harvest fair in 2021?", FAIR, "Harvest fair"),
        ("How many pickpockets were caught at the fair in 2022?", FAIR, "Harvest fair"),
        ("Who is the mate of the mill boat?", MILL, "The mill at Orford"),
        ("Was Bruno on board the barge?", "The barge struck a post at noon. She sank at once.", "The barge"),
        ("How many trees does Wexcombe plan to plant?", "Orford has 340 trees. They are pruned in May.", "Trees"),
        ("How many rowing boats are there in Netherby?", POND, "Orford"),
        ("How many rowing boats are based at Lower Weir?", POND, "Orford"),
        ("Did Bruno eat the carp?", "Two carp were eaten at the inn.", "The pond"),
    ],
)
def test_what_is_told_of_another_answers_nothing(question: str, text: str, title: str) -> None:
    assert reason(question, text, title) == "other_entity"


@pytest.mark.parametrize(
    ("question", "text", "title"),
    [
        ("How many pairs of herons live at the pond?", POND, "The pond"),
        ("How many servings of vegetables a day?", "Eat five servings of veggies a day.", "Advice"),
        ("How many people visited in 2021?", FAIR, "Harvest fair"),
        ("Who is the managing director?", MILL, "The mill at Orford"),
        ("Who is the miller at Orford?", MILL, "The mill at Orford"),
        ("Was Bruno on board the barge?", "Bruno the dog was on board. The barge struck a post.", "The barge"),
        ("How long was Bruno on board?", "Bruno came at noon. He was on board for two hours.", "The barge"),
        ("How many trees does Orford have?", "There are 340 trees. They are pruned in May.", "Orford"),
        ("How many rowing boats are there in Orford?", POND, "Orford"),
        ("How many rowing boats are there in England?", "There are 18 rowing boats in England.", "Orford"),
    ],
)
def test_what_is_told_of_the_thing_itself_stands(question: str, text: str, title: str) -> None:
    assert reason(question, text, title) is None


@pytest.mark.parametrize("event", ["after the halt in March 2021", "once the ice had gone in March 2021"])
def test_a_time_that_the_question_gives_of_something_else_is_no_answer(event: str) -> None:
    text = "On 2 March 2021 the barge broke the ice at the weir."
    assert reason(f"On what date did the barge sail again {event}?", text, "The weir") == "only_related"
    assert reason("On what date in March 2021 did the barge break the ice?", text, "The weir") is None


@pytest.mark.parametrize(
    ("question", "refused"),
    [
        ("Who was picked as captain of the Maria Sand?", True),
        ("Who is the captain of the Berta Sand?", False),
        ("Who is the captain?", False),
    ],
)
def test_a_role_at_another_is_no_answer(question: str, refused: bool) -> None:
    text = "Captain Ada Marsh, the master of the Berta Sand, was picked for the prize."
    assert (reason(question, text, "Ships of the county") is not None) == refused


def test_a_time_that_leads_in_the_question_is_not_the_one_asked_about() -> None:
    text = "The barge sank in 1981 with a load of salt. A buoy marks the place."
    assert reason("Before the 2021 flood, when was it that the barge sank?", text, "The weir") is None
    assert reason("How much salt sank with the barge in 2021?", text, "The weir") == "other_time"


def compared(question: str, short: str, *answers: str) -> Judgement:
    text = "The mast of the Maria is 31 metres tall. The Berta is painted green."
    alone = AnswerInput(question, [Evidence(text, "Two boats", [], [])])
    sides = (AskedBefore(f"How tall is the mast of side {n}?", a, (n + 1,)) for n, a in enumerate(answers))
    draft = Draft(sentences=[Statement(text=short, rests_on=[1, 2])])
    (judgement,) = judged([alone.after([*sides])], [draft], AnswerSettings(risk=1.0), whole=True)
    return judgement


def test_a_comparison_needs_a_value_of_each_side_and_tells_the_one_there_is() -> None:
    question = "Which has the taller mast, the Maria or the Berta?"
    lacking = compared(question, "31 metres, against painted green", "31 metres", "It is painted green")
    assert lacking.reason == "only_related"
    assert "the Berta" in lacking.detail
    assert "31 metres" in lacking.detail
    assert compared(question, "The Maria (31 against 24 metres)", "31 metres", "24 metres").reason is None
    assert compared(question, "The Maria (31 against 24 metres)", "", "").reason == "only_related"


def test_a_side_that_has_a_name_is_named_where_its_value_stands() -> None:
    question = "Which has the taller mast, the Maria or the Clara?"
    foreign = compared(question, "The Maria (31 against 24 metres)", "31 metres", "24 metres")
    assert foreign.reason == "other_entity"
    assert "the Clara" in foreign.detail


def test_a_loose_comparison_needs_no_values() -> None:
    question = "How does the Maria differ from the Berta?"
    assert compared(question, "It is tall, against painted green", "It is tall", "It is painted green").reason is None


@pytest.mark.parametrize(
    ("question", "told", "refused"),
    [
        ("How much does it cost to join the mill's club?", "The repair cost 3,100 crowns.", True),
        ("How much was the repair of the mill?", "The repair cost 3,100 crowns.", False),
        ("How much did repairing the mill cost?", "The repair cost 3,100 crowns.", False),
        ("How much does it cost to join the mill's club?", "The membership costs 20 crowns.", False),
        ("How much did the county spend on the mill?", "The new roof cost 9,000 crowns.", False),
        (
            "How much does it cost to visit the garden?",
            "The house costs 9 crowns and the garden costs 4 crowns to visit.",
            False,
        ),
    ],
)
def test_the_price_of_another_thing_is_none(question: str, told: str, refused: bool) -> None:
    found = reason(question, f"The mill at Orford has a club of millers and a garden. {told}")
    assert (found == "only_related") == refused


def test_a_sentence_of_spaces_is_read_in_no_time() -> None:
    begun = time.perf_counter()
    assert (
        reason("How much does it cost to join the club?", f"The mill{' ' * 3000}grinds rye for 9 crowns a sack.")
        is None
    )
    assert time.perf_counter() - begun < 5.0


def test_an_answer_that_says_nothing_is_no_misfit() -> None:
    given = AnswerInput("How old is Berta?", [Evidence(MILL, None, [], [])])
    assert misfit(given, Draft(sentences=[])) is None


PHONES = """The Pell 2030 is a small phone. It was designed by Studio Arvid.
The Pell 1900 weighs 140 grams. Each phone comes with a cable."""


def test_a_year_in_a_name_that_the_page_has_is_no_time() -> None:
    assert reason("Who designed the Pell 2030?", PHONES, "Phones") is None
    assert reason("How many boats were at the harvest in 2030?", POND, "The pond") == "other_time"


def test_a_value_of_another_number_of_the_same_name_is_another_things() -> None:
    assert reason("How heavy is the Pell 2030?", PHONES, "Phones") == "other_entity"
    assert reason("How heavy is the Pell 1900?", PHONES, "Phones") is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How old is the mill?", "The mill was built in 1911 by the weavers. It has a loft."),
        ("How old is the photograph of the mill?", "The photograph of the mill dates from 1912."),
        ("How old is the yard?", "The yard was founded in Orford in 1998 by two smiths."),
        ("When will the app have maps?", "Version 4.3 of the app will bring maps."),
        ("When did the coach leave?", "The coach leaves at 7.30 am from the church."),
        ("When is high water at the quay?", "High water at the quay is at nine."),
        ("When does the market end?", "The market ends at half past four."),
        ("When is the library shut?", "The library is shut on Mondays."),
        ("When were the limes cut?", "The limes were cut in spring, by two men."),
        ("When did the miller resign?", "The next miller is to be chosen in June. The miller resigned after the vote."),
        ("What was decided about the piano?", "The piano is to be sold."),
        ("Who was the miller's husband?", "The miller sells nails. Her husband, the painter Jonas Lie, sang."),
        ("Who is the painter?", "Her husband, the painter Jonas Lie, sang."),
    ],
)
def test_what_answers_in_other_words_stands(question: str, text: str) -> None:
    assert reason(question, text) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How old are herons when they die?", "Herons live for 10 to 13 years. They sleep a lot."),
        ("What was push replaced with?", "The command sync replaces push, which will be removed in version 5."),
        ("What has the new loft brought?", "The new loft will bring light."),
        ("Which person resigned after the vote?", "The chair resigned after the vote. It was late."),
        ("Who led the survey in 2018?", "Since 2010 Ana Kovac has led the survey."),
        ("How many people did the mill employ in 2023?", "It employs 240 people and had sales of 31 million in 2022."),
        ("How many people did the mill employ in 1970?", "Until 1980 the mill employed 90 people."),
    ],
)
def test_what_goes_on_or_is_told_beside_a_plan_stands(question: str, text: str) -> None:
    assert reason(question, text, "The mill") is None


def test_a_year_of_the_same_clause_is_that_of_the_value() -> None:
    text = "The mill employed 240 people in 2022 and is of brick."
    assert reason("How many people did the mill employ in 2023?", text, "The mill") == "other_time"
    assert (
        reason("How many people did the mill employ in 2008?", "Since 2010 the mill employs 90 people.") == "other_time"
    )


def test_a_title_in_quotation_marks_is_no_band() -> None:
    text = 'They split up in 1979. Their album "Salt Road" sold well.'
    given = AnswerInput("What band split up in 1979?", [Evidence(text, "The Lantern Keepers", [], [])])
    assert answer_task(AnswerSettings()).rule(given).short != "Salt Road"


def test_a_thing_named_by_the_title_alone_is_told() -> None:
    text = "The club has 64 members. Its dues are 15 pounds a year."
    assert reason("Which club has 64 members?", text, "Garden club newsletter, June") is None
    assert reason("Which club has 64 members?", text, "News of the week") == "only_related"


def test_a_year_of_making_is_an_age_and_no_other_amount() -> None:
    text = "The mill was built in 1911 by the weavers. It has a loft."
    assert reason("What did the mill cost?", text) == "only_related"
    assert reason("How heavy is the mill?", text) == "only_related"


GUESTS = """Four foreign guests have come to the mill this month, the most since the loft was opened by a baker in 1961.
Each guest has a room above the wheel."""


@pytest.mark.parametrize(
    "question",
    [
        "How many guests were at the mill in summer 2023?",
        "How many foreign guests came to the mill in November 2023?",
        "How many guests came to the mill in autumn 2023?",
    ],
)
def test_a_date_of_another_event_does_not_date_a_sentence_of_the_time_asked(question: str) -> None:
    month = 5 if "summer" in question else 11
    assert reason(question, GUESTS, month=month) is None


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("How many guests came to the mill in summer 2022?", 5),
        ("How many guests came to the mill in June 2022?", 5),
        ("How many guests came to the mill in summer 2023?", 11),
        ("How many foreign guests came to the mill in October 2023?", 5),
        ("Which baker came to the mill in summer 2023?", 5),
    ],
)
def test_the_date_of_another_event_lends_the_sentence_no_other_time(question: str, month: int) -> None:
    assert reason(question, GUESTS, month=month) is not None


def test_a_year_of_the_main_clause_dates_it_on_a_page_of_the_time_asked() -> None:
    text = "In 1961 the mill had four guests. Each guest has a room above the wheel."
    assert reason("How many guests were at the mill in summer 2023?", text, month=6) == "other_time"


CENSUS = """In 1983 the squares of the pond held 4,412 common snails. This year there were 2,961.
Species | 1983 | 2003 | 2023
Common snail | 4,412 | 3,870 | 2,961
Water flea | 0 | 44 | 618"""


@pytest.mark.parametrize(("year", "told"), [(1983, "4,412"), (2003, "3,870"), (2023, "2,961")])
def test_the_cell_of_the_year_asked_is_told_rather_than_a_sentence_of_another(year: int, told: str) -> None:
    question = f"How many common snails were counted in the squares of the pond in {year}?"
    given = AnswerInput(question, [Evidence(CENSUS, "The pond", [], [], datetime(2023, 11, 2, tzinfo=UTC))])
    draft = answer_task(AnswerSettings()).rule(given)
    assert told in draft.short
    assert misfit(given, draft) is None


@pytest.mark.parametrize(
    "what", ["snails were counted in the squares of the pond in 2013", "snails were there in 2024"]
)
def test_a_year_that_heads_no_column_is_answered_by_no_cell(what: str) -> None:
    assert reason(f"How many common {what}?", CENSUS, "The pond") == "other_time"


@pytest.mark.parametrize(("head", "refused"), [("Visitors over three nights", False), ("Lanterns", True)])
def test_who_comes_is_people(head: str, refused: bool) -> None:
    text = f"Year | Place | {head}\n2024 | Meadow | 23,400\n2025 | Green | 33,700"
    given = AnswerInput("How many people went to the fair in 2025?", [Evidence(text, "The fair", [], [])])
    row = [Statement(text="33,700 (2025)", rests_on=[3]), Statement(text="2025 | Green | 33,700", rests_on=[3])]
    assert (misfit(given, Draft(sentences=row)) is not None) == refused


def test_an_event_may_come_after_another_of_the_same_year() -> None:
    text = "The ferry sailed again on Wednesday 8 May 2024. On 2 March 2024 she had struck a dredger."
    assert reason("When did the ferry sail again after the collision of 2024?", text, "The ferry") is None
    text = "The ferry sailed again on 8 March 2024."
    assert (
        reason("When did the ferry sail again after the collision in March 2024?", text, "The ferry") == "only_related"
    )


class DoubtsAll:
    """Finds each line as likely, and doubts that any answers."""

    fingerprint = "d"

    def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Reading]:
        del question
        return lambda: Reading([[-1.0 for _ in p.lines] for p in passages], 2.0)


@pytest.mark.parametrize(
    ("question", "refused"),
    [("Who designed the Ostley Bridge?", True), ("Who cut the ribbon of the Ostley Bridge?", False)],
)
def test_a_chunk_that_has_nothing_but_the_name_answers_nothing_that_is_doubted(question: str, refused: bool) -> None:
    text = "The Ostley Bridge is open. The ribbon was cut by Wilf Arkwright, 91, who as a boy crossed by ferry."
    given = AnswerInput(question, [Evidence(text, "Ostley Bridge", [], [])], reader=Reader(DoubtsAll(), 0.6))
    said = Draft(sentences=[Statement(text="Wilf Arkwright", rests_on=[2])])
    assert (misfit(given, said) is not None) == refused
    assert misfit(replace(given, reader=None), said) is None
