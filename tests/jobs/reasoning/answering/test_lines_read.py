"""What a reader says of the likeliest sentences, beside the rules; here one that knows a single word."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from quern.jobs.models.line_reader import Passage
from quern.jobs.models.line_reader import Reading as Read
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.ranked import lines, reading
from quern.jobs.reasoning.answering.reading import LinesRead, Reader, told_of
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.answering.yes_no import verdict
from quern.jobs.reasoning.confidence.doubts import odds_by_reader
from quern.jobs.reasoning.runner import Reasoner
from quern.schemas.settings import AnswerSettings


@dataclass
class KnowsAWord:
    """Finds lines with a word likely, and the others not; remembers what it was given."""

    word: str
    fingerprint: str = "a"
    given: list[Passage] = field(default_factory=list)

    def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Read]:
        del question
        self.given += passages
        told = [[0.0 if self.word in line else -20.0 for line in p.lines] for p in passages]
        return lambda: Read(told, -1.5)


@dataclass
class Says:
    """Finds any line to say yes by the same log odds; remembers what it was given."""

    yes: float
    fingerprint: str = "c"
    given: list[Passage] = field(default_factory=list)

    def says_yes(self, question: str, passage: Passage) -> float:
        del question
        self.given.append(passage)
        return self.yes


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


def test_lines_of_a_page_count_by_their_share_of_it_and_pages_half() -> None:
    half = math.log(0.5)
    read = LinesRead({1: math.log(0.45), 2: math.log(0.45), 3: math.log(0.1)}, 0.0)
    told = told_of(read, [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2)])
    assert told[:3] == pytest.approx([half + 0.5 * math.log(0.9)] * 2 + [0.5 * math.log(0.1)])
    assert told[3:] == pytest.approx([-5 + 0.5 * math.log(0.1), -5 - 0.5 * 5])  # Not read; of a page that was not.


def test_a_line_is_read_behind_the_one_before_it_and_in_the_order_of_its_page() -> None:
    words = ["Nothing is told here.", "Ada Moss came in 1990.", "She owns the mill."]
    many = Evidence(" ".join([*words, *(f"The mill has a wheel number {n}." for n in range(30))]), "Mills", [], [])
    model = KnowsAWord("She")
    assert first(given(Reader(model, 3.0), many, question="Who owns the mill?")) == "She owns the mill."
    (passage,) = model.given
    assert passage.title == "Mills"
    assert list(passage.lines).index("Ada Moss came in 1990.") + 1 == list(passage.lines).index("She owns the mill.")
    assert 12 <= len(passage.lines) <= 18


def test_no_more_lines_are_read_than_there_is_room_for() -> None:
    many = Evidence(" ".join(f"The mill number {n} {'very ' * 60}slowly grinds." for n in range(30)), "Mills", [], [])
    model = KnowsAWord("number 9 ")
    lines(given(Reader(model, 3.0), many, question="Which mill grinds?"), kind_of("Which mill grinds?"))
    (passage,) = model.given
    assert 4 <= len(passage.lines) <= 5


def test_a_line_of_any_length_leaves_room_for_others() -> None:
    long = Evidence(f"The mill grinds {'and grinds ' * 400}rye. The mill is old. The mill is dry.", "Mills", [], [])
    model = KnowsAWord("x")
    lines(given(Reader(model, 3.0), long, question="What does the mill grind?"), kind_of("What does the mill grind?"))
    (passage,) = model.given
    assert len(passage.lines) == 3


def test_the_next_questions_of_a_batch_are_read_while_one_is_answered() -> None:
    done: list[str] = []

    class Slow(KnowsAWord):
        def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Read]:
            read = super().begin(question, passages)
            done.append(f"begun {question}")

            def waited() -> Read:
                done.append(f"read {question}")
                return read()

            return waited

    batch = [given(Reader(Slow("x"), 0.4), question=f"Who owns bakery {n}?") for n in range(20)]
    found = [one.output.short for one in Reasoner().run(answer_task(AnswerSettings()), batch)]
    assert done[:10] == [f"begun Who owns bakery {n}?" for n in range(8)] + [
        "read Who owns bakery 0?",
        "begun Who owns bakery 8?",
    ]
    assert sorted(done) == sorted(f"{did} {one.question}" for did in ("begun", "read") for one in batch)
    alone = [given(one.reader, question=one.question) for one in batch]
    assert found == [answer_task(AnswerSettings()).rule(one).short for one in alone]
    assert not any("begun" in vars(one) for one in batch)


def test_rows_are_read_below_the_head_of_their_table_which_is_told_once() -> None:
    table = Evidence("Fees:\n\nBoat | Winter | Summer\nDinghy | 40 | 65\nKetch | 90 | 120\n", "Moorings", [], [])
    model = KnowsAWord("Ketch")
    one = given(Reader(model, 1.0), table, question="What does a ketch pay in summer?")
    assert first(one) == "Ketch | 90 | 120"
    (passage,) = model.given
    assert passage.lines.count("Boat | Winter | Summer") == 1
    assert passage.lines.index("Boat | Winter | Summer") < passage.lines.index("Dinghy | 40 | 65")


def test_pages_with_the_likeliest_lines_are_read_first_for_what_comes_first_has_room_first() -> None:
    model = KnowsAWord("x")
    other = Evidence("The bakery was closed for a year.", "Before", [], [])
    reading(given(Reader(model, 1.0), other, BAKERY), kind_of(QUESTION))
    assert [p.title for p in model.given] == ["The bakery", "Before"]


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
    readers = [
        None,
        Reader(KnowsAWord("x"), 1.0),
        Reader(KnowsAWord("x"), 2.0),
        Reader(KnowsAWord("x", "b"), 1.0),
        Reader(KnowsAWord("x"), 1.0, Says(1.0)),
        Reader(KnowsAWord("x"), 1.0, Says(1.0, "d")),
    ]
    assert len({str(given(reader).identity) for reader in readers}) == len(readers)
    after = given(readers[1]).after([AskedBefore("Who?", "Omar")])
    assert after.reader is readers[1]


def test_what_is_read_is_told_as_logarithms_of_probabilities() -> None:
    read = reading(given(Reader(KnowsAWord("Ruth"), 1.0)), kind_of(QUESTION))
    assert {n: math.exp(value) for n, value in read.lines.items()}[2] == 1.0


@pytest.mark.parametrize(
    ("text", "yes", "said"),
    [
        ("The mill did not burn in 1931.", 9.0, "Yes"),
        ("The mill did not burn in 1931.", 0.2, "No"),
        ("The mill burned in 1931.", 0.0, "Yes"),
        ("The mill burned in 1931.", -9.0, "No"),
    ],
)
def test_what_the_reader_says_of_yes_or_no_counts_beside_the_rules(text: str, yes: float, said: str) -> None:
    mill = Evidence(f"{text} It was sold to the county.", "The mill", [], [])
    for weight, expected in ((1.0, said), (0.001, verdict_by_rules(text))):
        one = given(Reader(KnowsAWord("burn"), weight, Says(yes)), mill, question="Did the mill burn in 1931?")
        assert answer_task(AnswerSettings()).rule(one).short.partition(":")[0] == expected


def verdict_by_rules(text: str) -> str:
    return "No" if " not " in text else "Yes"


def test_a_question_of_yes_or_no_is_decided_by_the_line_that_the_reader_finds() -> None:
    mill = Evidence("The state mill burned down in 1931. Later the county bought the thing.", "The mill", [], [])
    question = "Was the mill taken over by the state?"
    one = given(None, mill, question=question)
    readers = (None, Reader(KnowsAWord("county"), 9.0))
    said = [verdict(question, _alike(one, reader), lambda _: 0.0).line.text for reader in readers]
    assert said == ["The state mill burned down in 1931.", "Later the county bought the thing."]


def _alike(one: AnswerInput, reader: Reader | None) -> list[Line]:
    """Lines that differ in nothing but what they say and what the reader says of them."""
    return [replace(line, score=0.0) for line in lines(replace(one, reader=reader), kind_of(one.question))]


def test_what_tells_yes_from_no_is_given_the_line_that_decides_behind_the_one_before_or_the_head_of_its_table() -> None:
    mill = Evidence("The mill is old.\nIt burned in 1931.", "The mill", [], [])
    prices = Evidence("Who | Price | Sundays\nAdults | 9 crowns | open\nChildren | free | shut", "Tickets", [], [])
    for evidence, question, passage in (
        (mill, "Did the mill burn in 1931?", Passage("The mill", ["The mill is old.", "It burned in 1931."])),
        (
            prices,
            "Are tickets free for children?",
            Passage("Tickets", ["Who | Price | Sundays", "Children | free | shut"]),
        ),
    ):
        says = Says(0.0)
        one = given(Reader(KnowsAWord("burned"), 1.0, says), evidence, question=question)
        answer_task(AnswerSettings()).rule(one)
        assert says.given == [passage]


def test_a_headline_that_says_what_is_asked_stands_for_what_is_below_it() -> None:
    told = (
        "Tarn Library is the library of Elm Cross.\nIt has a tower.\nFlood\n"
        "In May the cellar stood under water. At first the storm was blamed. "
        "Then a mason found that a main had burst.\n"
        "Staff\nNine people work there."
    )
    question = "What caused the flood at Tarn Library?"
    one = given(Reader(KnowsAWord("Flood"), 1.0), Evidence(told, "Tarn Library", [], []), question=question)
    said = [s.text for s in answer_task(AnswerSettings()).rule(one).sentences]
    assert said == [
        "In May the cellar stood under water.",
        "At first the storm was blamed.",
        "Then a mason found that a main had burst.",
    ]


@dataclass
class Doubts(KnowsAWord):
    """The same, and doubts that any line answers."""

    def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Read]:
        read = super().begin(question, passages)()
        return lambda: Read(read.lines, 6.0)


def test_a_doubt_counts_less_where_rules_and_reader_find_the_same_line() -> None:
    told = "The census costs 900 crowns a year. The mill has 40 sacks. The wheel cost 300 crowns."
    evidence = Evidence(told, "The census", [], [])
    same, another = (
        odds_by_reader(given(Reader(Doubts(word), 1.0), evidence, question="What does the census cost each year?"))
        for word in ("census", "wheel")
    )
    assert another < same < 0.0
