"""Deletions, superscripts, subscripts, fractions and formulas as a reader of plain text must see them."""

from __future__ import annotations

import time

import pytest

from quern.jobs.documents.html.extract import extract_page

PAGE = """<html lang="en"><head><title>Kiln log</title></head><body><main><h1>Kiln log</h1>
<p>The kiln of Marl was fired again in the spring, and the keepers wrote down what they measured on each day.</p>
<p>{}</p><p>All figures were read twice, by two people, and the mean of both readings stands in the log.</p>
</main></body></html>"""


def line(markup: str) -> str:
    """The line that a paragraph of a page becomes."""
    text = extract_page(PAGE.format(markup).encode(), "https://kiln.example/log", "utf-8")["text"]
    return str(text.split("\n")[1])


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
        (
            "So <span><span><math alttext='a^2'><semantics><msup><mi>a</mi><mn>2</mn></msup><annotation encoding="
            "'application/x-tex'>a^{2}</annotation></semantics></math></span>"
            "<span aria-hidden='true'>a2</span></span>.",
            "So a^2.",
        ),
    ],
)
def test_a_line_says_what_its_markup_says(markup: str, text: str) -> None:
    assert line(markup) == text


def test_a_title_is_written_as_its_text_is() -> None:
    page = "<html><head><title></title></head><body><h1>CO<sub>2</sub> at 10<sup>3</sup> hPa</h1></body></html>"
    assert extract_page(page.encode(), "https://kiln.example/co2", "utf-8")["title"] == "CO2 at 10^3 hPa"


def test_a_deletion_that_was_not_closed_keeps_the_page() -> None:
    page = PAGE.format("It was hot.").replace("<main>", "<main><s>")
    text = extract_page(page.encode(), "https://kiln.example/log", "utf-8")["text"]
    assert "the mean of both readings" in text


@pytest.mark.parametrize("markup", ["x<sup>2</sup>" * 20_000, "<math>" * 3_000 + "x", "<s>" * 3_000 + "x"])
def test_very_much_notation_is_read_in_time(markup: str) -> None:
    started = time.monotonic()
    extract_page(PAGE.format(markup).encode(), "https://kiln.example/log", "utf-8")
    assert time.monotonic() - started < 10
