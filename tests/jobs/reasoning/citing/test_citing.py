"""A sentence cites what bears it out, and nothing else."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quern.jobs.reasoning.citing.inputs import CitingInput, Source
from quern.jobs.reasoning.citing.search import repeated_sources
from quern.jobs.reasoning.citing.task import CITE, Cited
from quern.schemas.words.sentences import sentences
from tests.conftest import read_jsonl

TOWNS = [
    Source("It had 1,200 inhabitants in 2021.", "Skarrow"),
    Source("Skarrow lies on the north coast of the bay.", "Skarrow"),
    Source("It had 8,340 inhabitants in 2021, and a market on Mondays.", "Casterby"),
    Source("The mayor, Ida Thorne, opened the market hall in nine weeks.", "Casterby"),
    Source("The ferry sailed again on Wednesday.", "Ferries", datetime(2024, 5, 10, tzinfo=UTC)),
]


def cited(sentence: str, *rests_on: int, **more: object) -> list[int]:
    return CITE.rule(CitingInput(sentence, TOWNS, rests_on, **more)).sources  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "sources"),
    [
        ("Casterby had 8,340 inhabitants in 2021.", [3]),
        ("The market hall was opened by the mayor Ida Thorne in 9 weeks.", [4]),
        ("Skarrow had 1,300 inhabitants in 2021.", []),
        ("Penguins breed in colonies of many birds.", []),
    ],
)
def test_the_source_that_shares_most_and_has_every_number_is_cited(sentence: str, sources: list[int]) -> None:
    assert cited(sentence) == sources


def test_numbers_of_two_sources_need_both_and_what_follows_from_them_needs_none() -> None:
    comparison = "Casterby had more inhabitants than Skarrow (8,340 against 1,200)"
    assert sorted(cited(comparison)) == [1, 3]
    assert cited(f"{comparison}, by 7,140", 3, 1) == [3, 1]
    assert cited(f"{comparison}, by 7,150", 3, 1) == []


@pytest.mark.parametrize(
    ("sentence", "sources"),
    [
        ("The bridge opened to traffic in 2020, 10 years after the harbour office built it in 2010.", [1]),
        ("The bridge opened to traffic in 2020, 30 years after the harbour office built it in 2010.", []),
        ("The pier is seven metres longer (68 against 61 metres).", [2]),
        ("The pier has seven lamps (68 against 61 metres).", []),
    ],
)
def test_a_number_follows_only_where_it_is_told_as_a_difference(sentence: str, sources: list[int]) -> None:
    found = [
        Source("The bridge was built in 2010 and opened to traffic in 2020 by the harbour office."),
        Source("The pier is 68 metres long, its lamps and the jetty are longer than 61 metres."),
    ]
    assert CITE.rule(CitingInput(sentence, found)).sources == sources


def test_what_an_answer_was_drafted_from_stays_if_it_bears_the_sentence_out() -> None:
    assert cited("A market on Mondays", 3) == [3]
    assert cited("Ida Thorne", 4, question="Who opened the hall?") == [4]
    assert cited("1,200 inhabitants; 8,340 inhabitants", 1, 3) == [1, 3]
    assert cited("Skarrow had 1,200 inhabitants in 2021.", 3) == [1]
    assert cited("Skarrow had 1,200 inhabitants in 2021.", 0, 99) == [1]


def test_a_relative_time_is_that_of_its_publication() -> None:
    assert cited("The ferry sailed again on 8 May 2024.", 5) == [5]
    assert cited("The ferry sailed again on 9 May 2024.", 5) == []
    assert cited("The ferry sailed again after 8 days.", 5) == []


@pytest.mark.parametrize(
    "sentence", ["## Skarrow and its bay", "Skarrow had 1,200 inhabitants:", "Skarrow", "**Skarrow in 2021**"]
)
def test_headings_and_short_sentences_carry_no_citation(sentence: str) -> None:
    assert cited(sentence, 1) == []
    assert CITE.check(CitingInput(sentence, TOWNS), Cited(sources=[1])).good == Cited(sources=[])


def test_an_answer_of_one_short_sentence_is_cited_all_the_same() -> None:
    assert cited("Yes", 4, alone=True) == [4]
    assert cited("1,300", 1, alone=True) == []


def test_a_reply_of_a_model_is_held_to_the_numbers_of_its_sources() -> None:
    given = CitingInput("Skarrow had 1,200 inhabitants in 2021.", TOWNS)
    assert CITE.check(given, Cited(sources=[1, 1])).good == Cited(sources=[1])
    assert CITE.check(given, Cited(sources=[])).good == Cited(sources=[])
    for wrong, reason, told in (
        ([3], "number_missing", "1200"),
        ([9], "no_such_source", "9"),
        ([*range(1, 8)], "too_many", "7"),
    ):
        checked = CITE.check(given, Cited(sources=wrong))
        assert checked.good is None
        assert (checked.problems[0].reason, told in checked.problems[0].detail) == (reason, True)
    prompt = CITE.render(given)
    assert "[1] (Skarrow) It had 1,200 inhabitants in 2021." in prompt
    assert "Sentence: Skarrow had 1,200" in prompt


def test_a_time_that_lies_between_two_days_follows_from_them() -> None:
    said, day = "The journal today retracted the paper published on 6 June 2023.", datetime(2024, 7, 9, tzinfo=UTC)
    question = "How long after its publication was the paper retracted by the journal?"
    for months, sources in ((13, [1]), (17, [])):
        answer = f"{months} months: 6 June 2023 to 9 July 2024"
        given = CitingInput(answer, [Source(said, None, day)], (1,), question, alone=True)
        assert CITE.rule(given).sources == sources


def test_answers_of_people_cite_the_sentences_they_were_written_from(shared: Path) -> None:
    """CLAPNQ: each answer against its own passage and the next five; floors below what was measured (.96, .99, .01)."""
    rows = read_jsonl(shared / "clapnq" / "answerable.jsonl")[:40]
    passages = [[Source(s, row["passages"][0]["title"]) for s in row["passages"][0]["sentences"]] for row in rows]
    asked = found = right = wrong = 0
    for n, row in enumerate(rows):
        gold, others = row["output"][0]["selected_sentences"], [s for k in range(1, 6) for s in passages[n - k]]
        for sentence in sentences(row["output"][0]["answer"]):
            sources = [*others, *passages[n]]
            numbers = CITE.rule(CitingInput(sentence, sources)).sources
            asked, found = asked + 1, found + bool(numbers)
            right += bool(numbers) and all(sources[k - 1].text in gold for k in numbers)
            wrong += bool(CITE.rule(CitingInput(sentence, others)).sources)
    assert found >= 0.9 * asked
    assert right >= 0.96 * found
    assert wrong <= 0.03 * asked


def test_citing_is_quick() -> None:
    sources = [Source(f"Town {n} had {n * 37} inhabitants in {1900 + n}.", f"Town {n}") for n in range(150)]
    started = time.process_time()
    for n in range(20):
        assert CITE.rule(CitingInput(f"Town {n} had {n * 37} inhabitants in {1900 + n}.", sources)).sources == [n + 1]
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("sentence", "source", "repeated"),
    [
        ("Queue: long; Memory per node: 256 GB; Longest run time: 7 days", "long | 256 GB | 7 days", [1]),
        ("7 days", "long | 256 GB | 7 days", []),
        ("The bridge was opened in 2012 by the mayor.", "The bridge was opened in 1998 by the mayor.", []),
    ],
)
def test_a_source_that_a_sentence_repeats_whole_is_told_of_another(
    sentence: str, source: str, repeated: list[int]
) -> None:
    assert repeated_sources(CitingInput(sentence, [Source(source)], (1,))) == repeated
