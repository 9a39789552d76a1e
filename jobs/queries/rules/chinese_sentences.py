"""What questions and facets of Chinese share: parts of a sentence, pronouns resolved, and what is asked of a turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quern.jobs.queries.rules.units import Unit

_LEAD = r"(?P<lead>(?:[^，。；：！？他她它]{1,12}，)?)"
_PRONOUN = re.compile(
    _LEAD + r"(?:(?P<many>他们|她们|它们)|(?P<human>他|她)(?!人)|(?P<thing>它|该[^，。的]{1,4}?(?=[于是由在位])))"
)
PERSON = re.compile(r"[^，。]*(?:家|人|者|员|师|帝|王|生|士|长|手|将|臣|后|妃|父|母|子|女)(?:[，。；]|$)")
DATE = re.compile(
    r"(?:\d{2,4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d{1,2}月(?:\d{1,2}[日号])?|今天|明天|昨天|去年|今年|明年|周[一二三四五六日末]|[\d一二三四五六七八九十]+点)"
)
COUNT = re.compile(
    r"(?:\d[\d,.]*|[一二两三四五六七八九十百千万亿]+)(?P<unit>[万亿]?[个位人名所家座次种项条米吨元岁件台辆]|公里|平方公里|美元)"
)
CAUSE = re.compile(r"因为|由于|因此|所以|导致|为了")
IS = re.compile(r"^(?P<subject>[^，。；：！？]{1,16}?)(?:是|为)(?P<rest>[^，。]{2,})")
CONDITION = re.compile(r"(?:如果|假如|若|只要|一旦)(?P<rest>[^，。；]{2,30}?)(?:的话)?，")
ORDER = re.compile(r"(?:请|务必|应当|应该|必须|不要|切勿)(?P<rest>[^，。；！]{2,24})")
_NAME_END = re.compile(r"^(?P<name>[^，。；：！？\s]{2,4}?)(?:是|为|于|在|曾|与|和|生|成)")


def kind_of(topic: str, said: Sequence[str]) -> str:
    """What `topic` is known to be from the first sentences about it: `person`, `thing` or nothing."""
    for sentence in said[:2]:
        defined = IS.match(sentence)
        if defined and topic and topic in defined["subject"]:
            return "person" if PERSON.match(defined["rest"] + "。") else "thing"
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
    if condition := CONDITION.search(text):
        yield "condition", f"{a}说，如果{condition['rest']}，会怎样？"
    if DATE.search(text):
        yield "when", f"{a}和{b}约在什么时候？"
    if CAUSE.search(text):
        yield "why", f"{a}为什么这样对{b}说？"
    if order := ORDER.search(text):
        yield "instruction", f"{a}要{b}怎样做：{order['rest']}？"


def _named(sentence: str) -> str:
    found = _NAME_END.match(sentence)
    return found["name"] if found and not _PRONOUN.match(sentence) else ""
