"""Chinese questions about a sentence, by rule: the same forms as in English, without inversion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quern.jobs.queries.rules.chinese_sentences import CAUSE, CONDITION, COUNT, DATE, IS, ORDER, PERSON, resolve

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
    if cause := CAUSE.search(sentence):
        # What stands first is the effect, unless the sentence opens with its cause.
        effect = sentence[: cause.start()].strip("，, ") or sentence[len(clause) :]
        yield "why", f"为什么{CAUSE.sub('', effect.strip('，,。！ ')) or clause}？"
    if date := DATE.search(sentence):
        dated = _CLAUSE_END.split(sentence[date.end() :])[0]
        yield "when", f"{_bare(_clause_before(sentence, date.start()) + dated) or topic}是什么时候？"
    if defined := IS.match(sentence):
        asked = "谁" if PERSON.match(defined["rest"] + "。") else "什么"
        yield "definition", f"{_bare(defined['subject'])}是{asked}？"
    if place := _PLACE.search(sentence):
        yield "where", f"{_bare(_clause_before(sentence, place.start())) or topic}{place[0]}哪里？"
    if count := COUNT.search(sentence):
        yield "how_many", f"{_bare(_clause_before(sentence, count.start()))}多少{count['unit']}？"
    if agent := _BY.search(sentence):
        yield "who_by", f"{_bare(agent['before']) or topic}由谁{agent['verb']}？"
    if compared := _COMPARED.search(sentence):
        yield "compared", f"{compared['one']}和{compared['other']}相比怎样？"
    if condition := CONDITION.search(sentence):
        yield "condition", f"如果{condition['rest']}，会怎样？"
    if order := ORDER.search(sentence):
        yield "instruction", f"说明应该怎样做：{order['rest']}？"
    if means := _MEANS.search(sentence):
        yield "how", f"{_bare(_clause_before(sentence, means.start())) or topic}是怎么做的？"


def _clause_before(sentence: str, end: int) -> str:
    return _CLAUSE_END.split(sentence[:end])[-1]


def _bare(clause: str) -> str:
    return clause.strip("在于，, 的：:") or clause
