"""Chinese questions about a sentence, by rule: the same forms as in English, without inversion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from quern.jobs.queries.rules.chinese_sentences import DATE, IS, PERSON, resolve
from quern.jobs.queries.rules.chinese_standing import JOINS, SETS, joined_off, stands

_BY: Final = re.compile(
    r"(?P<before>[^，。；由被]{2,20}?)由(?P<who>[^，。；由]{2,12}?)(?P<verb>(?:共同|联合|首次)?(?:发现|发明|创建|创办|创立|建造|建立|修建|设计|"
    r"撰写|编写|主持|导演|执导|制作|任命|提出|收购|命名|出版|绘制|改编|管理|经营|担任|主演|负责|组成|引起|开发|演唱)(?![社人者商部局家团处])"
    r"[^，。；]{0,8})"
)
_QUOTED: Final = re.compile("[“”《》「」『』]")
_BECAUSE: Final = re.compile(
    r"(?:由于|因为)[^，。；]+，(?:所以|因此)?(?P<effect>(?!加上|[使令对并出倚形造导引遂被无未便而])[^，。；“”]{4,24})"
)
_AT: Final = re.compile(
    r"(?:位于|坐落于|坐落在|发源于|出生于|生于|前往)(?P<where>[^，。；的了]{2,14})(?:$|(?=[，。；]))"
    r"|在(?P<place>(?!.{0,4}(?:年|月|日|时|后|前|中|下))[^，。；的了]{2,8}?[省市县区国州镇村街路馆院校站])(?=[^内外中上的家际民]|$)"
)
_COUNT: Final = re.compile(
    r"(?<![第之每哪某这那同另唯万亿的为是至到约\d.-])(?:\d[\d,.]*[百千]?|[两二三四五六七八九十百千万亿][一二三四五六七八九十百千万亿]*|一[十百千万亿][一二三四五六七八九十百千万亿]*)"
    r"(?P<unit>[万亿]{0,2}(?:平方公里|公里|公斤|公分|公尺|厘米|毫米|美元|[个位名所家座种项条米吨元岁件台辆人次]))"
    r"(?![月队组以余多出级])"
)
_CONDITION: Final = re.compile(
    r"(?:^|[，。；：“])(?:但是?|而)?(?:如果|假如|若(?=[^望干])|只要|一旦)(?P<rest>(?![他她它这那其此该])[^，。；]{3,30}?)(?:的话)?，"
)
_OPENS_VERB: Final = re.compile(
    r"并|但|而|也|还|又|则|且|其|这|那|此|该|是|为|在|于|由|被|把|将|已|曾|从|向|对|有|至|到|比|共|约|占|达|后|因|以|用|与|和|以及|计划|预计|目前|"
    r"当时|后来|同时|其中|包括|决定|要求|成为|获得|担任|位于|完成|毕业|出生|发表|出版|建成|参加|参与|展开|开始|时|展|创|不|没|只|转"
)
_CAUSED: Final = re.compile("[^原病成起]因(?![此素而])|为了")
_UNHEADED: Final = re.compile(
    rf"(?:\d{{2,4}}年、)*\d{{2,4}}年代?(?:\d{{1,2}}月)?(?:\d{{1,2}}[日号])?(?:{_OPENS_VERB.pattern})"
)
_LEAST: Final = 4
_MOST: Final = 40  # Characters of a question.
_CLAUSES: Final = 3  # Clauses of a sentence that are asked about.
_SHORT_TOPIC: Final = 10
_CLAUSE_END: Final = re.compile(r"[，。；：！？;!?]|(?<!\d),|,(?!\d)")
_ASIDE: Final = re.compile(r"[(（][^()（）]{0,60}[)）]")
# A character without which a clause has no verb.
_STATES: Final = re.compile(r"[是有为了被由于可会能成作得达设建获称任属]")
_ADVERB_END: Final = re.compile(
    r"[也就都还又仍不则曾便即才均亦以认因作视定称分升成改变列选评命设任原主要致今译同又均]$|将[^，]*$|[以把被]"
)
# What is behind a date that is only a part of something else: `1980年代`, `2008年的台风`, `大正13年`.
_PART_OF_DATE: Final = re.compile(r"[的度届代版赛级间来前后以之－—～~至到起-]|历史")
_LONG: Final = re.compile(r"\d{2,3}年")
_ERA: Final = re.compile(r"[正和治平成兴安熙隆祐元德历道宁圣享政靖昭化历]$|[\d－—至-]$")


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
        body = joined_off(question.strip(" ，、：:;"))
        if form not in seen and _LEAST <= len(body) <= _MOST and stands(body):
            seen.add(form)
            yield form, f"{body}？"


def _forms(sentence: str, clauses: Sequence[str], topic: str) -> Iterator[tuple[str, str]]:
    whole = _headed(clauses[0], topic) if clauses else ""
    if cause := _BECAUSE.search(sentence):
        yield "why", f"为什么{cause['effect']}"
    defined = IS.match(whole)
    # Words that `是` and `为` are only a part of: `因为`, `分为`, `称为`.
    if (
        defined
        and len(defined["subject"]) > 1
        and not DATE.match(defined["subject"])
        and not re.match("原[来先本定]", defined["subject"])
        and not _ADVERB_END.search(defined["subject"])
        and not re.match(r"[\d了由因在]", defined["rest"])
    ):
        asked = "谁" if PERSON.match(defined["rest"] + "。") else "什么"
        yield "definition", f"{defined['subject']}是{asked}"
    for clause in clauses[:_CLAUSES]:
        yield from _in_place(_headed(clause, topic), topic)
    if condition := _CONDITION.search(sentence):
        yield "condition", f"如果{condition['rest']}，会怎样"
    if (
        len(whole) > 2 * _LEAST
        and not SETS.search(whole)
        and not JOINS.match(whole)
        and not _UNHEADED.match(whole)
        and not _CAUSED.search(whole)
        and _STATES.search(whole)
        and "、" not in whole[-_LEAST * 2 :]
    ):
        yield "whether", f"{whole}吗"


def _headed(clause: str, topic: str) -> str:
    """A clause with a subject: what the document is about before one that begins with its verb."""
    if not _OPENS_VERB.match(clause):
        return clause
    return (
        f"{topic}{clause}"
        if topic and len(topic) <= _SHORT_TOPIC and re.match("[是为位于由被曾获毕出建完成担]", clause)
        else ""
    )


def _in_place(clause: str, topic: str) -> Iterator[tuple[str, str]]:
    """Questions that have a word that asks in the place of a time, a number, a person or a place."""
    if not clause:
        return
    date = DATE.search(clause)
    if (
        date
        and not _LONG.fullmatch(date[0])  # How long something took is no date: `做了11年`.
        and not SETS.search(clause)
        and not _PART_OF_DATE.match(clause, date.end())
        and not _ERA.search(clause[: date.start()])
    ):
        before = clause[: date.start()]
        then = clause[date.end() :]
        if not before and _OPENS_VERB.match(then):
            before = topic if 0 < len(topic) <= _SHORT_TOPIC else "在"
        when = f"{before}什么时候{then}"
        if len(when) - len("什么时候") >= _LEAST and before not in ("于", "在", "到", "到了", "至", "自", "从"):
            yield "when", when
    if count := _COUNT.search(clause, 1):
        yield "how_many", f"{clause[: count.start()]}多少{count['unit']}{clause[count.end() :]}"
    if agent := _BY.search(clause):
        yield "who_by", f"{agent['before']}由谁{clause[agent.start('verb') :]}"
    if (place := _AT.search(clause)) and place.start() > 1 and clause[place.start() - 1] not in "因由":
        start, end = place.span("where" if place["where"] else "place")
        if not DATE.match(clause, start):
            yield "where", f"{clause[:start]}哪里{clause[end:]}"
