from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.draft import Draft, Statement
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence
from quern.jobs.reasoning.confidence.judge import Features, Judgement, features, fitted, judged
from quern.schemas.settings import AnswerSettings

TEXT = "The ferry Lady Orrin struck a dredger in fog. Fourteen people were hurt. Captain Marsh slept ashore."
DRAFT = Draft(sentences=[Statement(text="Fourteen people were hurt.", rests_on=[2])])


def judge(question: str, *similarities: float, draft: Draft = DRAFT, risk: float | None = None) -> Judgement:
    found = [Evidence(TEXT, "Collision", [TEXT], [s], datetime(2024, 3, 2, tzinfo=UTC)) for s in similarities]
    settings = AnswerSettings() if risk is None else AnswerSettings(risk=risk)
    (judgement,) = judged([AnswerInput(question, found)], [draft], settings)
    return judgement


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


def seen_in(question: str, text: str, site: str = "") -> Features:
    return features(AnswerInput(question, [Evidence(text, None, [], [], site=site)]))


def test_what_was_not_read_has_no_signal_of_the_reader_and_a_probability_all_the_same() -> None:
    seen = seen_in("How many were hurt?", TEXT)
    assert math.isnan(seen.any)
    assert seen.unread == 1.0
    assert 0.0 < fitted().probability(seen) < 1.0
