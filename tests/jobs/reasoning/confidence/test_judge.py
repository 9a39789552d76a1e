from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence
from quern.jobs.reasoning.answering.task import Draft, Statement, answer_task
from quern.jobs.reasoning.confidence.features import Features, features, sentence_similarities
from quern.jobs.reasoning.confidence.features import asked as points
from quern.jobs.reasoning.confidence.judge import Judgement, judged
from quern.jobs.reasoning.confidence.model import fitted
from quern.jobs.reasoning.confidence.reasons import of_other_number, of_sibling
from quern.schemas.settings import AnswerSettings

TEXT = "The ferry Lady Orrin struck a dredger in fog. Fourteen people were hurt. Captain Marsh slept ashore."
DRAFT = Draft(sentences=[Statement(text="Fourteen people were hurt.", rests_on=[2])])


def judge(question: str, *similarities: float, draft: Draft = DRAFT, risk: float | None = None) -> Judgement:
    found = [Evidence(TEXT, "Collision", [TEXT], [s], datetime(2024, 3, 2, tzinfo=UTC)) for s in similarities]
    settings = AnswerSettings() if risk is None else AnswerSettings(risk=risk)
    (judgement,) = judged([AnswerInput(question, found)], [draft], settings)
    return judgement


def test_what_the_evidence_says_is_likelier_answered_than_what_it_only_touches() -> None:
    said = judge("How many people were hurt on the ferry Lady Orrin?", 0.9)
    touched = judge("Which insurer paid the people of the Lady Orrin, and how much?", 0.6)
    assert said.reason is None
    assert touched.probability < said.probability


@pytest.mark.parametrize(
    ("question", "reason", "word"),
    [
        ("How many people were hurt on the Casterby?", "other_entity", "Casterby"),
        ("How many people were hurt on the Lady Orrin in 2031?", "other_time", "2031"),
        ("Which insurer paid for the ferry?", "only_related", "insurer"),
        ("How many people were hurt, as I'm told I saw it?", "only_related", "told"),  # I am no name.
        ("What does saffron cost?", "nothing_found", ""),
    ],
)
def test_a_refusal_says_what_the_evidence_lacks(question: str, reason: str, word: str) -> None:
    refused = judge(question, 0.4, risk=0.0)
    assert refused.reason == reason
    assert word in refused.detail


def test_no_evidence_and_an_empty_draft_are_refused_whatever_the_risk() -> None:
    assert judge("How many people were hurt?", risk=1.0).reason == "nothing_found"
    assert judge("How many people were hurt?", 0.9, draft=Draft(sentences=[]), risk=1.0).refused


@pytest.mark.parametrize(("parts", "refused"), [((0.99, 0.95), False), ((0.99, 0.2), True), ((), True)])
def test_a_whole_question_is_answered_where_all_its_parts_are(parts: tuple[float, ...], refused: bool) -> None:
    before = [AskedBefore(f"Part {n}?", "yes", probability=p) for n, p in enumerate(parts)]
    alone = AnswerInput("Did the thaw come before the mending of the nets?", [Evidence(TEXT, None, [], [])])
    settings = AnswerSettings(risk=0.1)
    (whole,) = judged([alone.after(before)], [DRAFT], settings, whole=True)
    assert whole.refused == refused
    (part,) = judged([alone.after(before)], [DRAFT], settings)
    assert part.refused


def test_a_page_is_likelier_to_answer_in_other_words_than_a_conversation() -> None:
    said = ("The ferry struck a dredger.", "Fourteen people were hurt.")
    texts = "\n".join(said), "\n".join(f"Ada Marsh: {s}" for s in said)
    inputs = [AnswerInput("Which insurer paid?", [Evidence(text, None, [], [])]) for text in texts]
    page, conversation = judged(inputs, [DRAFT] * 2, AnswerSettings())
    assert page.probability > conversation.probability


@pytest.mark.parametrize(
    ("other", "likelier"),
    [
        ("How many of the guests on the Lady Orrin slept badly?", True),  # In other words, of the same things.
        ("How many of the guests on the Casterby slept badly?", False),
        ("How many of the guests on the Lady Orrin slept badly in 2031?", False),
        ("Which insurer paid for the Lady Orrin?", False),  # Nothing but the name is there.
    ],
)
def test_a_page_that_names_all_and_speaks_of_what_is_asked_is_doubted_less(
    other: str, likelier: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_it = judge(other, 0.6).probability
    monkeypatch.setattr("quern.jobs.reasoning.confidence.judge._OF_SAME_THINGS", 0.0)
    assert (with_it > judge(other, 0.6).probability) == likelier


def test_a_whole_question_is_doubted_less_by_its_parts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = AnswerInput("How many people were hurt in the fog?", [Evidence(TEXT, None, [], [])])
    parts = alone.after([AskedBefore("Part?", "yes", probability=0.1)])
    part, whole = judged([alone, parts], [DRAFT] * 2, AnswerSettings(), whole=True)
    monkeypatch.setattr("quern.jobs.reasoning.confidence.judge._OF_SAME_THINGS", 0.0)
    part_before, whole_before = judged([alone, parts], [DRAFT] * 2, AnswerSettings(), whole=True)
    assert part.probability > part_before.probability
    assert whole.probability == whole_before.probability


@pytest.mark.parametrize(
    ("plain", "asked"),
    [
        ("How many were hurt?", "How many were actually hurt later?"),
        ("How much did Marsh get?", "How much money did Marsh get?"),
        ("What is the fine?", "How large a fine?"),
    ],
)
def test_words_by_which_is_asked_are_not_missed(plain: str, asked: str) -> None:
    assert points(asked).words == points(plain).words


def test_a_page_of_a_towns_site_need_not_name_the_town() -> None:
    question, text = "How many trees stand in Port Averil?", "In the streets stand 4,120 trees."
    told = Draft(sentences=[Statement(text="4,120 trees", rests_on=[1])])
    of_site, of_none = (
        judged([AnswerInput(question, [Evidence(text, "Trees", [], [], site=site)])], [told], AnswerSettings())[0]
        for site in ("averil-council.example", "harbour.example")
    )
    assert of_site.probability > of_none.probability
    assert "Averil" not in of_site.detail


def test_the_risk_decides_which_are_refused() -> None:
    question = "How many people did the Lady Orrin hurt in the fog at Casterby Green?"
    assert judge(question, 0.6, risk=0.0).refused
    assert not judge(question, 0.6, risk=1.0).refused


def test_the_model_weighs_known_features_and_never_against_their_meaning() -> None:
    model = fitted()
    assert set(model.weights) <= set(Features._fields)
    assert all(weight > 0 for weight in model.weights.values())


@pytest.mark.parametrize(
    ("when", "held"), [("20240302", 1.0), ("2 March 2024", 1.0), ("March 2024", 1.0), ("2023", 0.0)]
)
def test_a_chunk_holds_the_days_on_which_it_was_published(when: str, held: float) -> None:
    found = Evidence(TEXT, "Collision", [TEXT], [0.8], datetime(2024, 3, 2, tzinfo=UTC))
    assert features(AnswerInput(f"How many people were hurt in {when}?", [found])).dates == held


def test_cosines_are_not_asked_of_a_script_that_the_model_does_not_read() -> None:
    asked: list[str] = []

    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        asked.extend(texts)
        return np.ones((len(texts), 1), dtype=np.float32)

    chinese = AnswerInput("谁赔偿修理费？", [Evidence("修理费由保险公司赔偿。", None, ["赔偿"], [0.9])])
    english = AnswerInput("Who was hurt?", [Evidence(TEXT, None, [TEXT], [0.9])])
    unknown, known = sentence_similarities([chinese, english], encode, 2)
    assert math.isnan(unknown)
    assert known == 1.0
    assert asked[0] == "Who was hurt?"
    assert len(asked) == 3
    assert math.isnan(features(chinese).similarity)
    assert features(english).similarity == 0.9


def test_a_value_on_the_page_of_another_is_not_told_of_what_it_does_not_name() -> None:
    page = Evidence("Population | 1,930 (2023)\nArea | 23 square kilometres", "Skarrow", [], [])
    draft = Draft(sentences=[Statement(text="1,930", rests_on=[1])])

    def of(place: str) -> Judgement:
        given = AnswerInput(f"What is the population of {place}?", [page])
        (judgement,) = judged([given], [draft], AnswerSettings(risk=1.0))
        return judgement

    assert not of("Skarrow").refused
    assert of("Casterby").reason == "other_entity"
    assert "Skarrow" in of("Casterby").detail


def test_what_verification_finds_matched_moves_the_probability_either_way() -> None:
    given = AnswerInput("How many people were hurt on the ferry?", [Evidence(TEXT, "Collision", [TEXT], [0.7])])

    def probability(*verified: float | None, weight: float = 0.5) -> float:
        (judgement,) = judged([given], [DRAFT], AnswerSettings(verified=weight), verified=verified)
        return judgement.probability

    assert probability(0.0) < probability() < probability(1.0)
    assert probability(None) == probability(1.0, weight=0) == probability()


ROOMS = "Headset in Lyme, Room 374, loses connection. Printer KX-440 in Room 12 prints green."
PLANS = "On the Gold plan mailboxes are kept 30 days; on the Platinum plan 180 days."


@pytest.mark.parametrize(
    ("question", "text", "refused"),
    [
        ("Is there a Room 372?", ROOMS, True),
        ("Is there a Room 374?", ROOMS, False),
        ("Which headset is in room no. 374?", ROOMS, False),
        ("What does the printer KX-450 print?", ROOMS, True),
        ("What does the printer KX 440 print?", ROOMS, False),
        ("How long are mailboxes kept on the Bronze plan?", PLANS, True),
        ("How long are mailboxes kept on the Platinum plan?", PLANS, False),
    ],
)
def test_what_is_said_of_another_number_or_plan_is_no_answer(question: str, text: str, refused: bool) -> None:
    given = AnswerInput(question, [Evidence(text, None, [], [])])
    draft = answer_task(AnswerSettings()).rule(given)
    (judgement,) = judged([given], [draft], AnswerSettings(risk=0.6))
    assert (judgement.reason == "other_entity") is refused


@pytest.mark.parametrize(
    ("question", "text", "another"),
    [
        ("上海轨道交通16号线的起讫点是哪里？", "16号线起点为龙阳路站。", False),
        ("HD-1033是什么？", "HD1033是一台打印机。", False),
        ("HD-1033是什么？", "HD-1034是一台打印机。", True),
        ("When did COVID-19 begin?", "COVID was first seen in Wuhan.", False),
        ("What is vitamin B12?", "Cobalamin is a vitamin.", False),
        ("What is in room B12?", "Room B14 has a headset.", True),
        ("How long is an A320?", "The A320neo is 37 metres long.", False),
        ("What is in Chapter 3?", "Chapter 2 is on ferries. Chapter three is on bridges.", False),
        ("Which clubs are in Division 1?", "The first division has four clubs, Division 2 has six.", False),
        ("Who won Grand Slam 12?", "Slam XII was won by Ada, Slam 11 by Bo.", False),
        ("Who wrote SB535?", "Senate Bill 535 was written by Ada Marsh.", False),
        ("Who wrote SB535?", "Senate Bill 536 was written by Ada Marsh.", True),
    ],
)
def test_an_identifier_that_is_written_otherwise_is_no_other(question: str, text: str, another: bool) -> None:
    assert (of_other_number(AnswerInput(question, [Evidence(text, None, [], [])])) is not None) is another


@pytest.mark.parametrize(("body", "another"), [("TFB", False), ("HBC", True)])
def test_a_body_in_full_is_that_of_its_abbreviation(body: str, another: bool) -> None:
    told = "The Tollen Ferry Board was founded in 1958, and the Harbour Office in 1975."
    given = AnswerInput(f"When was the {body} founded?", [Evidence(told, None, [], [])])
    assert (of_sibling(given, answer_task(AnswerSettings()).rule(given)) is not None) is another
