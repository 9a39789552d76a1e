"""Groundedness: whether an answer stands in a passage, word for word or nearly so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Final

from rapidfuzz.distance import LCSseq

from quern.jobs.queries.rules.units import WORD
from quern.schemas.words.scripts import CJK
from quern.schemas.words.terms import STOP_WORDS, fold

# An answer of so many words may have a third more words of the passage between them: what a writer leaves out.
_SLACK: Final = 4 / 3
_POSSESSIVE: Final = re.compile(r"['’]s?$")
# The two ways of writing a number that differ in nothing else: 1,892 and 1892.
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SIGN: Final = re.compile(r"(?<![\w.)\]])[-\u2212](?=\d)")
_NAME: Final = re.compile(rf"(?<![.!?\u2026] )\b[A-Z][^\W_{CJK}]+")
_MEANS_NOTHING: Final = STOP_WORDS | frozenset("one so than that too very can just should now".split())
# What turns a statement round, in words and in Chinese characters.
_NEGATIONS: Final = frozenset(
    "not no never none nor neither nobody nothing nowhere without cannot can't won't don't doesn't didn't isn't "
    "aren't wasn't weren't hasn't haven't hadn't wouldn't couldn't shouldn't hardly minus "
    "不 没 沒 未 无 無 非 别 勿 莫".split()
)
# Words that say how much or when, like digits.
_AMOUNTS: Final = frozenset(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen percent "
    "half first second third fourth fifth january february march april june july august september october november "
    "december monday tuesday wednesday thursday friday saturday sunday more less before after always all "
    "一 二 三 四 五 六 七 八 九 十 百 千 万 亿 半".split()
)


def groundedness(answer: str, passage: str) -> float:
    """Share of the answer's words that stand in one stretch of the passage in the same order, in [0, 1].

    Words are compared in lower case, in compatibility form and without diacritics; of Chinese, Japanese and Korean
    the characters. The stretch is at most a third longer than the answer. What carries the meaning must be in it: every
    number, amount, month and name of the answer; and both or neither must negate. An answer that lacks one of these,
    or has stop words alone, scores 0: grounded by nothing. A quotation scores 1. (QCG-RAG, prompt C.1, asks that the
    answer be taken nearly verbatim; how that is measured is ours.)

    Time: linear in the length of the passage, and quadratic in that of an answer that is no quotation.
    """
    answer_words, passage_words = _words(answer), _words(passage)
    if all(word in _MEANS_NOTHING for word in answer_words):
        return 0.0
    glue = "\x00"
    if glue + glue.join(answer_words) + glue in glue + glue.join(passage_words) + glue:
        return 1.0  # The words stand in the passage side by side.
    start = _densest(answer_words, passage_words)
    stretch = passage_words[start : start + int(len(answer_words) * _SLACK)]
    # The longest common subsequence, and the part of the stretch from its first word to its last.
    runs = [run for run in LCSseq.opcodes(answer_words, stretch) if run.tag == "equal"]
    common = [word for run in runs for word in answer_words[run.src_start : run.src_end]]
    span = stretch[runs[0].dest_start : runs[-1].dest_end] if runs else []
    rest = Counter(answer_words) - Counter(common)
    names = {fold(name).casefold() for name in _NAME.findall(answer[1:])}
    critical = any(any(c.isdigit() for c in word) or word in _AMOUNTS or word in names for word in rest)
    if critical or _negated(answer_words) != _negated(span):
        return 0.0
    return len(common) / len(answer_words)


def _densest(answer: Sequence[str], passage: Sequence[str]) -> int:
    """Where the stretch begins that has most of the words, in whatever order."""
    need, width = Counter(answer), int(len(answer) * _SLACK)
    have = Counter(word for word in passage[:width] if word in need)
    shared = sum(min(n, have[word]) for word, n in need.items())
    best, at = shared, 0
    for start, (leaving, entering) in enumerate(zip(passage, islice(passage, width, None), strict=False), 1):
        if leaving in need:
            shared -= have[leaving] <= need[leaving]
            have[leaving] -= 1
        if entering in need:
            have[entering] += 1
            shared += have[entering] <= need[entering]
        if shared > best:
            best, at = shared, start
    return at


def _negated(words: Sequence[str]) -> int:
    return sum(word in _NEGATIONS for word in words)


def _words(text: str) -> list[str]:
    plain = _SIGN.sub("minus ", _THOUSANDS.sub("", fold(text).casefold().replace("%", " percent ")))
    return [_POSSESSIVE.sub("", word.replace("\u2019", "'")) for word in WORD.findall(plain)]
