"""Spaces that mean something: those of code, and the joiners that Persian and the Indic scripts spell words with."""

from __future__ import annotations

import pytest

from quern.jobs.documents.html.extract import extract_page

PAGE = """<html lang="en"><head><title>Winch</title></head><body><main><h1>Set up the winch</h1>
<p>Put these lines into the file of the winch before it is switched on for the first time in the season.</p>
{}
<p>Then switch it on, and look whether the lamp at the door is lit and the rope runs free over the wheel.</p>
</main></body></html>"""
CODE = ["def haul(rope):", "    while rope:", "        rope.pop()", "\treturn None", "x    = 1"]


def text_of(markup: str) -> str:
    return str(extract_page(PAGE.format(markup).encode(), "https://winch.example/x", "utf-8")["text"])


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
    assert text_of(markup).split("\n")[2:-1] == CODE


def test_spaces_of_prose_are_single_whatever_the_source_has() -> None:
    assert "the  rope" not in text_of("<p>  Oil the\n   rope,  and  wait until it is dry before it is rolled up. </p>")


@pytest.mark.parametrize("word", ["می\u200cخواهم", "ക്\u200dഷ", "क्\u200dष", "ক্\u200cষ"])
def test_joiners_stay_where_a_script_spells_with_them(word: str) -> None:
    short = f"<html><body><p>{word} {word}</p></body></html>"
    assert word in extract_page(short.encode(), "https://winch.example/y", "utf-8")["text"]
    assert word in text_of(f"<p>{word} stands here in a line of its own, and it is spelt as it should be.</p>")


def test_joiners_in_latin_words_go() -> None:
    assert "The rope-maker" in text_of("<p>The ro\u200cpe-ma\u200dker comes on Friday to look at the wheel again.</p>")
