"""What a chunk states, by rule: of sentences, of rows of tables, of lines of key and value."""

from __future__ import annotations

import pytest

from quern.jobs.triplets.find import name_of
from quern.jobs.triplets.rule import Passage, read_statements

BOATS = """Boats of the quay
Owner | Boat | Length
Ida Moss | Gull | 9 m
Nils Roe | none at present |
Bo Dahl | | 4 m"""


def stated(text: str, title: str = "") -> list[tuple[str, str, str]]:
    passage = Passage(text, title)
    found = read_statements(passage, 100)
    for one in found:
        assert all(text[part.start : part.end] for part in (one.subject, one.relation, one.object))
        assert one.start <= one.object.start < one.object.end <= one.end
    return [one.words(text) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lorcan Tighe was appointed master in 2019.", ("Lorcan Tighe", "was appointed master in", "2019")),
        ("Castle Meadow (a moat) never belonged to the county.", ("Castle Meadow", "never belonged to", "the county")),
        ("Nora Ibsen (born 1951) is a producer.", ("Nora Ibsen", "is", "a producer")),
        ("听澜台建于清乾隆三十一年，是最大的戏台。", ("听澜台", "建于", "清乾隆三十一年")),
    ],
)
def test_a_sentence_states_what_stands_in_it(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in stated(text)


@pytest.mark.parametrize(
    "text",
    [
        "Was Lorcan Tighe the harbour master?",
        "If the bridge is built, the ferry stops.",
        '"The bridge is a mistake," she said.',
        "She is a vet.",
    ],
)
def test_what_is_asked_supposed_quoted_or_of_nobody_is_not_stated(text: str) -> None:
    assert stated(text) == []


def test_rows_state_their_columns_and_merged_cells_nothing_that_is_not_sure() -> None:
    expected = [("Ida Moss", "Boat", "Gull"), ("Ida Moss", "Length", "9 m"), ("Bo Dahl", "Length", "4 m")]
    assert stated(BOATS) == expected


def test_rows_of_two_cells_are_of_what_the_page_is_about_where_the_chunk_names_it() -> None:
    box = "Skarrow is an island.\nPopulation | 1,930\nFerry | daily"
    assert ("Skarrow", "Population", "1,930") in stated(box, "Skarrow")
    assert stated("Population | 1,930\nFerry | daily", "Skarrow") == []


def test_a_family_name_is_the_whole_name_that_the_chunk_has() -> None:
    passage = Passage("Dr Lin Hartwell, a biologist, counts limpets. Hartwell found 205.", "")
    assert name_of("Hartwell", passage, heads=True) == "Dr Lin Hartwell"
    assert name_of("the damp", passage, heads=False) is None
    assert name_of("14 February 2024", passage, heads=False) is None
