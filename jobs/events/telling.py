"""Whether a sentence tells that something happened, or is planned: by its finite verb, in English and Chinese.

Questions and headings tell no event. There is no tagger: auxiliaries, irregular pasts
and the word before a participle decide.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from quern.jobs.text.words import CLOSED, PARTICIPLES, PASTS, PRONOUNS, QUESTION_WORDS, is_past
from quern.schemas.words.scripts import HAN_CHARACTER

Telling = Literal["past", "state", "plan", "present"]
"""What is told: what happened; how things were, in Chinese, an event only with a date of its own; what is planned; or
in the present tense of headlines."""

_PARTICIPLE: Final = rf"(?:\w+ed|{'|'.join(sorted(PARTICIPLES))})\b"
_DONE: Final = rf"(?:\s+(?:not|never|also|already|since|now|just|\w+ly))*\s+(?:be(?:en|ing)\s+)?{_PARTICIPLE}"
# Not what may or would have been.
_PERFECT: Final = re.compile(
    rf"(?<!may )(?<!might )(?<!could )(?<!would )(?<!should )(?<!must )(?<!to )\b(?:has|have|had|['’]ve){_DONE}", re.I
)
_PASSIVE: Final = re.compile(rf"\b(?:was|were|got){_DONE}", re.I)
_PLAN: Final = re.compile(
    r"\b(?:will|shall|going\s+to|['’]ll)\b|\b(?:is|are|was|were|be)\s+(?:\w+ly\s+)?(?:due|set|expected|to\s+\w+)\b"
    r"|\b(?:plan|intend|aim|hope|expect|propose|schedul)(?:s|ed|d|ned|ing|ning)?\s+(?:to|for|on|in|by|next)\b"
    r"|\b(?:is|are)\s+\w+ing\b|\b(?:deadline|tomorrow|let['’]s)\b"
    r"|\bnext\s+(?:week|month|year|spring|summer|autumn|winter)\b",
    re.I,
)
_PLAN_ZH: Final = re.compile("将|会在|拟|预计|计划|定于|即将|有望|准备|明[天日年]|下[周月个]|截止|截至|到期")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# A participle after one of these is an adjective: `the damaged ship`, `by trained staff`.
_ADJECTIVAL: Final = (CLOSED - PRONOUNS - QUESTION_WORDS) | {"more", "most", "less", "very", "so", "too", "be", "been"}
# The same form is a noun or a present as often.
_DOUBTFUL: Final = frozenset("bet bound ground hit hurt left lit put quit saw set shot shut split spread".split())
_PRESENT_BE: Final = frozenset("is are am be being".split())
_HEADLINE: Final = re.compile(r"[A-Z0-9]\S*(?:\s+\S+){0,7}?\s+(?P<verb>[a-z]{2,}s)\s+\S|[A-Z].*\bto\s+[a-z]{3,}\b")
# Frequent words in -s that are no verbs.
_NO_VERB: Final = frozenset(
    "is was has does its his this thus as us always news series years months weeks days hours minutes".split()
)
_QUESTION: Final = re.compile(r"[?？][^\w?？]*$")
# Marks of what happened: aspect, passive, verbs of news. A sentence of news without one of them is judged by its lead.
_PAST_ZH: Final = re.compile(
    "了|过(?![程去渡滤于分度敏])|已|曾|被|获|遭|[发公宣颁]布|宣告|举[行办]|召开|开[始幕馆台业工通播放园]|完[成工]|竣工|启[动用]|成立|签[署订约]|"
    "发[生现起]|出[现生版任席]|起火|抵达|当选|任命|逝世|去世|投[产入运]|建成|落成|通[过车航]|批准|达成|收购|关闭|恢复|首[次演发航]|"
    "[说称]：|表示|指出|介绍|透露|增至|降至|升至|突破|夺[得冠]|击败|辞职|捐赠|捐出|结束|扑灭|受[伤损]|死亡|倒塌|沉没|展出|亮相|上映|揭[牌幕]"
)


def telling(sentence: str) -> Telling | None:
    """What kind of event a sentence tells; None where it tells none."""
    if _QUESTION.search(sentence):
        return None
    return _chinese(sentence) if len(HAN_CHARACTER.findall(sentence)) * 3 > len(sentence) else _english(sentence)


def plans(sentence: str) -> bool:
    """Whether a sentence speaks plainly of what is to come."""
    return bool(_PLAN.search(sentence) or _PLAN_ZH.search(sentence))


def telling_chinese(clause: str) -> bool:
    """Whether a Chinese clause has a mark of what happened."""
    return _PAST_ZH.search(clause) is not None


def headline(line: str) -> bool:
    """Whether a title without a past tense tells an event in the present of headlines: `Airbus wins order`."""
    if len(HAN_CHARACTER.findall(line)) >= 4:
        return telling_chinese(line)
    found = _HEADLINE.match(line)
    return found is not None and found["verb"] not in _NO_VERB


def _english(sentence: str) -> Telling | None:
    words = _WORD.findall(sentence)
    if len(words) < 4:
        return None
    if _PASSIVE.search(sentence) or _PERFECT.search(sentence) or _simple_past(words):
        return "past"
    return "plan" if _PLAN.search(sentence) else None


def _simple_past(words: list[str]) -> bool:
    """Whether one of the words is a past tense by its form and by the word before it."""
    before, since = "", 9  # Words since a present `be`: what `is covered` is now.
    for word in (w.lower() for w in words):
        since = 0 if word in _PRESENT_BE else since + 1
        adjective = since <= 2 or not before or before in _ADJECTIVAL or before.endswith(("'s", "’s"))
        if word in PASTS and since > 2 and not (word in _DOUBTFUL and adjective):
            return True
        if word.endswith("ed") and is_past(word) and "-" not in word and not adjective:
            return True
        before = word
    return False


def _chinese(sentence: str) -> Telling | None:
    if len(HAN_CHARACTER.findall(sentence)) < 6:
        return None
    if telling_chinese(sentence):
        return "past"
    return "plan" if _PLAN_ZH.search(sentence) else "state"
