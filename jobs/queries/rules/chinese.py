"""Chinese questions about a sentence or a turn, by rule: the same forms as in English, without inversion."""

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
_BY = re.compile(
    r"(?P<before>[^，。；由被]{2,20}?)由(?P<who>[^，。；由]{2,12}?)(?P<verb>(?:共同|联合|首次)?(?:发现|发明|创建|创办|创立|建造|建立|修建|设计|"
    r"撰写|编写|主持|导演|执导|制作|任命|提出|收购|命名|出版|绘制|改编|管理|经营|担任|主演|负责|组成|引起|开发|演唱)[^，。；]{0,8})"
)
_CONDITION = re.compile(r"(?:如果|假如|若|只要|一旦)(?P<rest>[^，。；]{2,30}?)(?:的话)?，")
_ORDER = re.compile(r"(?:请|务必|应当|应该|必须|不要|切勿)(?P<rest>[^，。；！]{2,24})")
_QUOTED = re.compile("[“”《》「」]")
_BECAUSE = re.compile(r"(?:由于|因为)[^，。；]+，(?:所以|因此)?(?P<effect>[^，。；“”]{4,24})")
_AT = re.compile(
    r"(?:位于|坐落于|坐落在|发源于|出生于|生于|前往)(?P<where>[^，。；的了]{2,14})(?:$|(?=[，。；]))"
    r"|在(?P<place>(?!.{0,4}(?:年|月|日|时|后|前|中|下))[^，。；的了]{2,8}?[省市县区国州镇村街路馆院校站])(?=[^的]|$)"
)
_OPENS_VERB = re.compile(
    r"并|但|而|也|还|又|则|且|其|这|那|此|该|是|为|在|于|由|被|把|将|已|曾|从|向|对|有|至|到|比|共|约|占|达|后|因|以|用|与|和|以及|计划|预计|目前|"
    r"当时|后来|同时|其中|包括|决定|要求|成为|获得|担任|位于|不|没"
)
_UNSAID = re.compile(
    r"^(?:并|但|而|也|还|又|则|且|这|那|此|该|其|它|他|她|我|你|如[^果何])|我们|他们|她们|它们|这里|那里|[，。；]$"
)
_LEAST = 4
_MOST = 40  # Characters of a question.
_CLAUSES = 3  # Clauses of a sentence that are asked about.
_SHORT_TOPIC = 10
_CLAUSE_END = re.compile(r"[，。；：！？;!?]|(?<!\d),|,(?!\d)")
_ASIDE = re.compile(r"[(（][^()（）]{0,60}[)）]")
# What ends a clause that only says when or where; and a character without which one has no verb.
_SETTING = re.compile(r"(?:[之以]?[后前]|时|时候|期间|中|上|下|里|内|间|等)$|^(?:在|当|自|从|随|根据|由于|除|经)")
_STATES = re.compile(r"[是有为了被由于可会能成作得达设建获称任属]")
_ADVERB_END = re.compile(r"[也就都还又仍不则曾便即才均亦以认因作视定称分升成改变列选评命设任]$|将[^，]*$")
_NAME_END = re.compile(r"^(?P<name>[^，。；：！？\s]{2,4}?)(?:是|为|于|在|曾|与|和|生|成)")


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


def questions(text: str, topic: str, before: str = "", kind: str = "") -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the plain sentence `text` of a document about `topic`, the best first.

    A Chinese question has the word that asks where the answer stands: of `此桥建于1894年` it is `此桥建于什么时候`.
    """
    sentence = resolve(text, before, topic, kind)
    clauses = [
        clause.strip() for clause in _CLAUSE_END.split(_ASIDE.sub("", _QUOTED.sub("", sentence))) if clause.strip()
    ]
    seen: set[str] = set()
    for form, question in _forms(sentence, clauses, topic):
        body = question.strip(" ，、：:;")
        if form not in seen and _LEAST <= len(body) <= _MOST and not _UNSAID.search(body):
            seen.add(form)
            yield form, f"{body}？"


def _forms(sentence: str, clauses: Sequence[str], topic: str) -> Iterator[tuple[str, str]]:
    whole = clauses[0] if clauses else ""
    if cause := _BECAUSE.search(sentence):
        yield "why", f"为什么{cause['effect']}"
    defined = _IS.match(whole)
    # Words that `是` and `为` are only a part of: `因为`, `分为`, `称为`.
    if defined and not _ADVERB_END.search(defined["subject"]) and not re.match(r"[\d了由因在]", defined["rest"]):
        asked = "谁" if _PERSON.match(defined["rest"] + "。") else "什么"
        yield "definition", f"{defined['subject']}是{asked}"
    for clause in clauses[:_CLAUSES]:
        yield from _in_place(_headed(clause, whole, topic))
    if condition := _CONDITION.search(sentence):
        yield "condition", f"如果{condition['rest']}，会怎样"
    for clause in clauses[:1]:
        if (
            len(clause) > 2 * _LEAST
            and not _OPENS_VERB.match(clause)
            and not _SETTING.search(clause)
            and _STATES.search(clause)
        ):
            yield "whether", f"{clause}吗"


def _headed(clause: str, whole: str, topic: str) -> str:
    """A clause with a subject: what the document is about before one that begins with its verb."""
    if clause != whole and _OPENS_VERB.match(clause) and topic and len(topic) <= _SHORT_TOPIC:
        return f"{topic}{clause}"
    return "" if clause != whole and _OPENS_VERB.match(clause) else clause


def _in_place(clause: str) -> Iterator[tuple[str, str]]:
    """Questions that have a word that asks in the place of a time, a number, a person or a place."""
    if not clause:
        return
    if (date := _DATE.search(clause)) and not re.search(
        "年来|年间|年前|年后|年级|年度", clause[date.start() : date.end() + 2]
    ):
        when = f"{clause[: date.start()]}什么时候{clause[date.end() :]}"
        yield "when", when if clause != date[0] else ""
    if (count := _COUNT.search(clause, 1)) and clause[max(0, count.start() - 1)] not in "第之每":
        yield "how_many", f"{clause[: count.start()]}多少{count['unit']}{clause[count.end() :]}"
    if agent := _BY.search(clause):
        yield "who_by", f"{agent['before']}由谁{clause[agent.start('verb') :]}"
    if place := _AT.search(clause):
        start, end = place.span("where" if place["where"] else "place")
        if not _DATE.match(clause, start):
            yield "where", f"{clause[:start]}哪里{clause[end:]}"


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
