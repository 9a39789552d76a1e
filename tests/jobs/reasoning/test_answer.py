from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quern.jobs.reasoning.answer import AnswerInput, CitedAnswer, Evidence, answer_task
from quern.schemas.settings import AnswerSettings

FERRY = (
    "The ferry Lady Orrin struck a dredger in fog. Fourteen people were hurt. "
    "The captain said that the radar was on.\nWho pays for the repair? The insurer of the dredger pays for the repair."
)


def evidence(
    text: str = FERRY, title: str | None = None, nodes: dict[str, float] | None = None, year: int = 0
) -> Evidence:
    published = datetime(year, 3, 2, tzinfo=UTC) if year else None
    nodes = nodes or {}
    return Evidence(text, title, list(nodes), list(nodes.values()), published)


def answer(question: str, *found: Evidence, **settings: float) -> tuple[list[str], CitedAnswer]:
    cited = answer_task(AnswerSettings(**settings)).rule(AnswerInput(question, found))  # type: ignore[arg-type]
    return [found[c.evidence].text[c.start : c.end] for c in cited.sentences], cited


def test_the_sentence_that_shares_the_rare_words_answers() -> None:
    assert (
        answer("How many people were hurt on the ferry?", evidence(), min_score=0.1)[0][0]
        == "Fourteen people were hurt."
    )


def test_a_statement_goes_before_a_question_with_the_same_words() -> None:
    assert answer("Who pays for the repair?", evidence(), min_score=0.1)[0][0].startswith("The insurer")


def test_the_best_synthetic_query_that_quotes_a_sentence_speaks_for_it() -> None:
    nodes = {
        "Was the set watched? The captain said that the radar was on.": 0.9,
        "Hurt? Fourteen people were hurt.": 0.1,
    }
    assert answer("Did anybody look at the screen?", evidence(nodes=nodes), min_score=0.1)[0] == [
        "The captain said that the radar was on."
    ]


def test_evidence_that_is_too_weak_gives_no_sentence() -> None:
    sentences, cited = answer("What does a kilogram of saffron cost in Lisbon?", evidence())
    assert sentences == []
    assert cited.score < AnswerSettings().min_score


def test_no_evidence_gives_no_sentence() -> None:
    assert answer("Anything?")[1] == CitedAnswer(score=0.0, sentences=[])
    assert answer("?", evidence())[0] == []


def test_sentences_that_say_the_same_are_cited_once() -> None:
    twice = evidence("Fourteen people were hurt in the fog.")
    assert len(answer("How many people were hurt in the fog?", twice, twice, min_score=0.1)[0]) == 1


def test_no_more_sentences_than_asked_for() -> None:
    many = evidence(" ".join(f"Berth {n} of the harbour is closed for repair work." for n in range(10, 30)))
    for most in (1, 2, 5):
        assert len(answer("Which berth of the harbour is closed?", many, sentences=most, min_score=0.1)[0]) <= most


def test_evidence_of_another_year_is_worth_less() -> None:
    text = "Tickets for the fair cost twelve crowns."
    right, wrong = evidence(text, year=2031), evidence(text, year=2025)
    question = "What do tickets for the fair of 2031 cost?"
    assert answer(question, right)[1].score > 1.3 * answer(question, wrong)[1].score
    assert answer(question, evidence(text, title="Fair 2031"))[1].score > answer(question, wrong)[1].score


def test_a_speaker_counts_for_what_is_said_in_the_whole_line() -> None:
    chat = evidence(
        "Time: nine\nThrall: Good evening. I will bring the drums.\nJaina: Good evening. I will bring the lute."
    )
    assert answer("What will Jaina bring?", chat, min_score=0.1, sentences=1)[0] == ["I will bring the lute."]


@pytest.mark.parametrize("question", ["谁赔偿修理费？", "修理费由谁赔偿？"])
def test_chinese_is_answered(question: str) -> None:
    chinese = evidence("渡轮在雾中撞上了挖泥船。修理费由挖泥船的保险公司赔偿。船长没有受伤。")
    assert answer(question, chinese, min_score=0.1)[0][0] == "修理费由挖泥船的保险公司赔偿。"
