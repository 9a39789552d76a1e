"""Whether a sentence tells that something happened, or is planned: by its finite verb, in English and Chinese.

General statements, definitions, questions, headings, instructions and conditions tell no event. No tagger: closed
classes of grammar (auxiliaries, irregular pasts, words before a participle that make it an adjective) decide.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from quern.jobs.reasoning.clauses.pasts import DOUBTFUL, IRREGULAR, NOT_PAST, PARTICIPLES
from quern.schemas.words.scripts import HAN

Telling = Literal["past", "state", "plan", "present"]
"""What is told: what happened; how things were, which is an event only with a date of its own; what is planned; or
in the present tense of headlines."""

_ADVERB: Final = r"(?:\s+(?:not|never|also|already|since|now|just|then|once|first|later|only|recently|\w+ly))*"
# Not what may or would have been.
_MODAL: Final = "".join(rf"(?<!\b{modal} )" for modal in ("may", "might", "could", "would", "should", "must", "to"))
_PERFECT: Final = re.compile(
    rf"{_MODAL}\b(?:has|have|had|['’]ve|['’]s|['’]d){_ADVERB}\s+(?:been\s+)?{PARTICIPLES}\b", re.I
)
_PERFECT_NOW: Final = re.compile(rf"\b(?:has|have){_ADVERB}\s+(?:been\s+)?{PARTICIPLES}\b", re.I)
_PERFECT_PAST: Final = re.compile(rf"\bhad{_ADVERB}\s+(?:been\s+)?{PARTICIPLES}\b", re.I)
_NOT_GONE: Final = re.compile(
    r"\b(?:said|says|told|announced|reported|replied|added|stated|wrote|explained|has|have|was|were|will)\b", re.I
)
_PASSIVE: Final = re.compile(rf"\b(?:was|were|got){_ADVERB}\s+(?:being\s+)?{PARTICIPLES}\b", re.I)
_HISTORIC: Final = re.compile(rf"\b(?:is|are)\s+being\s+{PARTICIPLES}\b", re.I)
# How long something has lasted: no event of a day.
_LASTS: Final = re.compile(
    r"\b(?:has|have|['’]ve)\b.*\b(?:since|lately)\b|\bfor\s+(?:the\s+(?:last|past)\s+)?(?:[\w-]+\s+){1,2}(?:years|months|weeks|"
    r"decades|centuries)\b.*\b(?:has|have|['’]ve)\b|\b(?:has|have|['’]ve)\b.*\bfor\s+(?:[\w-]+\s+){1,3}(?:years|months|weeks|"
    r"decades|centuries)\b",
    re.I,
)
_FOR_YEARS: Final = re.compile(r"\bfor\s+(?:[\w-]+\s+){1,2}(?:years|decades|centuries)\b", re.I)
_STATE: Final = re.compile(r"\b(?:was|were|had|did|could)\b", re.I)
_PLAN: Final = re.compile(
    r"\b(?:will|shall|going\s+to|['’]ll)\b(?!\s+of\b)"
    r"|\b(?:is|are|was|were|be)(?:\s+(?:not|now|also|still|\w+ly))?\s+(?:due|set|expected|scheduled|planned|anticipated|"
    r"to\s+(?:be|have|\w+))\b|\b(?:plans?|planned|planning|intends?|intended|aims?|aimed|hopes?|hoped|expects?|"
    r"expected|proposes?|proposed|scheduled|due|set|slated)\s+(?:to|for|on|in|by|next|until)\b"
    r"|\b(?:is|are)\s+\w+ing\b|\b(?:deadline|tomorrow)\b|\bnext\s+(?:week|month|year|spring|summer|autumn|winter)\b"
    r"|\blet['’]s\b",
    re.I,
)
_PLAN_ZH: Final = re.compile("将|会在|拟|预计|计划|定于|即将|有望|准备|明[天日年]|下[周月个]|截止|截至|到期")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# A participle after one of these is an adjective: `the damaged ship`, `by trained staff`.
_ADJECTIVAL: Final = frozenset(
    "a an the this that these those its his her their our my your of by with for in at on to from and or as than some "
    "any each every most many several no more less newly very highly badly so too super really pretty quite feel "
    "feeling get getting is are be being am".split()
)
_CONDITION: Final = re.compile(r"(?:if|unless|whether|when(?:ever)?|should|suppose|imagine)\b", re.I)
_GENERAL: Final = re.compile(
    r"\b(?:usually|typically|normally|generally|often|sometimes|always|every\s+(?:day|week|month|year|\w+day)|"
    r"each\s+(?:day|week|month|year)|would\s+(?:be|have|like)|might|may|can(?:not)?|should|must|ought)\b",
    re.I,
)
# Openings that address readers: what they asked is the reason of the text, no event.
_ADDRESSES: Final = re.compile(
    r"(?:(?:(?:many|several|some|most|a\s+few|a\s+number|lots)\s+(?:of\s+)?)?(?:(?:you|our|my|your|the)\s+)?"
    r"(?:people|readers?|listeners|visitors|users|customers|subscribers|followers|friends|others|you|we)|"
    r"(?:many|several|some)(?:\s+of\s+you)?|I)(?:\s+(?:have|has|had|often|sometimes|\w+ly|are|get|been)|['’]ve)*\s+"
    r"(?:asked|ask|wondered|wonder|inquired|enquired|written\s+(?:in\s+)?to\s+(?:ask|me|us))\b"
    r"(?:\s+(?:me|us))?\s+(?:how|why|what|when|where|whether|who|which|if|about|for)\b",
    re.I,
)
# A participle with its preposition after a comma is an aside: `44 cars, compared with 51`, `the chapel, built in 1901`.
_ASIDE: Final = re.compile(
    r",\s+(?:as\s+)?(?:compared|based|located|situated|followed|led|made|held)\s+(?:with|to|by|on|in|at|of)\b[^,;]*"
)
_HEADLINE: Final = re.compile(r"(?:[A-Z0-9][^\s]*|[a-z][^\s]*)(?:\s+[^\s]+){0,7}?\s+(?P<verb>[a-z]{2,}s)\s+\S")
_HEADLINE_TO: Final = re.compile(r"^[A-Z].*\bto\s+(?:be\s+)?[a-z]{3,}\b")
_QUESTION: Final = re.compile(r"[?？][^\w?？]*$")
_ASKED_ZH: Final = re.compile("[吗呢][。！]?$|^(?:为什么|怎么|如何|什么|谁|哪)")
_HAN: Final = re.compile(f"[{HAN}]")
# Marks of what happened: aspect, passive, verbs of news. A sentence of news without one of them is judged by its lead.
_PAST_ZH: Final = re.compile(
    "了|过(?![程去渡滤于分度敏])|已|曾|被|获|遭|[发公宣颁]布|宣告|举[行办]|召开|开[始幕馆台业工通播放园]|完[成工]|竣工|启[动用]|成立|签[署订约]|"
    "发[生现起]|出[现生版任席]|起火|抵达|当选|任命|逝世|去世|投[产入运]|建成|落成|通[过车航]|批准|达成|收购|关闭|恢复|首[次演发航]|"
    "[说称]：|表示|指出|介绍|透露|增至|降至|升至|突破|夺[得冠]|击败|辞职|捐赠|捐出|结束|扑灭|受[伤损]|死亡|倒塌|沉没|展出|亮相|上映|揭[牌幕]"
)
_NEGATED_ZH: Final = re.compile("(?:没有?|未|不[曾再]?)[^，。；：]*")
_IS_ZH: Final = re.compile(f"^[{HAN}《》“”·A-Za-z0-9]{{1,14}}(?:，[^，。]{{0,20}}，)?是(?!在|因|为了|由于)")


def telling(sentence: str) -> Telling | None:
    """What kind of event a sentence tells; None where it tells none."""
    if _QUESTION.search(sentence):
        return None
    return _chinese(sentence) if len(_HAN.findall(sentence)) * 3 > len(sentence) else _english(sentence)


def perfect(sentence: str) -> bool:
    """Whether a sentence tells in the present perfect: what is new, whatever day it names beside."""
    return _PERFECT_NOW.search(sentence) is not None


def gone(sentence: str) -> bool:
    """Whether a sentence tells, in the past perfect alone, of what lay before the time that it is told of."""
    return bool(_PERFECT_PAST.search(sentence)) and not _NOT_GONE.search(_PERFECT_PAST.sub("", sentence))


def plans(sentence: str) -> bool:
    """Whether a sentence speaks plainly of what is to come."""
    return bool(_PLAN.search(sentence) or _PLAN_ZH.search(sentence))


def telling_chinese(clause: str) -> bool:
    """Whether a Chinese clause has a mark of what happened, that nothing before it in the clause negates."""
    return _PAST_ZH.search(_NEGATED_ZH.sub("", clause)) is not None


def headline(line: str) -> bool:
    """Whether a title without a past tense tells an event in the present of headlines: `Airbus wins order`."""
    if len(_HAN.findall(line)) >= 4:
        return telling_chinese(line)
    match = _HEADLINE.match(line)
    return bool(match and match["verb"] not in _NO_VERB) or _HEADLINE_TO.match(line) is not None


# Frequent words in -s that are no verbs.
_NO_VERB: Final = frozenset(
    "is was has does its his hers ours yours theirs this thus as us always perhaps across towards besides sometimes "
    "news series species means less yes plus versus years months weeks days hours minutes people".split()
)


def _english(sentence: str) -> Telling | None:
    words = _WORD.findall(_ASIDE.sub(" ", sentence))
    if len(words) < 4 or _CONDITION.match(sentence) or _ADDRESSES.match(sentence):
        return None
    if _PASSIVE.search(sentence) or _simple_past(words):
        return "state" if _FOR_YEARS.search(sentence) else "past"
    if _PERFECT.search(sentence):
        return "state" if _LASTS.search(sentence) else "past"
    if _PLAN.search(sentence) and not _GENERAL.search(sentence):
        return "plan"
    if _HISTORIC.search(sentence):
        return "past"
    if _STATE.search(sentence):
        return "state"
    return None


def _simple_past(words: list[str]) -> bool:
    """Whether one of the words is a past tense by its form and by the word before it."""
    before, since = "", 9  # Words since a present `be`: what `is covered` is now.
    for word in (w.lower() for w in words):
        since = 0 if word in _PRESENT_BE else since + 1
        participle = since <= 2 or not before or before in _ADJECTIVAL or before.endswith(("'s", "’s"))
        if word in IRREGULAR:
            if since > 2 and (word not in DOUBTFUL or not (participle or before in _AUXILIARY)):
                return True
        elif word.endswith("ed") and len(word) > 4 and word not in NOT_PAST and "-" not in word and not participle:
            return True
        before = word
    return False


_PRESENT_BE: Final = frozenset("is are am be being".split())
_AUXILIARY: Final = frozenset("will would can could may might must shall should do does did not".split())


def _chinese(sentence: str) -> Telling | None:
    if len(_HAN.findall(sentence)) < 6 or _ASKED_ZH.search(sentence):
        return None
    past = telling_chinese(sentence)
    if _IS_ZH.match(sentence) and not re.search("了|于", sentence):
        return None
    if past:
        return "past"
    return "plan" if _PLAN_ZH.search(sentence) else "state"
