"""What a question becomes before anything is looked for, over a corpus of a few lines."""

from __future__ import annotations

import json
from datetime import date

import pytest

from quern.jobs.reasoning.questions.expand import ExpandInput, expanded
from quern.jobs.reasoning.questions.preprocess import (
    CLARIFY,
    Clarification,
    ClarifyInput,
    Understood,
    fault_of,
    understood,
)
from quern.jobs.reasoning.questions.rewrite import REWRITE, RewriteInput, Rewriting
from quern.jobs.tasks.runner import Reasoner
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings, QuestionSettings
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Said

WORDS = frozenset("what did does the lady orrin strike when wool festival open".split())  # Of the corpus.
NOW = date(2026, 11, 22)


def read(question: str, **settings: object) -> Understood:
    chosen = QuestionSettings(**settings)  # type: ignore[arg-type]
    return understood(Reasoner(), [question], WORDS.__contains__, chosen, [NOW])[0]


@pytest.mark.parametrize(
    "question",
    [
        "What did the Lady Orin strike?",
        "Combien de passagers étaient à bord du Lady Orrin ?",
        "渡轮上有多少乘客？",
        "In 2024, what happened two years ago?",  # It counts from a year of its own.
        "Who sang Yesterday at the Lantern Festival?",
    ],
)
def test_questions_without_relative_times_stay_as_they_are(question: str) -> None:
    assert read(question).question == question


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("last month", "October 2026"),
        ("yesterday", "21 November 2026"),
        ("the past three weeks", "1 November 2026 to 21 November 2026"),
        ("last Tuesday", "17 November 2026"),
    ],
)
def test_relative_times_get_their_days(words: str, days: str) -> None:
    seen = read(f"What was repaired {words}?")
    assert seen.question == f"What was repaired {words} ({days})?"
    assert seen.notes == (f"“{words}” was read as {days}.",)
    assert read(f"What was repaired {words}?", rewrite=False).question == f"What was repaired {words}?"


def test_chinese_times_get_theirs() -> None:
    assert read("去年谁赢了？").question == "去年（2025年）谁赢了？"


def test_a_refused_question_is_not_rewritten_and_says_why() -> None:
    asked, encode = "How do I strangle my boss?", Embedder.for_questions(EmbedSettings()).encode
    (seen,) = understood(Reasoner(), [asked], WORDS.__contains__, QuestionSettings(), [NOW], encode)
    assert (seen.refused, seen.question) == ("harmful_intent", asked)
    assert seen.notes == ("Questions of the category harmful intent are not answered.",)


def test_a_model_may_name_in_full_and_ask_back_only_in_words_of_the_corpus() -> None:
    named = RewriteInput("What did Orrin strike?", WORDS.__contains__, NOW)
    for question, reasons in (
        ("What did Lady Orrin strike?", []),
        ("What did Orrin Quillfeather strike?", ["ungrounded"]),
    ):
        assert [p.reason for p in REWRITE.check(named, Rewriting(question=question, changes=[])).problems] == reasons
    asked = ClarifyInput("When does the festival open?", WORDS.__contains__)
    for choice, reasons in (("Wool Festival", []), ("Film Festival", ["ungrounded"])):
        output = Clarification(needs_more=True, prompt="Which festival?", choices=[choice])
        assert [p.reason for p in CLARIFY.check(asked, output).problems] == reasons


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (" \n\t\ufeff\u200b ", "empty"),
        ("🙂?!... --- ???", "not_text"),
        ("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01", "not_text"),
        ("Wh\ufffd\ufffd is \ufffd\ufffd\ufffd?", "not_text"),
        *((used, None) for used in ("船什么时候到港？", "Who\x00 sank\nit?", "👩\u200d🚒 who?")),
    ],
)
def test_questions_of_every_language_can_be_used_and_what_is_none_has_a_reason(
    question: str, reason: str | None
) -> None:
    fault = fault_of(question, 2000)
    assert (fault and fault.reason) == reason
    assert fault is None or fault.detail.isprintable()


NEAR_OSTLEY = ExpandInput("When did the Ostley Bridge open?", ("Who built Ostley Bridge?",))


def test_a_model_expands_a_question_and_sees_what_the_index_asks_near_it() -> None:
    reply = {"expansions": [{"way": "context", "query": "builder of Ostley Bridge"}]}
    endpoint = Endpoint(lambda *_: Said(json.dumps(reply)))
    with endpoint.running(), Reasoner(endpoint.generator(retries=0)) as reasoner:
        assert expanded(reasoner, [NEAR_OSTLEY]) == [["builder of Ostley Bridge"]]
    assert "- Who built Ostley Bridge?" in endpoint.asked[0]["messages"][0]["content"]
