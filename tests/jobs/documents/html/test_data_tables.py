"""Tables of data: each row says all that belongs to it."""

from __future__ import annotations

import time

import pytest

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.text.tables import rows

PAGE = """<html lang="en"><head><title>Ferry rota</title></head><body><main><h1>Ferry rota</h1>
<p>The rota of the ferry for the coming season, as the harbour master wrote it down at the end of the winter.</p>
<table>{}</table>
<p>Whoever cannot come tells the office a day before, by telephone or by a note at the door of the harbour.</p>
</main></body></html>"""


def lines(table: str) -> list[str]:
    """The lines that a table becomes."""
    text = extract_page(PAGE.format(table).encode(), "https://ferry.example/rota", "utf-8")["text"]
    return str(text).split("\n")[1:-1]


def test_a_cell_belongs_to_every_row_that_it_spans() -> None:
    table = (
        "<tr><th>Boat</th><th>Tide</th><th>Pilot</th></tr>"
        "<tr><td rowspan=3>Wren</td><td>low</td><td rowspan=2>Ada Orm</td></tr>"
        "<tr><td>mid</td></tr><tr><td>high</td><td>Bo Lind</td></tr><tr><td>Tern</td><td>low</td><td>Cy Falk</td></tr>"
    )
    assert lines(table) == [
        "Boat | Tide | Pilot",
        "Wren | low | Ada Orm",
        "Wren | mid | Ada Orm",
        "Wren | high | Bo Lind",
        "Tern | low | Cy Falk",
    ]


def test_a_cell_of_no_stated_height_reaches_the_end_of_its_body() -> None:
    table = (
        "<tbody><tr><td rowspan=0>Wren</td><td>low</td></tr><tr><td>high</td></tr></tbody>"
        "<tbody><tr><td>Tern</td><td>low</td></tr></tbody>"
    )
    assert lines(table) == ["Wren | low", "Wren | high", "Tern | low"]


def test_headers_over_several_columns_name_each_of_them() -> None:
    table = (
        "<thead><tr><th rowspan=2>Pier</th><th colspan=2>Spring</th><th>Fall</th></tr>"
        "<tr><th>boats</th><th>guests</th><th>boats</th></tr></thead>"
        "<tr><td>North</td><td>4</td><td>90</td><td>3</td></tr>"
        "<tr><td>South</td><td colspan=2>closed</td><td>2</td></tr>"
    )
    found = lines(table)
    assert found == [
        "Pier | Spring boats | Spring guests | Fall boats",
        "North | 4 | 90 | 3",
        "South | closed | closed | 2",
    ]
    assert rows(found)[1].labelled == "Pier: North; Spring boats: 4; Spring guests: 90; Fall boats: 3"


@pytest.mark.parametrize(
    "head", ["<caption>Fares of May</caption>", "<tr><th colspan=3>Fares of May</th></tr>"], ids=["caption", "row"]
)
def test_a_title_of_a_table_is_no_header_of_its_columns(head: str) -> None:
    table = f"{head}<tr><th>Trip</th><th>Single</th><th>Return</th></tr><tr><td>Isle</td><td>4</td><td>7</td></tr>"
    assert lines(table) == ["Fares of May", "Trip | Single | Return", "Isle | 4 | 7"]


def test_entries_of_lists_stay_in_their_cells() -> None:
    table = (
        "<tr><td>Ticket office</td><td><ul><li>9 to 12</li><li>14 to 17</li></ul></td></tr>"
        "<tr><td>Café</td><td>Summer:<ol><li>always</li></ol>else closed</td></tr>"
        "<tr><td>Kiosk</td><td><dl><dt>Fri</dt><dd>9 to 11</dd><dt>Sat</dt><dd>closed</dd></dl></td></tr>"
    )
    assert lines(table) == [
        "Ticket office | 9 to 12; 14 to 17",
        "Café | Summer: always else closed",
        "Kiosk | Fri: 9 to 11; Sat: closed",
    ]


@pytest.mark.parametrize(
    "table",
    [
        "<tr>" + "<td rowspan=65534 colspan=1000>x</td>" * 200 + "</tr>" + "<tr></tr>" * 2_000,
        "<tr><td rowspan=60000>" + "<b>" * 200 + "x" * 100_000 + "</td><td>a</td></tr>" + "<tr><td>b</td></tr>" * 2_000,
        "<tr><td rowspan=-1 colspan=x>a</td><td rowspan=9999999999999 colspan=0>b</td></tr><tr><td>c</td></tr>",
    ],
)
def test_spans_of_any_size_are_read_in_time(table: str) -> None:
    started = time.monotonic()
    extract_page(PAGE.format(table).encode(), "https://ferry.example/rota", "utf-8")
    assert time.monotonic() - started < 10
