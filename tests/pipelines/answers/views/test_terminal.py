"""An answer on the terminal: all of it is there, it keeps the width, and the corpus cannot drive the terminal."""

import re

import pytest
from rich.cells import cell_len

from quern.pipelines.answers.views.path import strongest
from quern.pipelines.answers.views.terminal import render_text
from quern.schemas.answers import Sentence, SubAnswer
from tests.pipelines.answers.views.sample_answers import COMPARED, HARMFUL, REFUSED, answer, cite, hit, node

TEXT = "The lamp was lit in 1871. It burned whale oil. " + "The keeper slept below. " * 20
HIT = hit(chunk="lamp-0", start=100, text=TEXT, score=0.8123)
CITATION = cite(1, HIT, 100, 125)


def said(text: str) -> Sentence:
    return Sentence(text=text, citations=[1])


PATH = [node("a", "lamp-0", 0.9), node("b", "lamp-0", 0.7, 1, "a"), node("c", "other-0", 0.6)]
ANSWER = answer([HIT], [CITATION], PATH, text="The lamp was lit in 1871.").model_copy(update={"probability": 0.8})


def test_the_answer_its_source_its_chunks_and_its_path_are_shown():
    assert render_text(ANSWER, width=80, color=False) == (
        "When was the lamp lit?\n"
        "\n"
        "The lamp was lit in 1871. [1]\n"
        "\n"
        "Evidence: 80 %\n"
        "\n"
        "Sources\n"
        "[1] The lamp of Pell Head · 2024-05-03\n"
        "    https://tidewiki.example/lamp\n"
        "    “The lamp was lit in 1871.”\n"
        "    lamp, characters 100–125\n"
        "\n"
        "Chunks (qcg)\n"
        "1 0.812  lamp-0  The lamp of Pell Head\n"
        "  The lamp was lit in 1871. It burned whale oil. The keeper slept below. The\n"
        "  keeper slept below. The keeper slept below. The keeper slept below. The keeper\n"
        "  slept below. The keeper slept below. The keep…\n"
        "\n"
        "Path\n"
        "When was the lamp lit?\n"
        "├── 0.90 Text of a\n"
        "│   ├── → chunk 1 lamp-0\n"
        "│   └── 0.70 Text of b\n"
        "│       └── → chunk 1 lamp-0\n"
        "└── 0.60 Text of c\n"
    )


def test_what_is_not_in_the_corpus_is_said_with_the_nearest_chunks():
    none = ANSWER.model_copy(update={"sentences": [], "citations": []})
    shown = render_text(none, width=80, color=False)
    assert "The corpus does not say." in shown
    assert "Sources" not in shown
    assert "Nearest chunks, too weak to answer from (qcg)" in shown
    shown = render_text(none.model_copy(update={"hits": [], "path": []}), width=80, color=False)
    assert shown == "When was the lamp lit?\n\nThe corpus does not say.\n\nEvidence: 80 %\n"


def test_what_a_question_became_is_told_and_a_document_is_one_source():
    shown = render_text(COMPARED, width=80, color=False)
    assert (
        "\n"
        "The Tollen Bridge: 60.8 against 2.1 million crowns. [1][2]\n"
        "\n"
        "The final account of June 2025 gives a total of 60.8. [1][3] The Wherry Pier was\n"
        "built in 1912 for 2.1 million crowns. [2]\n"
        "\n"
        "Evidence: 87 %\n"
        "Understood as: Which cost more, the Tollen Bridge or the Wherry Pier?\n"
        "Note: “the pier at Wherry Steps” was taken for the Wherry Pier.\n"
        "\n"
        "Sub-questions\n"
        "1   What did the Tollen Bridge cost?\n"
        "    → 60.8 [1]\n"
        "2   What did the Wherry Pier cost?\n"
        "    → 2.1 [2]\n"
        "  3 Who paid 60.8 million crowns? (after 1)\n"
        "    → no answer\n"
        "\n"
        "Sources\n"
        "[1][3] Tollen Bridge: statement of cost · 2025-07-01\n"
    ) in shown
    assert shown.count("Tollen Bridge: statement of cost ·") == 1
    assert "├── 0.83 How much did the deck cost?" in shown


def test_why_there_is_no_answer_is_said_in_words():
    assert (
        "\nThe corpus does not say. What was found speaks of another time.\n\nEvidence: 12 %\n\nNearest chunks"
        in render_text(REFUSED, width=80, color=False)
    )
    assert render_text(HARMFUL, width=80, color=False).splitlines()[2:] == [
        "Questions of this kind are not answered.",
        "",
        "Note: Questions that ask for help with harm are not answered.",
    ]


@pytest.mark.parametrize("width", [20, 33, 60, 120])
def test_lines_keep_the_width_wide_characters_too(width):
    wide = HIT.model_copy(
        update={
            "text": "电动渡轮今年七月一日投入运营" * 9,
            "title": "渡轮" * 40,
            "url": "https://x.example/" + "y" * 200,
        }
    )
    shown = render_text(
        ANSWER.model_copy(update={"hits": [wide], "sentences": [said("渡轮" * 60)]}), width=width, color=False
    )
    assert max(cell_len(line) for line in shown.splitlines()) <= width


EVIL = "\x1b]0;owned\x07 \x1b[2J\x9b31m\x90 a\x00b\r\u202eevil\u2066 [bold]x[/bold] :smile: \ud800\x7f"


def test_the_corpus_cannot_drive_the_terminal():
    evil = dict.fromkeys(("doc_id", "chunk_id", "url", "title"), EVIL)
    hostile = ANSWER.model_copy(
        update={
            **dict.fromkeys(("question", "asked", "kind"), EVIL),
            "notes": [EVIL],
            "sub_questions": [SubAnswer(number=1, parents=[], question=EVIL, answer=EVIL, citations=[1])],
            "sentences": [said(EVIL)],
            "recipe": EVIL,
            "citations": [CITATION.model_copy(update={**evil, "quote": EVIL})],
            "hits": [HIT.model_copy(update={**evil, "text": EVIL})],
            "path": [node("a", EVIL, 0.5).model_copy(update={"text": EVIL})],
        }
    )
    shown = render_text(hostile, width=80, color=False)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)
    assert "[bold]x[/bold] :smile:" in shown
    refused = hostile.model_copy(update={"sentences": [], "reason": EVIL})
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", render_text(refused, width=80, color=False))
    styled = render_text(hostile, width=80, color=True)
    assert not re.search(r"\x1b(?!\[[0-9;]*m)|[\x00-\x09\x0b-\x1a\x7f-\x9f]", styled)


def test_a_circular_path_ends():
    circle = [node(n, "lamp-0", 0.5, hop, via) for n, hop, via in (("a", 1, "b"), ("b", 1, "a"), ("c", 0, "c"))]
    shown = render_text(ANSWER.model_copy(update={"path": circle}), width=80, color=False)
    assert all(f"Text of {n}" in shown for n in "abc")


def test_the_strongest_nodes_come_with_those_they_were_reached_through():
    many = (node(f"n{i}", "lamp-0", 0.5) for i in range(9))
    shown = strongest([node("far", "lamp-0", 0.9, 1, "near"), node("near", "lamp-0", 0.1), *many], [HIT], limit=3)
    assert set(shown.nodes) == {"far", "near", "n0"}
    assert len(shown.hidden) == 8


def test_a_pair_that_several_nodes_hold_is_shown_once_and_not_counted_again():
    same = [node(f"n{i}", "lamp-0", 0.5 - i / 10, text="When did it open? In 1901.") for i in range(3)]
    shown = strongest([*same, node("other", "lamp-0", 0.1)], [HIT])
    assert (list(shown.nodes), shown.hidden) == (["n0", "other"], [])
