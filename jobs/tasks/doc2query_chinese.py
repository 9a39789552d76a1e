"""Chinese questions about a sentence or a turn, by rule: the same forms as in English, without inversion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.tasks.doc2query_units import Unit

_PRONOUN = re.compile(r"^(?:他们|她们|它们|他|她|它|该[^，。的]{1,4}?(?=[于是由在位]))")
_DATE = re.compile(
    r"(?:\d{2,4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d{1,2}月(?:\d{1,2}[日号])?|今天|明天|昨天|去年|今年|明年|周[一二三四五六日末])"
)
_COUNT = re.compile(
    r"(?:\d[\d,.]*|[一二两三四五六七八九十百千万亿]+)(?P<unit>[万亿]?[个位人名所家座次种项条米吨元岁件台辆]|公里|平方公里|美元)"
)
_PLACE = re.compile(
    r"(?:位于|坐落于|来自|出生于|生于|前往|在)(?=[^，。]{1,12}?(?:[省市县区国州镇村街路馆院校站]|举行|召开|出生))"
)
_CAUSE = re.compile(r"因为|由于|因此|所以|导致|为了")
_MEANS = re.compile(r"通过|利用|采用|借助")
_IS = re.compile(r"^(?P<subject>[^，。；：！？]{1,16}?)(?:是|为)(?P<rest>[^，。]{2,})")
_CLAUSE_END = re.compile(r"[，。；：！？,;!?]")


def questions(text: str, topic: str) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the plain sentence `text` of a document about `topic`, the best first."""
    sentence = _PRONOUN.sub(topic, text, count=1) if topic else text
    clause = _CLAUSE_END.split(sentence, maxsplit=1)[0].strip()
    about = "" if not topic or topic in clause else f"关于{topic}，"
    if _CAUSE.search(sentence):
        effect = _CAUSE.split(sentence, maxsplit=1)[0].strip("，, ") or clause
        yield "why", f"{about}为什么{_CAUSE.sub('', effect)}？"
    if date := _DATE.search(sentence):
        yield "when", f"{about}{_bare(clause.replace(date[0], '', 1)) or topic}是什么时候？"
    if defined := _IS.match(sentence):
        yield "definition", f"{about}{_bare(defined['subject'])}是什么？"
    if place := _PLACE.search(sentence):
        before = _CLAUSE_END.split(sentence[: place.start()])[-1]
        yield "where", f"{about}{_bare(before) or topic}{place[0]}哪里？"
    if count := _COUNT.search(sentence):
        before = _CLAUSE_END.split(sentence[: count.start()])[-1]
        yield "how_many", f"{about}{_bare(before)}多少{count['unit']}？"
    if means := _MEANS.search(sentence):
        before = _CLAUSE_END.split(sentence[: means.start()])[-1]
        yield "how", f"{about}{_bare(before) or topic}是怎么做的？"
    yield "about", f"{about}文中怎样说{clause[:24]}？" if about else f"{clause[:24]}，情况怎样？"


def turn_questions(text: str, unit: Unit) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for a turn of a dialogue."""
    a, b = unit.speaker, unit.addressee or "大家"
    yield "tell", f"{a}对{b}说了什么？"
    if unit.before.rstrip().endswith(("?", "？")):
        yield "reply", f"{b}问“{unit.before[-40:]}”，{a}怎么回答？"
    if text.rstrip().endswith(("?", "？")):
        yield "ask", f"{a}问{b}什么？"
    if _DATE.search(text):
        yield "when", f"{a}和{b}约在什么时候？"
    if _CAUSE.search(text):
        yield "why", f"{a}为什么这样对{b}说？"


def _bare(clause: str) -> str:
    return clause.strip("在于，, 的：:") or clause
