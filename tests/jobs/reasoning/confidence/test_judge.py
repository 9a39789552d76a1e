from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.task import Draft, Statement
from quern.jobs.reasoning.confidence.features import Features
from quern.jobs.reasoning.confidence.judge import Judgement, judged
from quern.jobs.reasoning.confidence.model import fitted
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


def test_the_risk_decides_which_are_refused() -> None:
    question = "Which insurer paid the people of the Lady Orrin?"
    assert judge(question, 0.6, risk=0.0).refused
    assert not judge(question, 0.6, risk=1.0).refused


def test_the_model_weighs_known_features_and_never_against_their_meaning() -> None:
    model = fitted()
    assert set(model.weights) <= set(Features._fields)
    assert all(weight > 0 for weight in model.weights.values())
