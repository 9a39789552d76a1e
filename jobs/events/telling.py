"""Whether a sentence tells that something happened, or is planned; titles of events, and what documents' titles say.

The finite verb decides, in English and Chinese; questions and headings tell no event. There is no tagger: auxiliaries,
irregular pasts and the word before a participle decide.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from quern.jobs.queries.rules.units import WORD, word_count
from quern.jobs.text.words import CLOSED, PARTICIPLES, PASTS, PRONOUNS, QUESTION_WORDS, is_past
from quern.schemas.words.scripts import HAN_CHARACTER
from quern.schemas.words.terms import search_terms

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
    han = len(HAN_CHARACTER.findall(sentence))
    if han * 3 > len(sentence):
        if han < 6:
            return None
        return "past" if telling_chinese(sentence) else "plan" if _PLAN_ZH.search(sentence) else "state"
    words = _WORD.findall(sentence)
    if len(words) < 4:
        return None
    if _PASSIVE.search(sentence) or _PERFECT.search(sentence) or _simple_past(words):
        return "past"
    return "plan" if _PLAN.search(sentence) else None


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
    match = _HEADLINE.match(line)
    return match is not None and match["verb"] not in _NO_VERB


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


# What opens a sentence and names nothing of the event: connectives, list marks, quotation marks.
_OPENING: Final = re.compile(
    r"(?:[-*•·–—]\s+|\d{1,3}[.)]\s+|[\"'“‘«]|``|(?:However|Moreover|Meanwhile|Also|And|But|So|Then|In addition)\b,?\s*"
    r"|(?:此外|同时|另外|然而|但是|据悉)[，,]?\s*)+",
    re.I,
)
# Where a clause ends that is not the main one.
_CLAUSE: Final = re.compile(
    r"\s+[-–—]\s+|;\s|,\s+(?:which|who|whose|where|while|after|before|because|as|although|though|but|and|so|with|\w+ing)\b"
    r"|\s+\(|[；：]|，"
)
_ASIDE: Final = re.compile(r"\s*[(（][^()（）]*[)）]")
_COMMA_ZH: Final = re.compile("[，；：]")
_REPORTS_ZH: Final = tuple("宣布 表示 说 介绍 指出 透露 认为 称".split())
_TRAILING: Final = re.compile(
    r"[\s,;:，、；：—–-]+$|\s+(?:and|or|but|of|the|a|an|to|in|on|at|by|for|with|from|that|which|as)$", re.I
)
_PRONOUN: Final = re.compile(
    r"[\"“'‘«`*•-]*\s*(?:(?:It|He|She|They)\b|(?:One|This|That|These|Those|Both|Each|Neither|Some|Others)\s+"
    r"(?:is|are|was|were|has|have|had|will|would|did|does|of\s+(?:them|these|those)|\w+ed)\b)"
)


def shortened(sentence: str, most: int) -> str:
    """The sentence without what opens it, cut at the end of a clause, or at `most` words where that is too long."""
    text = " ".join(sentence.split())
    opening = _OPENING.match(text)
    text = text[opening.end() :] if opening and opening.end() < len(text) else text
    text = text.rstrip(" .。!！…\"'”’»")
    if word_count(text) > most:
        text = _ASIDE.sub("", text) or text
    if word_count(text) > most and _COMMA_ZH.search(text):
        # The clause that tells what happened, with those after it as far as they fit.
        clauses = [clause for clause in _COMMA_ZH.split(text) if clause]
        tells = [n for n, clause in enumerate(clauses) if telling_chinese(clause)]
        events = [n for n in tells if not clauses[n].endswith(_REPORTS_ZH)]
        first = next(iter(events or tells), 0)
        text = clauses[first]
        for clause in clauses[first + 1 :]:
            if word_count(text + clause) > most:
                break
            text += "，" + clause
        text = _cut(text, most)
    elif word_count(text) > most:
        # As many clauses from the first on as fit; one that is cut where words are used up says so.
        fitting = [m.start() for m in _CLAUSE.finditer(text) if 5 <= word_count(text[: m.start()]) <= most]
        text = text[: fitting[-1]] if fitting else _TRAILING.sub("", _cut(text, most)) + "…"
    while (shorter := _TRAILING.sub("", text)) != text:
        text = shorter
    return text[:1].upper() + text[1:]


def _cut(text: str, most: int) -> str:
    """The first `most` words."""
    ends = [word.end() for word in WORD.finditer(text)]
    return text[: ends[most - 1]] if len(ends) > most else text


def is_title(text: str, title: str) -> bool:
    """Whether a sentence is the title of its document again."""
    return bool(title) and " ".join(text.split()).rstrip(".") == " ".join(title.split()).rstrip(".")


def is_name(title: str) -> bool:
    """Whether a document's title is a name: few words that tell nothing."""
    return 0 < word_count(title) <= 4 and not headline(title) and telling(title + ".") is None


def is_unnamed(text: str, title: str) -> bool:
    """Whether a sentence begins with a pronoun for what stands before it: alone, it does not say who or what.

    A document that has a name for its title, as in an encyclopaedia, is about what bears it, and so are its pronouns.
    """
    return _PRONOUN.match(text) is not None and not is_name(title)


def stands_for(title: str, sentence: str, most: int) -> bool:
    """Whether the document's title can stand for its first sentence: short, and two of its words there."""
    if not title or word_count(title) > most:
        return False
    shared = set(search_terms(title).split()) & set(search_terms(sentence).split())
    return sum(len(word) > 2 or not word.isascii() for word in shared) >= 2
