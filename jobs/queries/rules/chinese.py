"""Chinese questions about a sentence or a turn of a dialogue, by rule: no inversion, one word asks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quern.jobs.queries.rules.units import Unit

_LEAD = r"(?P<lead>(?:[^，。；：！？他她它]{1,12}，)?)"
_PRONOUN = re.compile(
    _LEAD + r"(?:(?P<many>他们|她们|它们)|(?P<human>他|她)(?!人)|(?P<thing>它|该[^，。的]{1,4}?(?=[于是由在位])))"
)
_PERSON = re.compile(r"[^，。]*(?:家|人|者|员|师|帝|王|生|士|长|手|将|臣|后|妃|父|母|子|女)(?:[，。；]|$)")
_DATE = re.compile(
    r"(?:\d{2,4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d{1,2}月(?:\d{1,2}[日号])?|今天|明天|昨天|去年|今年|明年|周[一二三四五六日末]|[\d一二三四五六七八九十]+点)"
)
_COUNT = re.compile(
    r"(?:\d[\d,.]*|[一二两三四五六七八九十百千万亿]+)(?P<unit>[万亿]?[个位人名所家座次种项条米吨元岁件台辆]|公里|平方公里|美元)"
)
_CAUSE = re.compile(r"因为|由于|因此|所以|导致|为了")
_IS = re.compile(r"^(?P<subject>[^，。；：！？]{1,16}?)(?:是|为)(?P<rest>[^，。]{2,})")
_CONDITION = re.compile(r"(?:如果|假如|若|只要|一旦)(?P<rest>[^，。；]{2,30}?)(?:的话)?，")
_ORDER = re.compile(r"(?:请|务必|应当|应该|必须|不要|切勿)(?P<rest>[^，。；！]{2,24})")
_NAME_END = re.compile(r"^(?P<name>[^，。；：！？\s]{2,4}?)(?:是|为|于|在|曾|与|和|生|成)")
_PLACE = re.compile(
    r"(?:位于|坐落于|发源于|发生于|来自|出生于|生于|前往|在)(?=(?P<where>[^，。]{1,12}?(?:[省市县区国州镇村街路馆院校站]|举行|召开|出生)))"
)
_MEANS = re.compile(r"(?:通过|利用|采用|借助)[^，。；]+")
_BY = re.compile(
    r"(?P<before>[^，。；]{0,20}?)(?:由|被)(?P<who>[^，。；]{2,10}?)(?P<verb>[发创建设写导制击任提命][^，。；]{1,8})"
)
_COMPARED = re.compile(r"(?P<one>[^，。；]{1,12}?)比(?P<other>[^，。；]{1,10}?)(?=[更多少大小高低长短快慢强早晚])")
_CLAUSE_END = re.compile(r"[，。；：！？,;!?]")


def questions(text: str, topic: str, before: str = "", kind: str = "") -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the plain sentence `text` of a document about `topic`, the best first."""
    sentence = resolve(text, before, topic, kind)
    clause = _CLAUSE_END.split(sentence, maxsplit=1)[0].strip()
    about = "" if not topic or topic in clause else f"关于{topic}，"
    for form, question in _forms(sentence, clause, topic):
        yield form, f"{about}{question}"
    yield "about", f"{about}文中怎样说{clause[:24]}？" if about else f"{clause[:24]}，情况怎样？"


def _forms(sentence: str, clause: str, topic: str) -> Iterator[tuple[str, str]]:
    if cause := _CAUSE.search(sentence):
        # What stands first is the effect, unless the sentence opens with its cause.
        effect = sentence[: cause.start()].strip("，, ") or sentence[len(clause) :]
        yield "why", f"为什么{_CAUSE.sub('', effect.strip('，,。！ ')) or clause}？"
    if date := _DATE.search(sentence):
        dated = _CLAUSE_END.split(sentence[date.end() :])[0]
        yield "when", f"{_bare(_clause_before(sentence, date.start()) + dated) or topic}是什么时候？"
    if defined := _IS.match(sentence):
        asked = "谁" if _PERSON.match(defined["rest"] + "。") else "什么"
        yield "definition", f"{_bare(defined['subject'])}是{asked}？"
    if place := _PLACE.search(sentence):
        yield "where", f"{_bare(_clause_before(sentence, place.start())) or topic}{place[0]}哪里？"
    if count := _COUNT.search(sentence):
        yield "how_many", f"{_bare(_clause_before(sentence, count.start()))}多少{count['unit']}？"
    if agent := _BY.search(sentence):
        yield "who_by", f"{_bare(agent['before']) or topic}由谁{agent['verb']}？"
    if compared := _COMPARED.search(sentence):
        yield "compared", f"{compared['one']}和{compared['other']}相比怎样？"
    if condition := _CONDITION.search(sentence):
        yield "condition", f"如果{condition['rest']}，会怎样？"
    if order := _ORDER.search(sentence):
        yield "instruction", f"说明应该怎样做：{order['rest']}？"
    if means := _MEANS.search(sentence):
        yield "how", f"{_bare(_clause_before(sentence, means.start())) or topic}是怎么做的？"


def _clause_before(sentence: str, end: int) -> str:
    return _CLAUSE_END.split(sentence[:end])[-1]


def _bare(clause: str) -> str:
    return clause.strip("在于，, 的：:") or clause


def kind_of(topic: str, said: Sequence[str]) -> str:
    """What `topic` is known to be from the first sentences about it: `person`, `thing` or nothing."""
    for sentence in said[:2]:
        defined = _IS.match(sentence)
        if defined and topic and topic in defined["subject"]:
            return "person" if _PERSON.match(defined["rest"] + "。") else "thing"
    return ""


def resolve(sentence: str, before: str, topic: str, kind: str) -> str:
    """`sentence` with the pronoun at its head replaced by the name the sentence before begins with, or the topic.

    Args:
        sentence: The sentence.
        before: The sentence before it; empty if there is none.
        topic: What the document is about; may be empty.
        kind: What the topic is known to be: `person`, `thing` or nothing.
    """
    pronoun = _PRONOUN.match(sentence)
    if pronoun is None or pronoun["many"]:
        return sentence
    # A name of two to four characters is like a person's.
    name = _named(before) if pronoun["human"] and (not topic or topic not in before) else ""
    refused = "thing" if pronoun["human"] else "person"
    stands = name or ("" if kind == refused else topic)
    return f"{pronoun['lead']}{stands}{sentence[pronoun.end() :]}" if stands else sentence


def turn_questions(text: str, unit: Unit, day: str = "") -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for a turn of a dialogue of the day `day`, the best first."""
    a, b = unit.speaker, unit.addressee or "大家"
    yield "tell", f"{day}{a}对{b}说了什么？"
    if unit.before.rstrip().endswith(("?", "？")):
        yield "reply", f"{b}问“{unit.before[-40:]}”，{a}怎么回答？"
    if text.rstrip().endswith(("?", "？")):
        yield "ask", f"{a}问{b}什么？"
    if condition := _CONDITION.search(text):
        yield "condition", f"{a}说，如果{condition['rest']}，会怎样？"
    if _DATE.search(text):
        yield "when", f"{a}和{b}约在什么时候？"
    if _CAUSE.search(text):
        yield "why", f"{a}为什么这样对{b}说？"
    if order := _ORDER.search(text):
        yield "instruction", f"{a}要{b}怎样做：{order['rest']}？"


def _named(sentence: str) -> str:
    found = _NAME_END.match(sentence)
    return found["name"] if found and not _PRONOUN.match(sentence) else ""
