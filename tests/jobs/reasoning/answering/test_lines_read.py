"""What a reader says of the likeliest sentences, beside the rules; here one that knows a single word."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from quern.jobs.models.line_reader import Passage
from quern.jobs.models.line_reader import Reading as Read
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.reading import LinesRead, Reader, told_of
from quern.jobs.reasoning.answering.relevance import lines, reading


@dataclass
class KnowsAWord:
    """Finds lines with a word likely, and the others not; remembers what it was given."""

    word: str
    fingerprint: str = "a"
    given: list[Passage] = field(default_factory=list)

    def read(self, question: str, passages: Sequence[Passage]) -> Read:
        del question
        self.given += passages
        return Read([[0.0 if self.word in line else -20.0 for line in p.lines] for p in passages], -1.5)


BAKERY = Evidence("Omar Teel owns the bakery. The bread is baked by Ruth Vance. It opens at six.", "The bakery", [], [])
QUESTION = "Who owns the bakery?"


def given(reader: Reader | None, *evidence: Evidence, question: str = QUESTION) -> AnswerInput:
    return AnswerInput(question, evidence or (BAKERY,), reader=reader)


def first(one: AnswerInput) -> str:
    return lines(one, kind_of(one.question))[0].text


def test_what_the_reader_finds_likely_comes_first_as_far_as_its_word_counts() -> None:
    assert first(given(None)) == "Omar Teel owns the bakery."
    assert first(given(Reader(KnowsAWord("Ruth"), 0.01))) == "Omar Teel owns the bakery."
    assert first(given(Reader(KnowsAWord("Ruth"), 9.0))) == "The bread is baked by Ruth Vance."


def test_lines_of_a_page_count_by_their_share_of_it_and_pages_a_fifth() -> None:
    half = math.log(0.5)
    read = LinesRead({1: math.log(0.45), 2: math.log(0.45), 3: math.log(0.1)}, 0.0)
    told = told_of(read, [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2)])
    assert told[:3] == pytest.approx([half + 0.2 * math.log(0.9)] * 2 + [0.2 * math.log(0.1)])
    assert told[3:] == pytest.approx([-5 + 0.2 * math.log(0.1), -5 - 0.2 * 5])  # Not read; of a page that was not.


def test_a_line_is_read_behind_the_one_before_it_and_in_the_order_of_its_page() -> None:
    words = ["Nothing is told here.", "Ada Moss came in 1990.", "She owns the mill."]
    many = Evidence(" ".join([*words, *(f"The mill has a wheel number {n}." for n in range(30))]), "Mills", [], [])
    model = KnowsAWord("She")
    assert first(given(Reader(model, 3.0), many, question="Who owns the mill?")) == "She owns the mill."
    (passage,) = model.given
    assert passage.title == "Mills"
    assert list(passage.lines).index("Ada Moss came in 1990.") + 1 == list(passage.lines).index("She owns the mill.")
    assert 6 <= len(passage.lines) <= 12


def test_rows_are_read_below_the_head_of_their_table_which_is_told_once() -> None:
    table = Evidence("Fees:\n\nBoat | Winter | Summer\nDinghy | 40 | 65\nKetch | 90 | 120\n", "Moorings", [], [])
    model = KnowsAWord("Ketch")
    one = given(Reader(model, 1.0), table, question="What does a ketch pay in summer?")
    assert first(one) == "Ketch | 90 | 120"
    (passage,) = model.given
    assert passage.lines.count("Boat | Winter | Summer") == 1
    assert passage.lines.index("Boat | Winter | Summer") < passage.lines.index("Dinghy | 40 | 65")


def test_pages_are_read_in_the_order_in_which_they_were_found() -> None:
    model = KnowsAWord("x")
    other = Evidence("The bakery was owned by Ada Moss.", "Before", [], [])
    reading(given(Reader(model, 1.0), other, BAKERY), kind_of(QUESTION))
    assert [p.title for p in model.given] == ["Before", "The bakery"]


def test_a_question_in_chinese_a_key_and_one_without_evidence_are_not_read() -> None:
    model = KnowsAWord("x")
    for one in (
        given(Reader(model, 1.0), question="谁是面包店的老板？"),
        given(Reader(model, 1.0), question="HD-1033"),
        AnswerInput(QUESTION, [], reader=Reader(model, 1.0)),
    ):
        assert reading(one, kind_of(one.question)).none is None
    assert model.given == []
    assert reading(given(Reader(model, 1.0)), kind_of(QUESTION)).none == -1.5


def test_an_input_is_read_once_whoever_asks() -> None:
    model = KnowsAWord("Ruth")
    one = given(Reader(model, 1.0))
    for _ in range(3):
        lines(one, kind_of(QUESTION))
        reading(one, kind_of(QUESTION))
    assert len(model.given) == 1


def test_an_answer_is_remembered_under_what_read_and_what_its_word_counted() -> None:
    readers = [None, Reader(KnowsAWord("x"), 1.0), Reader(KnowsAWord("x"), 2.0), Reader(KnowsAWord("x", "b"), 1.0)]
    assert len({str(given(reader).identity) for reader in readers}) == len(readers)
    after = given(readers[1]).after([AskedBefore("Who?", "Omar")])
    assert after.reader is readers[1]


def test_what_is_read_is_told_as_logarithms_of_probabilities() -> None:
    read = reading(given(Reader(KnowsAWord("Ruth"), 1.0)), kind_of(QUESTION))
    assert {n: math.exp(value) for n, value in read.lines.items()}[2] == 1.0
