"""The rule generator: answers are quotations, pairs cover the chunk, questions name what surrounds them."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.queries.doc2query import Doc2Query
from quern.jobs.queries.rules.rule import written_pairs
from quern.jobs.queries.rules.units import WORD, read_units
from quern.jobs.queries.task import ChunkContext, doc2query
from quern.schemas.settings import Doc2QuerySettings
from quern.schemas.tables import TIMESTAMP
from quern.schemas.words.lines import squeeze

CHAT = """Time: 20260227_18:30
AdamSmith: Hi Li Hua, a quick reminder that the rent is due on Friday. Do you have any questions?
LiHua: Thanks for the reminder, Adam! I'll transfer the rent tomorrow because I get my salary then.
AdamSmith: Great! How about we fix the basement door next week?
LiHua: Perfect!"""
PROSE = """Glisson was born in Jackson County, Florida. He was elected to the State Senate in 1973 because he promised \
lower taxes. The old law was repealed by Governor Reubin Askew. He has three grown daughters."""
CHINESE = "李时珍是明朝的医学家。他于1578年写成《本草纲目》。全书收录了1892种药物。由于战乱，全书直到1596年才出版。"

LINE = (
    """Anna: I like tea!/Bob: Why?/Time: 10:00/Price: 5 euros/a | b | c/- Buy milk/Steps:/他说好。/...//🎉🎉/No/\
The cat sat on the mat. It was happy in 1990./Où est la gare du Nord ? Je ne sais pas./\
In 1990, it was built by John Smith./You can win because you try./"""
    + "x" * 50
)
LINES = st.lists(st.sampled_from(LINE.split("/")), max_size=30).map("\n".join)


def pairs(text: str, title: str | None = None, most: int = 20) -> list[tuple[str, str]]:
    return [(p.question, p.answer) for p in doc2query(most).rule(ChunkContext(text, title)).pairs]


@given(st.one_of(LINES, st.text(max_size=300)), st.sampled_from([None, "", "Tea (drink)", "茶"]), st.integers(1, 20))
def test_answers_are_quotations_and_questions_are_distinct_questions(text: str, title: str | None, most: int) -> None:
    made = pairs(text, title, most)
    assert len(made) <= most
    assert len(set(made)) == len(made)
    for question, answer in made:
        assert answer
        assert answer in squeeze(text)
        assert "\n" not in question
        assert question.endswith(("?", "？"))
    assert bool(made) == any(c.isalnum() for c in text)


@given(st.integers(1, 60), st.integers(1, 20))
def test_every_sentence_stands_in_an_answer_however_many_there_are(count: int, most: int) -> None:
    said = [f"Town number {n} was founded by settler {chr(65 + n % 26)}{n} on river {n * 7}." for n in range(count)]
    answers = " ".join(a for _, a in pairs(" ".join(said), None, most))
    assert all(s in answers for s in said)


TABLE = "Country | Capital | Area\nNorway | Oslo | 385,207 km\nSweden | Stockholm | 450,295 km"
ELECTED = "Glisson was elected to the State Senate in 1973 because he promised lower taxes."
ASKED = "{} was Glisson elected to the State Senate"


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        (PROSE, "James Glisson", ["About James Glisson: where was Glisson born?"]),
        (ELECTED, None, [f"{ASKED} in 1973?".format("Why"), f"{ASKED}?".format("When")]),
        (CHINESE, "李时珍", ["李时珍是谁？", "关于李时珍，为什么全书直到1596年才出版？"]),
        (TABLE, "Europe", ["What are the Capital, Area of Norway (Europe)?"]),
        # In other languages: the title and the words that the sentence begins with.
        ("Der Zug nach Ulm fährt um acht vom Gleis drei.", "Plan", ["Plan: Der Zug nach Ulm fährt um acht vom…?"]),
        # A pronoun does not say whom a question is about.
        ("She was born in Leeds in 1815.", "Ada Byron", ["What is said about Ada Byron and Leeds?"]),
    ],
)
def test_a_unit_is_asked_for_its_constituents_in_its_language(
    text: str, title: str | None, expected: list[str]
) -> None:
    asked = [question for question, _ in pairs(text, title)]
    assert set(expected) <= set(asked)
    assert len({question[-1] for question in asked}) == 1


def test_a_dialogue_is_asked_with_the_names_of_who_speaks_and_who_is_spoken_to() -> None:
    asked = dict(pairs(CHAT))
    assert asked["When do Adam Smith and Li Hua talk?"] == "Time: 20260227_18:30"
    assert "What does Adam Smith tell Li Hua about reminder and rent?" in asked
    reply = "What does Li Hua answer when Adam Smith asks: Great! How about we fix the basement door next week?"
    assert asked[reply] == "Perfect!"


def test_the_job_makes_queries_with_their_chunk_and_rejects_what_has_no_words() -> None:
    columns = {"chunk_id": ["a-0", "b-0", "c-0"], "text": [PROSE, "... !!", CHAT], "title": ["Glisson", None, None]}
    times = {"published_at": pa.nulls(3, TIMESTAMP), "utc_offset": pa.nulls(3, pa.int32())}
    batch = pa.RecordBatch.from_pydict(columns | times)
    job = Doc2Query(Doc2QuerySettings(pairs=5))
    made = job.apply(batch)
    assert made.rows.schema.names == ["query_id", "chunk_id", "question", "answer"]
    assert [(r.reason, r.row) for r in made.rejects] == [("no_pairs", 1)]
    assert set(made.parents.tolist()) == {0, 2}
    assert made.rows.column("query_id").to_pylist()[:5] == [f"a-0-{m}" for m in range(5)]
    assert job.fingerprint() != Doc2Query(Doc2QuerySettings(pairs=6)).fingerprint()


@given(st.one_of(LINES, st.text(max_size=200)), st.floats(0.3, 1.0))
def test_no_two_pairs_are_near_identical(text: str, near: float) -> None:
    made = [set(WORD.findall(f"{w.question} {w.answer}".lower())) for w in written_pairs(text, "Tea", None, 20, near)]
    for n, one in enumerate(made):
        assert all(len(one & other) < near * len(one | other) for other in made[:n])


@pytest.mark.parametrize(
    "part", ["A b. ", "x: y\n", "Anna: I go!\n", "is ", "in the ", "A a ", ", ", "| a ", "他", "A" * 30]
)
def test_hostile_chunks_do_not_stall(part: str) -> None:
    started = time.process_time()
    pairs(part * (4000 // len(part)))
    assert time.process_time() - started < 5


def test_a_table_of_thousands_of_rows_is_read_in_a_time_of_its_rows() -> None:
    text = "".join(f"| Barge {n} | {n % 90} tonnes | {1900 + n % 120} |\n" for n in range(20_000))
    started = time.process_time()
    units = read_units(text, 10)
    assert time.process_time() - started < 5.0
    assert len(units) == 10
    assert " ".join(text[unit.start : unit.end] for unit in units).split() == text.split()
