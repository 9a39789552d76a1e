"""Choosing among the values of the evidence."""

from __future__ import annotations

import time
from dataclasses import replace

from quern.jobs.reasoning.answering.choosing import choices
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.relevance import Line, Signals
from quern.jobs.reasoning.answering.tables import Row
from quern.jobs.reasoning.answering.typed.value import Value

QUESTION = "How many barrels did the ferry carry?"


def line(text: str) -> Line:
    """A sentence whose numbers are its values."""
    values, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        if word.isdigit():
            values.append(Value(at, at + len(word), word, 1.0, word))
        at += len(word)
    signals = Signals(*[0.0] * len(Signals._fields))
    return Line(1, 0, text, None, None, "", tuple(values), signals, 0.0, 1.0)


def likeliest(text: str) -> str:
    return choices(QUESTION, kind_of(QUESTION), [line(text)])[0].value.text


def test_the_value_beside_the_words_of_the_question_is_the_likeliest() -> None:
    assert likeliest("Built for 900 in the year of 7 storms , it was with 40 barrels") == "40"
    assert likeliest("It had barrels , 40 , and in a winter of great trouble and storms 900 of another kind") == "40"
    # A word of what is asked for counts for more than another of the question.
    assert likeliest("ferry 900 of the owners who had much to say about it and then barrels 40") == "40"


def test_a_cell_counts_by_its_column_not_by_how_near_it_stands_to_the_label() -> None:
    text = "Barrels | 41 | 41 | 109 | 108"
    heads = ("Heading", "May", "June", "July", "Final count")
    row = Row(("Barrels", "41", "41", "109", "108"), heads, (0, 10, 15, 20, 26))
    cells = [
        Value(s, s + len(c), c, 1.0 if c == "108" else 0.55, c)
        for c, s in zip(row.cells[1:], row.starts[1:], strict=True)
    ]
    said = replace(line("It carried 88 barrels"), number=2, score=-0.4)
    found = choices(QUESTION, kind_of(QUESTION), [replace(line(text), row=row, values=tuple(cells)), said])
    assert [choice.value.text for choice in found[:2]] == ["108", "88"]


def test_a_hundred_thousand_characters_of_values_take_no_time_of_their_square() -> None:
    for run in ("{} barrels ", "{} ", "{} of which "):
        made = line("".join(run.format(n % 10_000) for n in range(50_000))[:100_000])
        started = time.process_time()
        choices(QUESTION, kind_of(QUESTION), [made])
        assert time.process_time() - started < 10.0, run
