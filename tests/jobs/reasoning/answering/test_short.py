from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.in_time import years_asked
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.answering.typed.sentence import CAUSE
from quern.schemas.settings import AnswerSettings

MILL = (
    "The windmill on Tarn Hill was built in 1811 by Josef Arndt, a joiner from Elm Cross. "
    "It is 19 metres tall and holds 240 sacks of rye. "
    "On Friday its wheel broke because a starling had nested in the gears. "
    "The repair cost 3,100 crowns and lasted nine days. "
    "The mill was not insured."
)
CHINESE = "塔恩山上的磨坊建于1811年，由木匠王大力建造。磨坊高19米。修理费是3100克朗。"


def short(question: str, *texts: str, title: str | None = "The mill on Tarn Hill") -> str:
    """The short answer by the rule; the pages were published on Monday 6 May 2024 and a day later each."""
    found = [Evidence(text, title, [], [], datetime(2024, 5, 6 + n, tzinfo=UTC)) for n, text in enumerate(texts)]
    given = AnswerInput(question, found)
    return answer_task(AnswerSettings()).rule(given).short


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the windmill on Tarn Hill built?", "1811"),
        ("Who built the windmill?", "Josef Arndt"),
        ("How tall is the windmill on Tarn Hill?", "19 metres"),
        ("How many sacks of rye does the windmill hold?", "240 sacks"),
        ("How much did the repair of the windmill cost?", "3,100 crowns"),
        ("How long did the repair of the windmill last?", "nine days"),
        ("Was the mill insured?", "No"),
        ("Did the repair cost 3,100 crowns?", "Yes"),
        ("Did the repair cost 4,500 crowns?", "No"),
    ],
)
def test_the_short_answer_is_what_is_asked_for(question: str, answer: str) -> None:
    assert short(question, MILL).partition(": ")[0] == answer


def test_how_well_something_works_is_told_by_a_share() -> None:
    told = "Rye rust has had a bad press. The strips cut rye rust by 22 per cent. The strips are green."
    assert short("How well do strips work against rye rust?", told, title=None).startswith("The strips cut")


def test_a_thing_is_named_where_the_sentence_has_its_noun_beside_a_name() -> None:
    told = "Within a month Arndt must sell the rye mill to a buyer. Arndt sold the rye mill to the firm Elm Grinders."
    assert "Elm Grinders" in short("Which firm got the rye mill that Arndt had to sell?", told, title=None)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("磨坊建于哪一年？", "1811年"),
        ("磨坊是谁建造的？", "王大力"),
        ("磨坊多高？", "19米"),
        ("修理费是多少克朗？", "3100克朗"),
    ],
)
def test_chinese_is_answered_in_short(question: str, answer: str) -> None:
    assert short(question, CHINESE, title=None) == answer


def test_a_namesake_is_what_stands_behind_after() -> None:
    told = "The barge was bought in May. She will be called Agnes, after the first miller. Josef Arndt steers her."
    assert short("After whom is the barge Agnes named?", told) == "the first miller"
    assert short("Who was the barge Agnes named after?", told) == "the first miller"


def test_a_day_without_a_year_follows_what_was_told_before_it() -> None:
    told = "The merger was announced on 23 January 2019. The mills were joined on 15 August."
    assert short("When were the mills joined?", told) == "15 August 2019 (15 August)"
    told = "合并于二〇一九年一月二十三日宣布。两座磨坊在八月十五日合而为一。"
    assert short("两座磨坊什么时候合而为一？", told) == "2019年8月15日 (八月十五日)"


def test_why_is_answered_by_the_cause_and_what_by_what_follows_the_verb() -> None:
    assert short("Why did the wheel of the windmill break?", MILL) == "because a starling had nested in the gears"
    assert short("What did the starling build?", "The starling built a nest of wool.") == "a nest of wool"
    wet = "The sacks of the flooded mill are dry since that weekend. The mill was flooded because a gate had jammed."
    assert short("Why was the mill on Tarn Hill flooded?", wet) == "because a gate had jammed"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("dry since that weekend", False),
        ("shut since the end of May", False),
        ("closed since 3 March", False),
        ("put off since the mayor was ill", True),
        ("put off since it may rain", True),
        ("left since the warden had gone", True),
        ("turned away since all 40 seats were taken", True),
        ("shut since the weekly market had closed", True),
    ],
)
def test_since_with_a_time_is_no_cause(text: str, cause: bool) -> None:
    assert (CAUSE.search(text) is not None) == cause


def test_a_message_answers_who_and_when_it_was_sent() -> None:
    chat = "Time: 20240301_10:00\nThrall: Shall we paint the mill on Sunday?\nJaina: I would rather mend the sails."
    assert short("Who suggested to paint the mill?", chat) == "Thrall"
    assert short("When did Thrall suggest to paint the mill?", chat) == "1 March 2024 (20240301_10:00)"


def test_a_day_of_the_week_is_told_as_the_date_that_it_was() -> None:
    assert short("When did the wheel of the windmill break?", MILL) == "3 May 2024 (Friday)"


TABLE = (
    "Year | Sacks ground | Visitors\n2021 | 1,310 | 402\n2022 | 1,290 | 377\n2023 | 1,455 | 518\n"
    "Flour is sold at the door."
)


def test_a_cell_is_told_from_its_row_and_column_with_the_label_of_its_row() -> None:
    assert short("How many sacks were ground in 2022?", TABLE, MILL) == "1,290 (2022)"
    assert short("How many visitors did the mill have in 2023?", TABLE, MILL) == "518 (2023)"


def test_the_value_of_another_entity_is_not_told() -> None:
    pages = [Evidence("It has 640 residents.", "Elm Cross", [], []), Evidence("It has 910 residents.", "Tarn", [], [])]
    given = AnswerInput("How many residents does Tarn have?", pages)
    assert answer_task(AnswerSettings()).rule(given).short == "910 residents"


def test_where_sources_disagree_the_later_holds_and_the_other_is_told() -> None:
    old, new = "The repair of the mill cost 2,900 crowns.", "The repair of the mill cost 3,100 crowns."
    assert short("How much did the repair of the mill cost?", old, new) == "3,100 crowns (earlier: 2,900 crowns)"
    assert short("How much did the repair of the mill cost?", new, old) == "2,900 crowns (earlier: 3,100 crowns)"


def test_an_amount_of_another_order_of_magnitude_is_no_earlier_figure() -> None:
    old, new = "The repair of the mill cost 29 crowns.", "The repair of the mill cost 3,100 crowns."
    assert short("How much did the repair of the mill cost?", old, new) in ("29 crowns", "3,100 crowns")


def test_a_namesake_of_the_question_is_not_who_is_asked_for() -> None:
    text = "The barge Lady Maud is kept in reserve. The barge Lady Wren was named by Ada Fell."
    assert short("Who named the barge Lady Wren?", text) == "Ada Fell"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Are dogs allowed in the mill?", "No"),
        ("Are cats allowed in the mill?", "Yes"),
        ("Was the mill closed in May?", "No"),
        ("Did more than 300 people come to the mill?", "Yes"),
        ("Did more than 500 people come to the mill?", "No"),
        ("Was the mill sold on 3 April 2023?", "No"),
    ],
)
def test_no_is_said_where_the_evidence_says_otherwise(question: str, answer: str) -> None:
    text = (
        "Dogs are not allowed in the mill, but cats are allowed in the mill. The mill was open in May. "
        "About 400 people came to the mill. The mill was sold on 9 June 2023."
    )
    assert short(question, text).partition(": ")[0] == answer


def test_a_number_counts_the_noun_beside_it_and_no_other() -> None:
    page = "She is 58, and she has painted every mill on Tarn Hill. There are 31 mills in the county. Mill 6 is red."
    assert short("How many mills are there on Tarn Hill?", page) == "31 mills"


def test_who_is_answered_by_the_one_that_does_it() -> None:
    page = "The mill was wrecked by Storm Hesta. For the repair the insurer paid 2.3 million."
    assert short("Who paid for the repair of the mill?", page) == "the insurer"


def test_what_has_most_is_the_row_of_a_table() -> None:
    assert short("Which year had the most visitors?", TABLE) == "2023 (518)"
    bill = "Part | Planned | Paid\nSails | 4.1 | 10.8\nStones | 11.2 | 23.8\nRoof | 2.6 | 3.2\nTotal | 17.9 | 37.8"
    assert short("Which part of the bill grew most between the planned and the paid?", bill) == "Stones (11.2 to 23.8)"


_SOUND = """Ostley Sound is 840 metres wide.
- 1822: the brig Anne is lost with 19 men.
- 1907: the steamer Tamar runs aground.
- 1981: the trawler Hope disappears with a crew of eleven."""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the earliest wreck on record in Ostley Sound?", "the brig Anne is lost with 19 men (1822)"),
        (
            "Which is the most recent accident in Ostley Sound?",
            "the trawler Hope disappears with a crew of eleven (1981)",
        ),
        ("When was the last time a ship was lost in Ostley Sound?", "1981"),
        ("When was the last time before 1981 that a ship was lost in Ostley Sound?", "1907"),
        ("How wide is Ostley Sound?", "840 metres"),
    ],
)
def test_the_first_and_the_last_of_a_list_of_years_are_told(question: str, answer: str) -> None:
    assert short(question, _SOUND) == answer


@pytest.mark.parametrize(
    ("question", "page", "answer"),
    [
        ("Which is the oldest tree in Ostley?",
         "Ostley in Tarn has 9,300 trees of 21 kinds. Entry 873 is the oldest tree of all. It is the yew by the gate.",
         "the yew by the gate"),
        ("Which fair drew the biggest crowd?", "Year | Visitors\n2019 | 31,000\n2022 | 28,200\n2023 | 33,700",
         "2023 (33,700)"),
        ("Which is the cheapest ticket?", "Ticket | Price | Rides\nDay | 4.50 | 9\nSingle | 1.20 | 1\nWeek | 12.00 | 7",
         "Single (1.20)"),
        ("Which is the newest tram?", "Tram | Built | Seats\nAda | 1997 | 60\nBo | 2011 | 52\nCid | 2004 | 70",
         "Bo (2011)"),
        ("录音的人里岁数最大的老人叫什么？", "语音库已经录下人的声音1480小时。年纪最大的是万桂香。", "万桂香"),
    ],
)  # fmt: skip
def test_a_superlative_is_found_where_it_is_said_or_in_the_row_that_has_it(
    question: str, page: str, answer: str
) -> None:
    assert short(question, page) == answer


def test_a_list_is_told_from_the_sentences_of_its_items() -> None:
    page = (
        "I hear of three bidders for the mill. One is a baker. The second is a trust. The third is Qinglan of Yunhe. "
        "The sails are red."
    )
    draft = answer_task(AnswerSettings()).rule(AnswerInput("Who were the bidders?", [Evidence(page, "Sale", [], [])]))
    assert draft.short == "a baker; a trust; Qinglan of Yunhe"
    assert len(draft.sentences[0].rests_on) == 3


def test_a_question_of_the_page_is_answered_behind_it() -> None:
    page = "The mill is old. Why not sails of nylon? They tried it in 2008. Salt got under it. The hill is high."
    draft = answer_task(AnswerSettings()).rule(
        AnswerInput("Why do they not use nylon for the sails?", [Evidence(page, "Mill", [], [])])
    )
    assert [s.text for s in draft.sentences[:2]] == ["They tried it in 2008.", "Salt got under it."]


def test_a_range_of_years_tells_how_long() -> None:
    page = "The peat is nine metres deep. From 1886 to 1949 a chain ferry crossed the river at the mill."
    assert short("For how many years was there a chain ferry at the mill?", page).startswith("63 years (1886 to 1949)")
    paint = "The paint of the ferry bridge at the mill lasts nine years."
    assert short("For how many years did the chain ferry run at the mill?", page, paint).startswith("63 years")


def test_people_to_whom_something_is_done_are_counted_by_how_often_it_is() -> None:
    fair = "Not more than 900 people may stand on the deck of the mill. At the Mill Fair there were two arrests."
    assert short("How many people were arrested at the Mill Fair?", fair).startswith("two arrests")
    boats = "The mill has two boats. Each of them takes nine people."
    assert short("How many people fit into a boat of the mill?", boats).startswith("nine people")


def test_what_a_thing_is_called_is_a_name() -> None:
    page = "The mill's cat, Bosun, sleeps on the sacks. The cat of the mill is fed by Josef Arndt on Fridays."
    assert short("What's the name of the cat of the mill?", page) == "Bosun"


def test_what_is_replied_to_a_question_tells_yes_or_no() -> None:
    chat = "Thrall: Have you seen the mill on Tarn Hill?\nJaina: Nope, I have been at work."
    assert short("Has Jaina seen the mill on Tarn Hill?", chat) == "No: Jaina: Nope, I have been at work."


@pytest.mark.parametrize(
    "told",
    [
        "I hear of three bidders. One is a fund that owns bakeries. One is the staff, which has no money. "
        "The third is Arndt and Sons. It would keep all jobs.",
        "Three have bid for the mill:\n- a fund that owns bakeries;\n- the staff\n- Arndt and Sons.\nAll want it.",
    ],
)
def test_all_items_of_a_series_are_listed(told: str) -> None:
    assert short("Who were the bidders for the mill?", told) == "a fund that owns bakeries; the staff; Arndt and Sons"


def test_why_goes_on_with_the_sentence_behind_what_is_asked() -> None:
    told = "Nobody could see the mill from the road. A hedge had grown before it. The road is old."
    found = [Evidence(told, "The mill on Tarn Hill", [], [])]
    draft = answer_task(AnswerSettings()).rule(AnswerInput("Why could nobody see the mill from the road?", found))
    assert "A hedge had grown before it." in [s.text for s in draft.sentences]


def test_a_person_is_no_ship_and_no_body_and_a_child_is_known_by_the_age() -> None:
    told = "The Lady Maren was painted by the Harbour Company. Lorcan Tighe, 12, told the council of the hole."
    assert short("Which kid told the council of the hole in the Lady Maren?", told) == "Lorcan Tighe"


def test_the_year_that_is_asked_for_is_one_that_is_written() -> None:
    told = "On 3 May the mill was opened to visitors. The mill was opened in 1811."
    assert short("In what year was the mill opened?", told) == "1811"


def test_chinese_words_that_share_a_rare_character_say_the_same() -> None:
    told = "磨坊的火灾由老鼠咬断电线引起。磨坊每年有客人。"
    assert short("那场大火是怎么引起的？", told, title=None) == "老鼠咬断电线"


def test_hours_are_read_from_labels_and_values_in_turn() -> None:
    hours = "The mill opens daily.\n- Monday\n- closed\n- Friday\n- 9.30 to 17.00\n- Saturday\n- 10.00 to 16.00"
    assert short("Until when is the mill open on Fridays?", hours) == "9.30 to 17.00 (Friday)"


def test_a_bare_number_has_the_unit_of_its_column() -> None:
    table = "Month | Mornings | Mean stop in minutes\nMarch | 14 | 53\nApril | 9 | 41"
    assert short("Mean length, in minutes, of a stop in April?", table) == "41 minutes (April)"
    assert short("How many minutes does a stop last in April?", table) == "41 minutes (April)"
    assert short("How many mornings were there in April?", table) == "9 (April)"


def test_a_thing_is_known_by_its_number() -> None:
    trees = "The ash at 16 Mill Lane was planted by Ida Eames. The ash at 106 Mill Lane was planted by Linus Yarrow."
    assert short("Who planted the ash at 106 Mill Lane?", trees) == "Linus Yarrow"


def test_who_somebody_is_is_said_where_the_name_is_introduced() -> None:
    told = "Everybody thanked Edda Marsh, who blushed. The doors were shut by Edda Marsh, the miller of Tarn Hill."
    assert "the miller of Tarn Hill" in short("Who is Edda Marsh?", told)


def test_a_row_or_sentence_of_another_year_or_month_does_not_answer() -> None:
    table = "Year | Place | Visitors\n2022 | Mill Green | 377\n2023 | Tarn Hill | 518"
    told = "In 2023 about 518 people came to the mill on Tarn Hill."
    assert short("How many people came to the mill on Tarn Hill in 2022?", told, table) == "377 (2022)"
    again = "Some 518 people came to the mill on Tarn Hill, against 402 the year before."
    assert short("How many people came to the mill on Tarn Hill in 2022?", told, again, table) == "377 (2022)"
    months = "Month | Mornings without wind | Mean duration in hours\nFebruary | 11 | 4\nMarch | 14 | 5"
    calm = "On a calm morning the mill on Tarn Hill stood still for 16 hours."
    assert short("On how many mornings in March was there no wind at the mill?", calm, months) == "14 (March)"
    assert short("What are the dates of the Mill Fair 2026?", "The Mill Fair is held from 22 to 24 August 2025.") == ""


def test_the_year_up_to_which_something_is_wanted_stands_where_it_is_told() -> None:
    told = "By a count of 2024 Tarn Hill has some 9,300 fruit trees. The miller wants to have 12,150 by the year 2035."
    assert short("How many fruit trees does the miller of Tarn Hill want to have by 2035?", told).startswith("12,150")
    owners = "Omar Teel owned the mill on Tarn Hill until 1931. Ruth Vance has owned the mill on Tarn Hill since 1932."
    assert short("Who has owned the mill on Tarn Hill since 1931?", owners) == "Ruth Vance"


def test_a_price_is_an_amount_of_money_or_nothing() -> None:
    rows = "Capacity | 280 sacks, 36 carts\nMaster | Edda Marsh (since 2017)"
    assert short("How much does it cost to take a cart to the mill?", rows) == ""


def test_what_differs_within_one_page_is_no_history() -> None:
    old = "The repair of the mill will cost 2,900 crowns."
    new = "The repair of the mill cost 3,100 crowns, and the repair of the mill cost 200 crowns of that for nails."
    assert short("How much did the repair of the mill cost?", old, new).count("crowns") == 2


def test_what_is_due_is_of_a_day_to_come() -> None:
    told = "Yesterday we signed for a new wheel, to be delivered in the autumn of 2027."
    assert short("When is the new wheel due to be delivered?", told) == "the autumn of 2027"


def test_headings_are_not_told_and_items_have_no_marks() -> None:
    text = "Hours of the mill\n\n- The mill opens at 9.30 on every day of the week.\n\n- The mill"
    given = AnswerInput("What do the hours of the mill say?", [Evidence(text, "Mill", [], [])])
    told = [s.text for s in answer_task(AnswerSettings()).rule(given).sentences]
    assert "The mill" not in told
    assert not any(text.startswith("-") for text in told)


def test_an_amount_from_ten_on_is_told_in_figures() -> None:
    told = "Fourteen lamps burned in the mill. Nine men slept there."
    assert short("How many lamps burned in the mill?", told) == "14 lamps"
    assert short("How many men slept in the mill?", told) == "Nine men"
    assert short("Where did the miller camp?", "The miller camped in Twenty Mile Creek.") == "Twenty Mile Creek"


def test_a_time_is_an_age_only_where_it_is_said_to_be() -> None:
    told = "The miller Josef Arndt was accused for half a year. Josef Arndt's donkey is 12 years old."
    assert short("How old is the donkey of Josef Arndt?", told) == "12 years"
    aged = "For three years Clara Voss painted mills. Clara Voss, 58, lives at Elm Cross."
    assert short("How old is Clara Voss?", aged).startswith("58")


def test_a_headline_that_says_the_question_again_gives_way_to_the_sentence_that_answers() -> None:
    told = "Why the windmill on Tarn Hill stands still\n\nA starling has nested in its gears. Visitors are sent home."
    assert "starling" in short("Why does the windmill on Tarn Hill stand still?", told)


JAM = """Ada: For tonight's jam, how about "Long Way Home"?
I think that it would be fun to play.
Ben: It's a great song for the jam tonight."""


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("Which song is great for the jam tonight?", JAM, "Long Way Home"),
        ("What kind of song is great for the jam tonight?", JAM, "Ben: It's a great song for the jam tonight."),
        (
            "Which judge fined the two mills over the flood?",
            "The two mills were fined over the flood, a judge ruled. Judge Ana Pohl named the sum on Monday.",
            "Judge Ana Pohl",
        ),
        (
            "Which bank lent the rest of the price of the wheel?",
            "The wheel came from Elm Cross. The rest of the price of the wheel is lent by our bank.",
            "The rest of the price of the wheel is lent by our bank.",
        ),
    ],
)
def test_a_thing_that_goes_by_a_name_is_named_from_the_sentence_beside(question: str, text: str, answer: str) -> None:
    assert short(question, text, title=None) == answer


@pytest.mark.parametrize(
    ("question", "told", "answer"),
    [
        ("How long was the school in Ostley shut?",
         "The school in Ostley will be shut for two weeks. The Ostley school was shut for five weeks.", "five weeks"),
        ("What did the roof cost?",
         "The roof of the school is expected to cost 900 crowns. The roof cost 1,100 crowns.", "1,100 crowns"),
        ("How many people came to the fair?", "Some 500 people are expected at the fair. To the fair came 623 people.",
         "623 people"),
        ("How long was the school in Ostley shut?", "The school in Ostley will be shut for two weeks.", "two weeks"),
        ("What was the roof of the school expected to cost?",
         "The roof of the school is expected to cost 900 crowns. The roof cost 1,100 crowns.", "900 crowns"),
        ("When was the mill at Ostley sold?",
         "The bank allowed it on 15 August on condition that the mill at Ostley be sold. The mill went to Elm Cross on "
         "17 September.", "17 September 2023 (17 September)"),
        ("When was the mill at Ostley sold?",
         "The bank allowed it on 15 August on condition that the mill be sold.", "15 August 2023 (15 August)"),
        ("What are hosts paid a night?", "Pupils will lodge in town, and the county pays hosts 28 crowns a night.",
         "28 crowns"),
    ],
)  # fmt: skip
def test_what_was_expected_is_told_only_where_nothing_says_what_came_of_it(
    question: str, told: str, answer: str
) -> None:
    assert short(question, told, title="Ostley") == answer


@pytest.mark.parametrize(
    "question",
    [
        "What is the phone number of the planning desk?",
        "Which number do I ring for the planning desk?",
        "Can you tell me the telephone number of the planning desk?",
    ],
)
def test_a_number_to_ring_is_written_as_one(question: str) -> None:
    table = "Desk | Telephone | Staff\nBins | 555-0174 | 12\nPlanning desk | 555-0176 | 31"
    assert "555-0176" in short(question, f"The planning desk has 31 staff.\n{table}", title="The council")


@pytest.mark.parametrize(
    ("question", "told", "answer"),
    [
        ("From when until when did a chain ferry run at Elm Cross?",
         "Josef Arndt crossed on the chain ferry that ran at Elm Cross until 1949. From 1886 to 1949 a chain ferry ran "
         "at Elm Cross.", "1886 to 1949"),
        ("By how much do the strips cut rye rust?",
         "The strips were hung in 60 mills to cut rye rust. The strips cut rye rust by 22 per cent.", "22 per cent"),
        ("How tall are the cones of the coating?", "The cones of the coating are about 200 nanometres tall. The "
         "lens is 22 millimetres wide.", "200 nanometres"),
        ("On what date was the library of Ostley first opened?",
         "The library of Ostley opened its doors on 5 October 2023. The library of Ostley opened on 3 May 1908.",
         "3 May 1908"),
        ("What is the maximum number of sacks that the mill may hold?", "The licence of 2024 is for the mill. "
         "The mill may hold not more than 650 sacks.", "650 sacks"),
        ("How fast does the barge go?", "The barge goes 9.4 kilometres to Vale. The barge does 7 knots.", "7 knots"),
        ("How large a fine did the mill pay?", "The mill has 40 sacks. The mill was fined 900 crowns.", "900 crowns"),
    ],
)  # fmt: skip
def test_a_value_is_told_as_the_question_wants_it(question: str, told: str, answer: str) -> None:
    assert answer in short(question, told, title="Ostley")


def test_who_is_no_ship() -> None:
    told = "On 2 March the barge struck the dredger Marl Hopper. The barge was steered by Josef Arndt."
    assert short("Who was on duty when the barge struck the dredger?", told, title=None) != "Marl Hopper"


def test_the_year_of_what_came_before_or_after_is_not_the_time_asked_about() -> None:
    assert years_asked("In which years were plans for a bridge made, before the one approved in 2022?") == set()
    assert years_asked("Who led the mill when the bridge was approved in 2022?") == {2022}


def test_a_table_of_years_names_no_firm() -> None:
    told = "The wall of the Green was repaired by the contractor Brine and Sons, the firm said in May 2025."
    table = "Year | Place | Visitors\n2024 | Green | 23,400\n2025 | Green | 33,700"
    assert "Brine" in short("Which firm repaired the wall of the Green in 2025?", told, table, title="The Green")


def test_how_long_something_was_shut_is_told_where_it_opens_again() -> None:
    told = (
        "Fire crews pumped for nine hours. The library opened on Saturday for the first time in nearly eleven months."
    )
    assert short("How long was the library shut?", told, title="The library") == "11 months"


def test_a_sentence_that_compares_is_of_the_time_it_tells_first() -> None:
    told = "Some 23,400 people came to the fair this summer, against 31,000 on the green last year."
    table = "Year | Place | Visitors\n2022 | Green | 28,200\n2023 | Green | 31,000"
    assert short("How many people came to the fair in 2023?", told, table, title="The fair").startswith("31,000")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("If I miss the 10.05 boat back from Vale, when is the next one?", "12.35"),
        ("When is the first boat from Vale after 12.35?", "15.05"),
        ("I came too late for the 14.00 boat from Ostley. What time is the following one?", "18.30"),
        ("When did the one before the 15.05 boat from Vale leave?", "12.35"),
    ],
)
def test_the_hour_next_to_one_that_is_named_is_in_its_column(question: str, answer: str) -> None:
    hours = ["From Ostley | From Vale", "09.00 | 10.05", "11.30 | 12.35", "14.00 | 15.05", "18.30 | 19.35"]
    assert short(question, "\n".join(hours), title="Boats of Ostley and Vale") == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did the sails of the mill come to in the end?", "4.6 million crowns (Sails)"),
        ("What was the cost of the stones in the end?", "2.9 million crowns (Stones)"),
        ("How much did the stones cost in the end?", "2.9 million crowns (Stones)"),
    ],
)
def test_the_numbers_of_a_table_have_the_unit_that_is_told_before_it(question: str, answer: str) -> None:
    page = "All amounts are in millions of crowns.\nPart | Planned | In the end\nSails | 4.1 | 4.6\nStones | 2.2 | 2.9"
    assert short(question, page) == answer


def test_the_row_with_the_label_and_the_column_that_the_question_names_answers() -> None:
    page = "Part | Approved May 2022 | Final account June 2025\nSails and arms | 4.1 | 10.8\nMill stones | 2.2 | 2.9"
    other = "The mill stones and the final sails of the mill cost the town 600,000 crowns of interest."
    question = "How much were the mill stones in the final account?"
    assert short(question, page, other) == "2.9 (Mill stones)"
