"""Rows of tables in plain text, and the headers that they are shown with."""

from __future__ import annotations

import pytest

from quern.jobs.text.tables import rows

TIMETABLE = ["Ferries run daily.", "Stop | First | Last", "Quay | 06:10 | 22:40", "Tern Head | 06:35 |", "All year."]


def test_a_row_is_shown_with_the_header_of_each_cell() -> None:
    found = rows(TIMETABLE)
    assert sorted(found) == [2, 3]
    assert found[2].labelled == "Stop: Quay; First: 06:10; Last: 22:40"
    assert found[2].header_line == 1


@pytest.mark.parametrize(
    "lines",
    [
        ["Length | 312 m", "Cost | 60.8 million"],  # Labels and values: the first row is no header.
        ["Quay | 06:10 | 22:40", "Mole | 06:20 | 22:50"],  # A chunk may begin in the midst of a table.
    ],
)
def test_a_table_without_a_header_is_shown_as_it_is(lines: list[str]) -> None:
    assert [row.labelled for row in rows(lines).values()] == lines


def test_the_rule_of_markdown_makes_a_header_of_any_width_and_is_no_row() -> None:
    lines = ["|Mill|Stones|", "|---|:-:|", "|Weir|  4|", r"| Up\|Down | |", "|  | x |"]
    found = rows(lines)
    labelled = ["Mill: Weir; Stones: 4", r"Mill: Up\|Down; Stones", "Mill; Stones: x"]
    assert [found[n].labelled for n in sorted(found)] == labelled
