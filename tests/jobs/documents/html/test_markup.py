"""What markup means stands in the text: deletions, superscripts, formulas, tables of data, code and joiners."""

from __future__ import annotations

import time

import pytest

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.text.tables import rows

PAGE = """<html lang="en"><head><title>Kiln log</title></head><body><main><h1>Kiln log</h1>
<p>The kiln of Marl was fired again in the spring, and the keepers wrote down what they measured on each day.</p>
{}<p>All figures were read twice, by two people, and the mean of both readings stands in the log.</p>
</main></body></html>"""


def text_of(page: str) -> str:
    return str(extract_page(page.encode(), "https://kiln.example/log", "utf-8")["text"])


def lines(markup: str) -> list[str]:
    """The lines that markup becomes between two paragraphs of a page."""
    return text_of(PAGE.format(markup)).split("\n")[1:-1]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("Rent is <del>40</del> <ins>55</ins> marks.", "Rent is 55 marks."),
        ("Rent is <s>40</s> 55 marks.", "Rent is 55 marks."),
        ("Rent is <span style='text-decoration: line-through'>40</span> 55 marks.", "Rent is 55 marks."),
        ("Rent is <span class='price line-through'>40</span> 55 marks.", "Rent is 55 marks."),
        ("Up to 10<sup>5</sup> Pa.", "Up to 10^5 Pa."),
        ("About 10<sup>-4</sup> m<sup>3</sup>.", "About 10^-4 m^3."),
        ("It grows as x<sup>n+1</sup>.", "It grows as x^(n+1)."),
        ("It falls as e<sup>-x<sup>2</sup></sup>.", "It falls as e^(-x^2)."),
        ("The 3<sup>rd</sup> firing.", "The 3rd firing."),
        ("Le XIX<sup>e</sup> siècle.", "Le XIXe siècle."),
        ("CaCO<sub>3</sub> and Ca<sup>2+</sup>.", "CaCO3 and Ca^2+."),
        ("Heated to 900<sup>o</sup>C at noon.", "Heated to 900°C at noon."),
        ("Dated by <sup>14</sup>C in 1990.", "Dated by ^14C in 1990."),
        ("Written 1101<sub>2</sub> in base two.", "Written 1101_2 in base two."),
        ("Add <sup>3</sup>&frasl;<sub>4</sub> cup of ash.", "Add 3/4 cup of ash."),
        ("Add 2<sup>1</sup>/<sub>2</sub> cups of ash.", "Add 2 1/2 cups of ash."),
        ("Fired twice.<sup>2</sup> Then cooled.", "Fired twice. Then cooled."),
        ("Made by Marl<sup><a href='#n4'>[4]</a></sup> alone.", "Made by Marl alone."),
        ("Made by Marl<a href='#n4'><sup>4</sup></a> alone.", "Made by Marl alone."),
        ("Total profit<sup>*</sup> of the year.", "Total profit of the year."),
        (
            "So <math><mi>p</mi><mo>=</mo><mfrac><mi>F</mi><mrow><mn>2</mn><mi>A</mi></mrow></mfrac></math> holds.",
            "So p = F/(2A) holds.",
        ),
        ("Add <math><mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math> cups.", "Add 2 1/2 cups."),
        ("So <math><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math>.", "So x_1^2."),
        (
            "So <span><span><math alttext='a^2'><semantics><msup><mi>a</mi><mn>2</mn></msup><annotation encoding="
            "'application/x-tex'>a^{2}</annotation></semantics></math></span>"
            "<span aria-hidden='true'>a2</span></span>.",
            "So a^2.",
        ),
    ],
)
def test_a_line_says_what_its_markup_says(markup: str, text: str) -> None:
    assert lines(f"<p>{markup}</p>") == [text]


def test_a_deletion_that_was_not_closed_keeps_the_page() -> None:
    page = PAGE.format("<p>It was hot.</p>").replace("<main>", "<main><s>")
    assert "the mean of both readings" in text_of(page)


HEADS = "<tr><th>Trip</th><th>Single</th><th>Return</th></tr><tr><td>Isle</td><td>4</td><td>7</td></tr>"
TITLED = ["Fares of May", "Trip | Single | Return", "Isle | 4 | 7"]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            "<tr><th>Boat</th><th>Tide</th><th>Pilot</th></tr>"
            "<tr><td rowspan=3>Wren</td><td>low</td><td rowspan=2>Ada Orm</td></tr>"
            "<tr><td>mid</td></tr><tr><td>high</td><td>Bo Lind</td></tr>",
            ["Boat | Tide | Pilot", "Wren | low | Ada Orm", "Wren | mid | Ada Orm", "Wren | high | Bo Lind"],
        ),
        (
            "<tbody><tr><td rowspan=0>Wren</td><td>low</td></tr><tr><td>high</td></tr></tbody>"
            "<tbody><tr><td>Tern</td><td>low</td></tr></tbody>",
            ["Wren | low", "Wren | high", "Tern | low"],
        ),
        (f"<caption>Fares of May</caption>{HEADS}", TITLED),
        (f"<tr><th colspan=3>Fares of May</th></tr>{HEADS}", TITLED),
        (
            "<tr><td>Ticket office</td><td><ul><li>9 to 12</li><li>14 to 17</li></ul></td></tr>"
            "<tr><td>Café</td><td>Summer:<ol><li>always</li></ol>else closed</td></tr>"
            "<tr><td>Kiosk</td><td><dl><dt>Fri</dt><dd>9 to 11</dd><dt>Sat</dt><dd>closed</dd></dl></td></tr>",
            [
                "Ticket office | 9 to 12; 14 to 17",
                "Café | Summer: always else closed",
                "Kiosk | Fri: 9 to 11; Sat: closed",
            ],
        ),
    ],
    ids=["rowspan", "rowspan to the end", "caption", "title row", "lists in cells"],
)
def test_a_table_has_a_line_for_each_row_with_all_its_cells(table: str, expected: list[str]) -> None:
    assert lines(f"<table>{table}</table>") == expected


def test_headers_over_several_columns_name_each_of_them() -> None:
    table = (
        "<thead><tr><th rowspan=2>Pier</th><th colspan=2>Spring</th><th>Fall</th></tr>"
        "<tr><th>boats</th><th>guests</th><th>boats</th></tr></thead>"
        "<tr><td>North</td><td>4</td><td>90</td><td>3</td></tr>"
        "<tr><td>South</td><td colspan=2>closed</td><td>2</td></tr>"
    )
    header, north, south = found = lines(f"<table>{table}</table>")
    assert (header, south) == ("Pier | Spring boats | Spring guests | Fall boats", "South | closed | closed | 2")
    assert north == "North | 4 | 90 | 3"
    assert rows(found)[1].labelled == "Pier: North; Spring boats: 4; Spring guests: 90; Fall boats: 3"


@pytest.mark.parametrize(
    "markup",
    [
        "<p>" + "x<sup>2</sup>" * 20_000,
        "<p>" + "<math>" * 3_000 + "x",
        "<p>" + "<s>" * 3_000 + "x",
        "<table><tr>" + "<td rowspan=65534 colspan=1000>x</td>" * 200 + "</tr>" + "<tr></tr>" * 2_000 + "</table>",
        f"<table><tr><td rowspan=60000>{'<b>' * 200}{'x' * 100_000}</td><td>a</td>{'<tr><td>b</td>' * 2_000}</table>",
        "<table><tr><td rowspan=-1 colspan=x>a<td rowspan=9999999999999 colspan=0>b<tr><td>c</table>",
    ],
    ids=["superscripts", "formulas", "deletions", "spans", "long cell", "odd spans"],
)
def test_very_much_of_it_is_read_in_time(markup: str) -> None:
    started = time.process_time()
    lines(markup)
    assert time.process_time() - started < 10


CODE = ["def haul(rope):", "    while rope:", "        rope.pop()", "\treturn None", "x    = 1"]


@pytest.mark.parametrize(
    "markup",
    [
        "<pre>{}</pre>".format("\n".join(CODE)),
        "<pre><code class=language-python>\n{}\n</code></pre>".format("\n\n".join(CODE)),
        "<div class=highlight><pre>{}</pre></div>".format("<br>".join(f"<span>{line}</span>" for line in CODE)),
        "<pre>{}</pre>".format("".join(f"<div class=line>{line}</div>" for line in CODE)),
        "<table><tr><td><pre>{}</pre></td></tr></table>".format("\n".join(CODE)),
        "<pre>{}</pre>".format("\n".join(f"<span class=linenos>{n}</span>{line}" for n, line in enumerate(CODE))),
    ],
)
def test_code_keeps_its_indentation(markup: str) -> None:
    assert lines(markup) == CODE


@pytest.mark.parametrize("word", ["می\u200cخواهم", "ക്\u200dഷ", "क्\u200dष", "ক্\u200cষ"])
def test_joiners_stay_where_a_script_spells_with_them(word: str) -> None:
    assert word in text_of(f"<html><body><p>{word} {word}</p></body></html>")
    (line,) = lines(f"<p>{word} stands here in a line of its own, and it is spelt as it should be.</p>")
    assert line.startswith(f"{word} stands")
