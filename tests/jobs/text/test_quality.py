"""Each rule rejects what it is for, with its reason, and lets real text through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.text.quality import verdict
from quern.schemas.settings import QualitySettings

PROSE = (
    "The ferry left the harbour at nine and was back before the tide turned. Its crew had painted the rails over the "
    "winter, and that was the first thing anybody noticed. A gull stood on the wheelhouse for most of the crossing. "
    "On the island a band played, although the wind took half of the notes. Children were allowed to ring the bell, "
    "which they did with great patience. By evening the mayor had lost both his hat and the thread of his speech, and "
    "people agreed to remember it as a good day. The return was calm, and nobody asked how much the paint had cost."
)
CHINESE = (
    "渡轮九点离港，赶在落潮之前回来。船员在冬天里给栏杆刷了新漆，这是大家最先注意到的事情。一只海鸥在驾驶室顶上站了大半程。"
    "岛上有乐队演奏，不过风带走了一半的音符。孩子们可以敲钟，他们敲得很有耐心。到了傍晚，市长丢了帽子，也忘了讲稿，"
    "人们都说这是值得记住的一天。回程风平浪静，没有人问起油漆花了多少钱，船长自己倒是记在本子上了，码头的灯也亮了起来。"
)
STRICT = QualitySettings(repetition_from=20, stop_words_from=20)


def reason(text: str, language: str | None = "en", settings: QualitySettings = STRICT) -> str | None:
    found = verdict(text, language, settings)
    return found[0] if found else None


@pytest.mark.parametrize(("text", "language"), [(PROSE, "en"), (CHINESE, "zh"), (PROSE, None), (PROSE, "de")])
def test_prose_passes(text: str, language: str | None) -> None:
    assert reason(text, language) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Two words", "quality_few_words"),
        ("渡轮停航", "quality_few_words"),
        (" ".join(f"{n}.5 {n * 7}" for n in range(50)), "quality_letters"),
        ("a b c d e f g h i j", "quality_short_words"),
        ("supercalifragilistic incomprehensibilities " * 5, "quality_long_words"),
        ("ferry harbour captain timetable anchor compass lantern rigging mooring ballast " * 3, "quality_stop_words"),
        ("the tags of #sea #sky #sun #fun and #gull", "quality_symbols"),
        (
            "\n".join(f"We sailed past the pier, and then the wind of the {n}th day was …" for n in range(3)),
            "quality_ellipsis",
        ),
        ("function of the page { return {a: {b: {c: 1}}} } and so on", "quality_curly"),
        (f"Lorem ipsum dolor sit amet. {PROSE}", "quality_lorem_ipsum"),
        ("\n".join(["The tide is high on the pier today."] * 20), "quality_repetition_lines"),
        (" ".join(["buy the tea"] * 40) + " and be with us", "quality_top_ngram"),
        (f"{PROSE} " * 6, "quality_duplicate_ngrams"),
    ],
)
def test_a_rule_rejects_with_its_reason(text: str, why: str) -> None:
    assert reason(text) == why


@given(st.text(max_size=300), st.sampled_from(["en", "zh", "ja", "ru", None]))
def test_every_text_gets_a_verdict(text: str, language: str | None) -> None:
    loose = QualitySettings(min_words=0, repetition_from=0)
    found = verdict(text, language, loose)
    assert found is None or (found[0].startswith("quality_") and found[1])


def test_marks_of_headings_and_code_are_no_symbols() -> None:
    section = "## turn\n\nTurns the stone of the mill.\n\n### Options\n\nNone.\n\n"
    assert reason(section + section.replace("turn", "halt")) is None
    assert reason(f"{PROSE}\n```js\nf = ({{...a}}) => {{ {{}} }} # ...\n```\n") is None


@pytest.mark.parametrize("language", ["ja", "zh", None])
def test_a_short_notice_without_spaces_between_words_has_enough_of_them(language: str | None) -> None:
    assert reason("本日の渡し船は強風のため欠航です。", language) is None
