"""Chinese questions that ask for several things, as one question for each."""

from __future__ import annotations

import re
from typing import Final

_ASKS: Final = re.compile(r"[谁吗呢几哪]|多[少大久长高远重]|什么|怎[么样]|为何|何时|是否|如何|哪")
_CUT: Final = re.compile(r"[？?；;]\s*|[，,]\s*(?:而|并且|以及|同时|又|还有)?")
_PRONOUN: Final = re.compile(
    r"^(?:他们|她们|它们|他|她|它|其|该\S{0,2}?)(?=[的在是有开从用被将为花])|^(?:他|她|它)(?:们)?"
)
_IDENTITY: Final = re.compile(r"(?:是谁|是哪一?[位个家座艘种])$")
_OF_IT: Final = re.compile(r"(?:他|她|它)|(?:今年)?(?:多少岁|几岁|多大|来自|出生|姓|叫)")
_TOPIC: Final = re.compile(
    r"^(?P<topic>[^，,？?]{2,24}?)(?=是谁|是什么|什么时候|何时|在哪|有多|多少|几|怎|为什么|的[^，,？?]{1,8}(?:是谁|是什么|是多少)|由谁|用了|花了|被|于|从)"
)


def chinese_parts(question: str) -> list[str]:
    """The questions that a Chinese question asks one after another; one where it asks one thing.

    A later part about the person or thing that the first asks for has `#1` in its place.
    """
    text = question.strip().rstrip("？?。！! ")
    pieces = [p.strip() for p in _CUT.split(text) if p.strip()]
    whole: list[str] = []
    for piece in pieces:
        if whole and not (_ASKS.search(piece) and _ASKS.search(whole[-1])):
            joint = "，"
            whole[-1] = f"{whole[-1]}{joint}{piece}"
        else:
            whole.append(piece)
    if len(whole) < 2 or len(whole) > 6:
        return [f"{text}？"]
    if _IDENTITY.search(whole[0]) and all(_OF_IT.match(p) for p in whole[1:]):
        return [f"{whole[0]}？", *(f"#1{_PRONOUN.sub('', p, count=1)}？" for p in whole[1:])]
    topic = _TOPIC.match(whole[0])
    return [f"{p if n == 0 or topic is None else _with_topic(p, topic['topic'])}？" for n, p in enumerate(whole)]


def _with_topic(piece: str, topic: str) -> str:
    """A later part with the topic of the first in the place of its pronoun, or before it."""
    if topic in piece:
        return piece
    replaced, count = _PRONOUN.subn(topic, piece, count=1)
    return replaced if count else f"{topic}{piece}"
