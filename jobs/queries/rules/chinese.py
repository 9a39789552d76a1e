"""Chinese questions about a sentence, by rule: the same forms as in English, without inversion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quern.jobs.queries.rules.chinese_sentences import CONDITION, COUNT, DATE, IS, PERSON, resolve

_BY = re.compile(
    r"(?P<before>[^，。；由被]{2,20}?)由(?P<who>[^，。；由]{2,12}?)(?P<verb>(?:共同|联合|首次)?(?:发现|发明|创建|创办|创立|建造|建立|修建|设计|"
    r"撰写|编写|主持|导演|执导|制作|任命|提出|收购|命名|出版|绘制|改编|管理|经营|担任|主演|负责|组成|引起|开发|演唱)[^，。；]{0,8})"
)
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
    defined = IS.match(whole)
    # Words that `是` and `为` are only a part of: `因为`, `分为`, `称为`.
    if defined and not _ADVERB_END.search(defined["subject"]) and not re.match(r"[\d了由因在]", defined["rest"]):
        asked = "谁" if PERSON.match(defined["rest"] + "。") else "什么"
        yield "definition", f"{defined['subject']}是{asked}"
    for clause in clauses[:_CLAUSES]:
        yield from _in_place(_headed(clause, whole, topic))
    if condition := CONDITION.search(sentence):
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
    if (date := DATE.search(clause)) and not re.search(
        "年来|年间|年前|年后|年级|年度", clause[date.start() : date.end() + 2]
    ):
        when = f"{clause[: date.start()]}什么时候{clause[date.end() :]}"
        yield "when", when if clause != date[0] else ""
    if (count := COUNT.search(clause, 1)) and clause[max(0, count.start() - 1)] not in "第之每":
        yield "how_many", f"{clause[: count.start()]}多少{count['unit']}{clause[count.end() :]}"
    if agent := _BY.search(clause):
        yield "who_by", f"{agent['before']}由谁{clause[agent.start('verb') :]}"
    if place := _AT.search(clause):
        start, end = place.span("where" if place["where"] else "place")
        if not DATE.match(clause, start):
            yield "where", f"{clause[:start]}哪里{clause[end:]}"
