"""Sentences are exact spans: ordered, apart, and together they hold every visible character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.schemas.words.sentences import sentence_spans, sentences

PIECES = st.sampled_from(
    [*"Mr.|U.S.|!|…|...|。|！|”|\"|'|)|No. 5|3.14|A|b|🎉".split("|"), "Dr. ", " ", "\n", ". ", "?! ", "1. ", "\t"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_spans_are_ordered_disjoint_trimmed_and_cover_every_visible_character(text: str) -> None:
    spans = sentence_spans(text)
    end = 0
    for start, stop in spans:
        assert end <= start < stop <= len(text)
        assert text[start:stop] == text[start:stop].strip()
        assert not text[end:start].strip()
        end = stop
    assert not text[end:].strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Smith met Dr. J. R. Jones. He paid $3.50.", ["Mr. Smith met Dr. J. R. Jones.", "He paid $3.50."]),
        ("He lives in the U.S. The U.S. Army came.", ["He lives in the U.S.", "The U.S. Army came."]),
        ("See No. 5 of vol. 3, e.g. Fig. 2. Done.", ["See No. 5 of vol. 3, e.g. Fig. 2.", "Done."]),
        ("I work at Apple Inc. It is big.", ["I work at Apple Inc.", "It is big."]),
        ("He left at 5 p.m. on Jan. 5. She stayed.", ["He left at 5 p.m. on Jan. 5.", "She stayed."]),
        ('"Really?" he asked. "Yes!" She left...', ['"Really?" he asked.', '"Yes!"', "She left..."]),
        ("Wait... what? Oh! OK", ["Wait... what?", "Oh!", "OK"]),
        ("Yahoo! is a company. Next one.", ["Yahoo! is a company.", "Next one."]),
        ("Wow! 😍 I love it!! 🎸😊 See you", ["Wow! 😍", "I love it!! 🎸😊", "See you"]),
        ("你好。我是李华！“真的？”他说。", ["你好。", "我是李华！", "“真的？”", "他说。"]),
        ("世界上有3.5亿人……是吗？完", ["世界上有3.5亿人……是吗？", "完"]),
        ("1. First thing. Second\n2. Next\n\n- a bullet", ["1. First thing.", "Second", "2. Next", "- a bullet"]),
        ("See https://a.org/b?c=d. Then go.", ["See https://a.org/b?c=d.", "Then go."]),
        ("Alice: I'm in!\nBob: Great.", ["Alice: I'm in!", "Bob: Great."]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_sentences_of(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.timeout(10)
@pytest.mark.parametrize("run", [".", "!", " ", '."', ". ", "a. ", "“", "…", "。", "\n", "1. "])
def test_long_runs_take_linear_time(run: str) -> None:
    assert sentence_spans(run * 200_000 + "x")


@pytest.mark.parametrize(
    "expected",
    [
        ["Das Wehr wurde am 13. Mai 2024 geöffnet.", "Der Müller sah zu."],
        ["Seit 2. Juni ruht die Mühle.", "Am 3./4. Oktober läuft sie wieder."],
        ["Lena gewann den 3. Preis und Ole den 12. Platz."],
        ["Im 18. Jahrhundert stand hier z. B. Öl zum Verkauf.", "Es war teuer."],
        ["Siehe Nr. 5 und Abb. 7, d. h. den Plan von Hrn. Weiß."],
        ["Das Mehl kam auf Platz 3.", "Der Rest blieb liegen."],
        ["Der Sack wiegt 5 kg.", "Otto trägt ihn."],
        ["Møllen åbnede den 13. maj 2024.", "Alle kom."],
        ["Mlýn otevřeli 2. června 2024.", "Přišli všichni."],
        ["The mill has 13.", "Visitors count them.", "I am 13.", "She is 12."],
        ["А. С. Пушкин жил здесь.", "Он писал."],
    ],
)
def test_ordinals_and_abbreviations_with_a_full_stop(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_a_row_of_a_table_is_not_cut_behind_an_abbreviation() -> None:
    assert sentences("| Mill Ltd. | 5 |\n| Weir Inc. | 7 |") == ["| Mill Ltd. | 5 |", "| Weir Inc. | 7 |"]
