"""Chinese numerals become Arabic digits where they are numbers, and stay elsewhere; numbers are compared by value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.text.chinese_numerals import arabic, value
from quern.jobs.text.numbers import possible_numbers, stated_numbers

IN_WORDS = (
    "一些 一下 一起 一个 一天 一点 万一 三心二意 十分 王五 张三李四 千万不要 百万富翁 几十 数百 十几个 二三十个 三四百 "
    "十七八岁 "
    "两三年 双十一 星期三 周五 一一说明 三番五次 三天两头 三位一体 一千零一夜 三百六十行 张三个子高 第三者 第一手 "
    "百分之几 九点 一般 统一 五四运动 二百五 嘉庆十二年 农历八月十五 "
    "五台山 十八罗汉 二十四史 第一次世界大战 星期二十点"
).split()
NUMBERS = [
    pair.split("=")
    for pair in (
        "三百二十一=321 二〇二四年=2024年 一九九八年三月=1998年3月 一万二千=12000 两千=2000 两千五百人=2500人 "
        "三千万元=3000万元 十二个=12个 一百零五=105 一千零五十=1050 两万五=25000 百分之七十=70% "
        "百分之三点五=3.5% 百分之百=100% 千分之六=6‰ 三分之二=2/3 第三次=第3次 三点五公里=3.5公里 "
        "十点二十分=10点20分 晚上七点半=晚上7点半 五天=5天 一月=1月 二十多=20多 三萬五千元=35000元 "
        "壹万贰仟元整=12000元整"
    ).split()
]


@pytest.mark.parametrize("words", IN_WORDS)
def test_a_numeral_in_a_word_stays(words: str) -> None:
    assert arabic(words) == words
    assert arabic(f"他说{words}，然后走了。") == f"他说{words}，然后走了。"


@pytest.mark.parametrize(("numeral", "number"), NUMBERS)
def test_a_number_becomes_digits(numeral: str, number: str) -> None:
    assert arabic(f"共有{numeral}。") == f"共有{number}。"


def test_a_long_run_of_numerals_is_no_number() -> None:
    assert value("一" + "十" * 50) is None
    assert arabic("万" * 100_000) == "万" * 100_000


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,200 people and nine boats", {1200, 9}),
        ("1.2 million, of which 1,200,", {1_200_000, 1200}),
        ("twenty-five, two hundred and five", {25, 205}),
        ("a twelve-year-old", {12}),
        ("on 2024-05-03 at 9:30", {2024, 5, 3, 9.3}),
        ("the 3rd of May", {3}),
        ("一共三百六十盏，花了5800万元", {360, 58_000_000}),
        ("１２ or ٣", {12, 3}),
        ("one of them, once", set()),
        ("", set()),
    ],
)
def test_a_text_states_numbers_by_value(text: str, numbers: set[float]) -> None:
    assert stated_numbers(text) == numbers
    assert stated_numbers(text) <= possible_numbers(text)


def test_a_source_may_state_more_than_a_sentence_must_have() -> None:
    assert possible_numbers("the third, twice, one 61.7 million") >= {3, 2, 1, 61.7, 61_700_000}
    assert 30 in possible_numbers("开了三十年")


@given(st.integers(0, 10**9))
def test_separators_make_no_difference(number: int) -> None:
    assert stated_numbers(f"{number:,} seats") == stated_numbers(f"{number} seats") == {float(number)}
