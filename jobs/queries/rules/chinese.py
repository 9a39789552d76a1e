"""Chinese questions about a sentence or a turn of a dialogue, by rule: no inversion, one word asks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quern.jobs.queries.rules.units import Unit

_PERSON = re.compile(r"[^，。]*(?:家|人|者|员|师|帝|王|生|士|长|手|将|臣|后|妃|父|母|子|女)(?:[，。；]|$)")
_DATE = re.compile(
    r"(?:\d{2,4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d{1,2}月(?:\d{1,2}[日号])?|今天|明天|昨天|去年|今年|明年|周[一二三四五六日末]|[\d一二三四五六七八九十]+点)"
)
_CAUSE = re.compile(r"因为|由于|因此|所以|导致|为了")
_IS = re.compile(r"^(?P<subject>[^，。；：！？]{1,16}?)(?:是|为)(?P<rest>[^，。]{2,})")
_PLACE = re.compile(
    r"(?:位于|坐落于|发源于|发生于|来自|出生于|生于|前往|在)(?=(?P<where>[^，。]{1,12}?(?:[省市县区国州镇村街路馆院校站]|举行|召开|出生)))"
)
_CLAUSE_END = re.compile(r"[，。；：！？,;!?]")


def questions(text: str, topic: str) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the plain sentence `text` of a document about `topic`, the best first."""
    clause = _CLAUSE_END.split(text, maxsplit=1)[0].strip()
    about = "" if not topic or topic in clause else f"关于{topic}，"
    if cause := _CAUSE.search(text):
        # What stands first is the effect, unless the sentence opens with its cause.
        effect = text[: cause.start()].strip("，, ") or text[len(clause) :]
        yield "why", f"{about}为什么{_CAUSE.sub('', effect.strip('，,。！ ')) or clause}？"
    if date := _DATE.search(text):
        tail = _CLAUSE_END.split(text[date.end() :])[0]
        yield "when", f"{about}{_bare(_clause_before(text, date.start()) + tail) or topic}是什么时候？"
    if match := _IS.match(text):
        pronoun = "谁" if _PERSON.match(match["rest"] + "。") else "什么"
        yield "definition", f"{about}{_bare(match['subject'])}是{pronoun}？"
    if place := _PLACE.search(text):
        yield "where", f"{about}{_bare(_clause_before(text, place.start())) or topic}{place[0]}哪里？"
    yield "about", f"{about}文中怎样说{clause[:24]}？" if about else f"{clause[:24]}，情况怎样？"


def _clause_before(sentence: str, end: int) -> str:
    return _CLAUSE_END.split(sentence[:end])[-1]


def _bare(clause: str) -> str:
    return clause.strip("在于，, 的：:") or clause


def turn_questions(text: str, unit: Unit, day: str = "") -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for a turn of a dialogue of the day `day`, the best first."""
    a, b = unit.speaker, unit.addressee or "大家"
    yield "tell", f"{day}{a}对{b}说了什么？"
    if unit.before.rstrip().endswith(("?", "？")):
        yield "reply", f"{b}问“{unit.before[-40:]}”，{a}怎么回答？"
    if text.rstrip().endswith(("?", "？")):
        yield "ask", f"{a}问{b}什么？"
    if _DATE.search(text):
        yield "when", f"{a}和{b}约在什么时候？"
    if _CAUSE.search(text):
        yield "why", f"{a}为什么这样对{b}说？"
