"""Questions taken apart into graphs of sub-questions."""

from __future__ import annotations

import time

import pytest

from quern.jobs.reasoning.questions.asked import QuestionInput
from quern.jobs.reasoning.questions.decompose import (
    Decomposition,
    Relation,
    checked,
    decomposed,
    decomposition,
)
from quern.jobs.reasoning.questions.outline import outline
from quern.jobs.reasoning.questions.plan import Plan, SubQuestion, fault_of_plan
from quern.jobs.reasoning.runner import Reasoner


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did the old mill in Ostley open and when did it close?", [
            "When did the old mill in Ostley open?", "When did the old mill in Ostley close?"]),
        ("How much did Brandt first offer for the flood, and what did it finally pay?", [
            "How much did Brandt first offer for the flood?", "What did Brandt finally pay?"]),
        ("Where and when was Ada Smith born?", ["Where was Ada Smith born?", "When was Ada Smith born?"]),
        ("Which is longer, the Ostley Bridge or the Marr Tunnel?", [
            "How long is the Ostley Bridge?", "How long is the Marr Tunnel?"]),
        ("Which of the two firms had more workers, Brandt or Okafor?", [
            "How many workers did Brandt have?", "How many workers did Okafor have?"]),
        ("Did the Ostley pond have more common snails in 1983 or in 2023?", [
            "How many common snails did the Ostley pond have in 1983?",
            "How many common snails did the Ostley pond have in 2023?"]),
        ("Did the fair draw more guests on Mill Green in 2019 or on Long Field in 2021?", [
            "How many guests did the fair draw on Mill Green in 2019?",
            "How many guests did the fair draw on Long Field in 2021?"]),
        ("Was the cost of Ostley Bridge higher or lower than the estimate of May 2020?", [
            "What was the cost of Ostley Bridge?", "What was the estimate of May 2020 for Ostley Bridge?"]),
        ("the Marr Tunnel vs the Ostley Bridge - which is longer and by how much", [
            "How long is the Marr Tunnel?", "How long is the Ostley Bridge?"]),
        ("Is the Marr Tunnel longer than the Ostley Bridge, or shorter?", [
            "How long is the Marr Tunnel?", "How long is the Ostley Bridge?"]),
        ("Is the Marr Tunnel or the Ostley Bridge the longer crossing?", [
            "How long is the Marr Tunnel?", "How long is the Ostley Bridge?"]),
        ("Which of the mill and the barn is older?", ["How old is the mill?", "How old is the barn?"]),
        ("Did the tram or the bus carry more passengers in 2019?", [
            "How many passengers did the tram carry in 2019?", "How many passengers did the bus carry in 2019?"]),
        ("In which year did the fair draw more guests, 2019 or 2021?", [
            "How many guests did the fair draw in 2019?", "How many guests did the fair draw in 2021?"]),
        ("Was the mill dearer in 2019 than in 2021?", [
            "How dear was the mill in 2019?", "How dear was the mill in 2021?"]),
        ("How many fewer guests did the fair get on Mill Green in 2021 than on the quay the year before?", [
            "How many guests did the fair get on Mill Green in 2021?",
            "How many guests did the fair get on the quay in 2020?"]),
        ("Is the new Ostley mill larger than the old one?", [
            "How large is the new Ostley mill?", "How large is the old Ostley mill?"]),
        ("How many more guests came to Mill Green than to the quay?", [
            "How many guests came to Mill Green?", "How many guests came to the quay?"]),
        ("Was the mill or the barn by the pond built first?", [
            "When was the mill built?", "When was the barn by the pond built?"]),
        ("Did the mill or the barn close earlier?", ["When did the mill close?", "When did the barn close?"]),
        ("Has the Marr or the Orrin more cabins?", [
            "How many cabins does the Marr have?", "How many cabins does the Orrin have?"]),
        ("Will the Marr Tunnel be longer or shorter than the Ostley Bridge?", [
            "How long is the Marr Tunnel?", "How long is the Ostley Bridge?"]),
        ("What stands taller, the mill or the barn by the pond?", [
            "How tall is the mill?", "How tall is the barn by the pond?"]),
        ("Had Brandt and Okafor merged before or after the plant was sold?", [
            "When had Brandt and Okafor merged?", "When was the plant sold?"]),
        ("Had the town mended the wall less than a day after it was told?", [
            "When had the town mended the wall?", "When was the town told?"]),
        ("Free coffee for porters: did the ward start that before or after the strike?", [
            "Free coffee for porters: when did the ward start that?", "When was the strike?"]),
        ("Did the strike come before the fire or after it?", ["When did the strike come?", "When was the fire?"]),
        ("Was it before or after the flood that the museum bought the barge?", [
            "When did the museum buy the barge?", "When was the flood?"]),
        ("Had the mill closed by the time the railway opened?", [
            "When had the mill closed?", "When did the railway open?"]),
        ("Who had to hand over more grain to the abbey, the miller or the baker?", [
            "How much grain did the miller have to hand over to the abbey?",
            "How much grain did the baker have to hand over to the abbey?"]),
        ("What kept the harbour shut for longer: the ice or the strike?", [
            "How long did the ice keep the harbour shut?", "How long did the strike keep the harbour shut?"]),
        ("What delayed the works for more weeks, the frost or the flood?", [
            "For how many weeks did the frost delay the works?", "For how many weeks did the flood delay the works?"]),
        ("Which cost the town more, the roof or the boiler?", [
            "How much did the roof cost the town?", "How much did the boiler cost the town?"]),
        ("Who visited the museum more often, the painter or the poet?", [
            "How often did the painter visit the museum?", "How often did the poet visit the museum?"]),
        ("Who had to pay the bigger fine, the miller or the baker?", [
            "What fine did the miller have to pay?", "What fine did the baker have to pay?"]),
        ("Which can carry more cars, the Marr or the Orrin?", [
            "How many cars can the Marr carry?", "How many cars can the Orrin carry?"]),
        ("Which has the taller tower, the church or the hall?", [
            "How tall is the tower of the church?", "How tall is the tower of the hall?"]),
        ("Which hut used to hold more people, the old one or the new one?", [
            "How many people did the old hut hold?", "How many people did the new hut hold?"]),
        ("The Marr and the Orrin: which is longer?", ["How long is The Marr?", "How long is the Orrin?"]),
        ("Were Jeff Marr and Kyle Stone both in The Reeds?", [
            "Was Jeff Marr in The Reeds?", "Was Kyle Stone in The Reeds?"]),
        ("灯是谁装的，灯用了多少天？", ["灯是谁装的？", "灯用了多少天？"]),
    ],
)  # fmt: skip
def test_a_question_with_several_answers_is_split(question: str, expected: list[str]) -> None:
    output = decomposition(QuestionInput(question))
    assert output.sub_queries == expected
    assert output.parent_child == []


@pytest.mark.parametrize(
    "question",
    [
        "Was the mill or the barn painted last year?",
        "Was the mill or the barn ever closed first thing in the morning?",
        "Did the mill or the barn win first prize?",
        "Will the tunnel be later than planned?",
        "Was the radar on or on standby before the ferry hit the dredger?",
        "Did the miller keep his post after the inquiry was closed?",
    ],
)
def test_words_of_order_that_set_nothing_in_order_split_no_question(question: str) -> None:
    assert decomposition(QuestionInput(question)).sub_queries == []


@pytest.mark.parametrize(
    "question",
    [
        "Was the well dug by Edda Marsh before the mill was built?",
        "Was Ostley Mill lit by gas before the bridge was opened?",
        "Did the council hold the vote before the mayor resigned?",
        "Was the mill on fire before or after the barn was hit?",
    ],
)
def test_what_happened_is_asked_for_by_its_days(question: str) -> None:
    assert len(decomposition(QuestionInput(question)).sub_queries) == 2


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "How many days after the cracks were found was the mill closed?",
            ["When were the cracks found?", "When was the mill closed?"],
        ),
        (
            "How long after the fire did the mill open again?",
            ["When was the fire?", "When did the mill open again?"],
        ),
        (
            "How many weeks before the fair was held had the bridge been closed?",
            ["When was the fair held?", "When had the bridge been closed?"],
        ),
    ],
)
def test_an_event_with_an_auxiliary_of_its_own_ends_before_that_of_the_other(
    question: str, expected: list[str]
) -> None:
    assert decomposition(QuestionInput(question)).sub_queries == expected


def test_what_is_only_described_is_asked_for_first() -> None:
    plan = decomposed(Reasoner(), ["Who is the wife of the director of Jump for Glory?"])[0]
    assert [s.text for s in plan.sub_questions] == ["Who is the director of Jump for Glory?", "Who is the wife of #1?"]
    assert plan.levels() == [[1], [2]]
    assert plan.leaves() == [2]
    assert plan.filled(2, {1: "Raoul Walsh."}) == "Who is the wife of Raoul Walsh?"
    assert plan.filled(2, {}) == "Who is the wife of the director of Jump for Glory?"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What year did the trawler that Mill Fair commemorates go missing?",
            ["What is the trawler that Mill Fair commemorates?", "What year did #1 go missing?"],
        ),
        (
            "Which city is the company that bought the Ostley lens plant from?",
            ["Which company bought the Ostley lens plant?", "Which city is #1 from?"],
        ),
        (
            "In which county is the town that Edda Marsh comes from?",
            ["What is the town that Edda Marsh comes from?", "In which county is #1?"],
        ),
        (
            "How old is the captain that Gannet sailed under?",
            ["Who is the captain that Gannet sailed under?", "How old is #1?"],
        ),
        (
            "When did the book that Marsh always carried get lost?",
            ["What is the book that Marsh always carried?", "When did #1 get lost?"],
        ),
        (
            "What does the skipper who took the dredger outside its area do now?",
            ["Which skipper took the dredger outside its area?", "What does #1 do now?"],
        ),
    ],
)
def test_a_description_ends_before_the_verb_or_the_preposition_of_the_question(
    question: str, expected: list[str]
) -> None:
    assert [s.text for s in decomposed(Reasoner(), [question])[0].sub_questions] == expected


@pytest.mark.parametrize(
    ("question", "child"),
    [
        ("Which firm repaired the mill, and when was that firm set up?", "When was #1 set up?"),
        ("Which lost barge is behind the fair, and in what year did it sink?", "In what year did #1 sink?"),
        ("Which geologist warned Ostley, and when did the town log his letter?", "When did the town log #1's letter?"),
        ("What school does the lad who rang attend, and how did its pupils cope?", "How did #1's pupils cope?"),
        ("Which island did the ferry serve, and how high is the hill there?", "How high is the hill in #1?"),
        ("Who found the cat, and what is that person's job?", "What is #1's job?"),
    ],
)
def test_what_a_later_part_speaks_of_is_what_the_first_asks_for(question: str, child: str) -> None:
    output = decomposition(QuestionInput(question))
    assert output.sub_queries[1:] == [child]
    assert output.parent_child == [Relation(parent=1, child=2)]


def test_a_parent_is_filled_in_as_a_noun_phrase() -> None:
    plan = decomposed(Reasoner(), ["Which firm repaired the mill, and when was that firm set up?"])[0]
    assert plan.filled(2, {1: "Brandt (Marr)."}) == "When was Brandt set up?"
    assert plan.filled(2, {1: "It was Brandt."}) == "When was the firm that repaired the mill set up?"


@pytest.mark.parametrize(
    "question",
    [
        "How many passengers and cars will the new ferry carry?",
        "What did the harbour engineer say about the wall?",
        "Is Rock and Roll still played in Ostley?",
        "Did the mill burn two days after the fair was held?",
        "Do adults pay more than twice the fare of a child?",
        "When was the bridge between Ostley and Marr opened?",
        "Who was the architect of Old Ostley's grain hall?",
        "谁在今年的灯会上唱歌？",
        "Of the three trials, which one followed the most hives?",
        "In the first trial, how many cells did they count?",
        "Once the miller left, who took over the mill?",
        "How much water a week does somebody who adopts an Ostley tree promise to give it?",
        "Had the ferry's radar been left on standby before it hit the dredger?",
        "Who was the miller that first ground rye on the hill?",
        "What is the name of the child who found the cat in the loft?",
        "Whose work described the sickness that turns the wheat black first?",
        "Which number is given for the people who run the locks at night?",
    ],
)
def test_a_question_that_asks_one_thing_stays_whole(question: str) -> None:
    assert decomposed(Reasoner(), [question]) == [Plan(question)]


@pytest.mark.parametrize(
    ("queries", "relations", "reason"),
    [
        (["Who directed Jump?", "Who married #1?"], [(1, 2), (2, 1)], "cyclic"),
        (["Who directed Jump?", "Who married #1?"], [], "dangling"),
        (["Who directed Jump?", "Who married #7?"], [(7, 2)], "dangling"),
        (["Who founded Acme?", " "], [(1, 2)], "blank"),
        (["Who founded Acme?", "#1?"], [(1, 2)], "blank"),
        (["Who directed Jump?", "who directed  Jump"], [], "duplicate"),
        ([f"Who directed Jump {n}?" for n in range(7)], [], "too_many"),
        (["Who directed Jump?", "What is the weather?"], [], "unlike"),
    ],
)
def test_a_graph_of_a_model_that_does_not_hold_is_refused(
    queries: list[str], relations: list[tuple[int, int]], reason: str
) -> None:
    output = Decomposition(
        is_complex=True, sub_queries=queries, parent_child=[Relation(parent=p, child=c) for p, c in relations]
    )
    found = checked(QuestionInput("Who married the one who directed Jump?"), output)
    assert found.good is None
    assert [p.reason for p in found.problems] == [reason]


def test_hostile_questions_are_read_in_no_time() -> None:
    texts = ["the director of " * 130, "How many more " * 25 + "than B", "Did " + "A before B " * 30, "What #1 is #2?"]
    started = time.process_time()
    plans = decomposed(Reasoner(), texts)
    assert time.process_time() - started < 2
    assert all(fault_of_plan(plan.sub_questions) is None for plan in plans)
    assert not plans[0].is_complex
    assert not plans[3].is_complex


def test_a_plan_may_be_a_mixture_of_chain_and_split() -> None:
    subs = (SubQuestion("Who built A?"), SubQuestion("Who built B?"), SubQuestion("Did #1 know #2?", (1, 2)))
    plan = Plan("Did the builders of A and B know each other?", subs)
    assert fault_of_plan(subs) is None
    assert plan.levels() == [[1, 2], [3]]
    assert plan.ancestors(3) == [1, 2]


def test_a_clause_behind_the_verb_belongs_to_its_noun() -> None:
    first, last = outline("In what year did the chain ferry stop running whose bell Ida Rook lettered?").sub_questions
    assert first.text == "What is the chain ferry whose bell Ida Rook lettered?"
    assert last.text == "In what year did #1 stop running?"
    plan = Plan("", (first, last))
    sentence = "She lettered the bell of the chain ferry, which is on the parapet."
    assert plan.filled(2, {1: sentence}, known=[1]) == "In what year did the chain ferry stop running?"
    assert "whose bell" in plan.filled(2, {1: sentence})
    assert plan.filled(2, {1: "Old Bess"}, known=[1]) == "In what year did Old Bess stop running?"


def test_what_numbers_tell_from_others_they_tell_on_and_cells_are_no_name() -> None:
    sub = SubQuestion("Who adopted #1?", (1,), {1: "the oak that was planted at 7 Mill Lane"})
    plan = Plan("", (SubQuestion("Which oak was planted at 7 Mill Lane?"), sub))
    assert (
        plan.filled(2, {1: "It was planted in May."}, known=[1])
        == "Who adopted the oak that was planted at 7 Mill Lane?"
    )
    assert plan.filled(2, {1: "5 | oak | 7 Mill Lane"}) == "Who adopted the oak that was planted at 7 Mill Lane?"


@pytest.mark.parametrize(
    "question",
    [
        "When did the mayor announce that the director of the museum had resigned?",
        "When did the board agree that Ada Lind owned the mill?",
    ],
)
def test_what_somebody_said_describes_nobody(question: str) -> None:
    assert not any("#1" in s.text and "announce?" in s.text for s in outline(question).sub_questions)
    assert all("that Ada Lind" not in s.text for s in outline(question).sub_questions)
