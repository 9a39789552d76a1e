"""Names in a sentence, and the forms of a name: the one by which names are compared, and the one that is shown.

English names are found by their capitals, Chinese ones by surnames and the marks and words beside them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quern.jobs.text.words import ADVERBS, CLOSED
from quern.schemas.words.calendar import MONTHS, WEEKDAYS
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import HAN
from quern.schemas.words.terms import STOP_WORDS, search_terms


@dataclass(frozen=True)
class Name:
    """A name that a text gives."""

    start: int  # First character, a title before the name among them.
    end: int  # Character after the last.
    text: str  # The characters themselves.


_CAPITAL: Final = r"(?:[A-ZÀ-ÖØ-Þ][\w’'-]*(?:\.(?=[A-Z]))?|[A-Z]\.)"
_BINDS: Final = r"(?:of(?:\s+the)?|the|de|del|della|da|di|du|la|le|von|van|der|den|bin|al|y|&)"
_NAME: Final = lazy_pattern(
    rf"(?<![\w’'])(?P<first>{_CAPITAL})(?P<rest>(?:\s+(?:{_BINDS}\s+)?{_CAPITAL})*(?:\s+\d{{1,4}}\b(?![.,]\d|\s*[%\w]))?)"
)
# Words that begin sentences and name nothing by themselves.
_NO_NAME: Final = (
    CLOSED
    | ADVERBS
    | STOP_WORDS
    | frozenset(word.lower() for word in (*MONTHS, *WEEKDAYS))
    | frozenset(
        "here however moreover therefore thus today yes two three four five six seven eight nine ten only other others "
        "such nobody somebody anybody everyone everybody nothing something half more less much few many most several "
        "second third next ok okay hi hey hello thanks thank please sure great good well let maybe perhaps even "
        "sometimes i'm i'll i've it's that's don't let's what's she's he's we're they're you're time one".split()
    )
)
_PLACEHOLDER: Final = lazy_pattern(r"\[[A-Z]+\]")
_SPEAKER: Final = lazy_pattern(r"\s*(?P<name>[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*){0,3}):\s")
# The hundred commonest surnames of China by the census of 2010, and common ones of two characters.
_SURNAMES: Final = "欧阳|司马|诸葛|上官|皇甫|" + "|".join(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石"
    "姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文鲁谷"
)
# What stands before and after a Chinese name: a role, a verb of saying, a mark.
_CHINESE: Final = lazy_pattern(
    rf"(?:(?<=[，。、；：“”（）是由与和为叫长师员匠夫工家授人者任手生士导记医])|^)(?P<name>(?:{_SURNAMES})[{HAN}]{{1,2}}?)"
    rf"(?=[，。、；：“”（）说称表在与和的等为是从教告介认指建创设写画发主担任安装]|$|老师|教授|先生|女士|一个人)"
)
_FOREIGN: Final = lazy_pattern(f"[{HAN}]{{1,6}}(?:[·・•][{HAN}]{{1,6}})+")


@lru_cache(maxsize=50_000)
def names(text: str) -> tuple[Name, ...]:
    """The names of one sentence, in order and disjoint."""
    mentions = []
    for m in _NAME.finditer(text):
        words = [(w.start() + m.start(), w.end() + m.start()) for w in re.finditer(r"\S+", m[0])]
        # Words at the edges that name nothing are left out.
        while words and (text[slice(*words[0])].lower().strip("’'") in _NO_NAME or not text[words[0][0]].isupper()):
            words.pop(0)
        while words and (text[slice(*words[-1])].lower() in _NO_NAME or text[words[-1][0]].islower()):
            words.pop()
        if not words:
            continue
        start, end = words[0][0], words[-1][1]
        if possessive := re.search(r"['’]s?$", text[start:end]):
            end -= len(possessive[0])
        if start < end and not _PLACEHOLDER.match(text, max(0, start - 1), end + 1):
            mentions.append(Name(start, end, text[start:end]))
    return tuple(mentions)


@lru_cache(maxsize=50_000)
def chinese_names(text: str) -> tuple[Name, ...]:
    """The persons of one Chinese sentence, by their surnames and by the dots of foreign names."""
    if text.isascii():
        return ()
    mentions = [Name(m.start("name"), m.end("name"), m["name"]) for m in _CHINESE.finditer(text)]
    mentions += [Name(m.start(), m.end(), m[0]) for m in _FOREIGN.finditer(text)]
    return tuple(sorted(mentions, key=lambda n: n.start))


def speaker(line: str) -> str:
    """Who speaks in a line of a conversation, `Name: words`; empty where none does."""
    match = _SPEAKER.match(line)
    return match["name"] if match else ""


# ---- forms of a name

_HONORIFIC: Final = re.compile(
    r"^(?:(?:the|mr|mrs|ms|miss|dr|prof|professor|sir|dame|lord|captain|capt)\b\.?\s+)+(?=\S)", re.I
)
_COMPANY: Final = re.compile(r"[\s,]+(?:inc|ltd|llc|plc|corp|corporation|co|gmbh|company|s\.a|n\.v)\.?$", re.I)
# What tells a name from others of its form: `Mercury (planet)`.
ASIDE: Final = re.compile(r"\s*[(（](?P<aside>[^()（）]{1,60})[)）]\s*$")
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")


@lru_cache(maxsize=100_000)
def name_key(name: str) -> str:
    """The form of a name by which it is compared: without title of address, article and legal form, in lower case."""
    plain = _EDGES.sub("", name)
    shorter = _COMPANY.sub("", _HONORIFIC.sub("", plain))
    return search_terms(shorter or plain) or plain.casefold()


def display_name(forms: Counter[str]) -> str:
    """The commonest form of a name; of as common ones the longest, then the first by alphabet."""
    return min(forms, key=lambda form: (-forms[form], -len(form), form))
