"""Names in a sentence by their capitals and by the words beside them, with what they seem to name.

General cues of English: titles, verbs of saying, appositions of role (`Lorcan Tighe, a vet`), prepositions of place and
nouns that end the names of places. No list of names: a corpus names whom it likes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from quern.jobs.text.words import ADVERBS, CLOSED
from quern.schemas.words.calendar import MONTHS, WEEKDAYS
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import HAN
from quern.schemas.words.terms import STOP_WORDS


@dataclass(frozen=True)
class Name:
    """A name that a text gives."""

    start: int  # First character, a title before the name among them.
    end: int  # Character after the last.
    text: str  # The characters themselves.
    role: Literal["person", "place", "other"]  # What it seems to name.


_TITLE: Final = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Dame|Lord|Lady|Captain|Capt|Councillor|Mayor|President|Senator|Governor|"
    r"Chief|Inspector|Judge|King|Queen|Prince|Princess|Emperor|Pope|Saint|General|Colonel|Sergeant|Father|Sister|"
    r"Director|Secretary|Minister|Engineer)\b\.?"
)
_CAPITAL: Final = r"(?:[A-ZÀ-ÖØ-Þ][\w’'-]*(?:\.(?=[A-Z]))?|[A-Z]\.)"
_BINDS: Final = r"(?:of(?:\s+the)?|the|de|del|della|da|di|du|la|le|von|van|der|den|bin|al|y|&)"
_NAME: Final = lazy_pattern(
    rf"(?<![\w’'])(?P<first>{_CAPITAL})(?P<rest>(?:\s+(?:{_BINDS}\s+)?{_CAPITAL})*(?:\s+\d{{1,4}}\b(?![.,]\d|\s*[%\w]))?)"
)
_TITLED: Final = lazy_pattern(rf"{_TITLE}\s")
_SAYS: Final = (
    r"(?:said|says|say|wrote|writes|told|tells|asked|asks|added|explained|thinks|believes|recalls|recalled|replied|"
    r"announced|complained|warned|warns|joked|admits|admitted|argues|argued|suggests|suggested|reported|agreed)"
)
_SAID_AFTER: Final = lazy_pattern(rf"\s+(?:also\s+|then\s+)?{_SAYS}\b")
_SAID_BEFORE: Final = lazy_pattern(rf"\b{_SAYS}\s+(?:the\s+)?(?:[a-z]+\s+){{0,3}}$")
_ROLE_AFTER: Final = lazy_pattern(r"(?:,\s+(?:an?|the|who|whose|its|his|her|aged|\d{2}\b)\b|\s+who\b|\s*\(born)")
_ROLE_BEFORE: Final = lazy_pattern(
    r"\b(?:by|with|named|called|after|whom|poet|author|writer|singer|actor|actress|architect|engineer|driver|captain|"
    r"master|"
    r"director|librarian|auditor|leader|chief|manager|treasurer|president|geologist|professor|founder|owner|farmer|"
    r"(?:[a-z]+(?:ist|ian|eer|keeper|maker|worker|teacher|officer|man|woman)))\s+$"
)
_PLACE_BEFORE: Final = lazy_pattern(
    r"\b(?:in|at|near|from|to|on|off|outside|inside|around|above|below|beside|behind)\s+(?:the\s+)?$"
)
_PLACE_END: Final = lazy_pattern(
    r"(?:Street|Road|Lane|Avenue|Square|Row|Court|Steps|Quay|Mole|Wharf|Bridge|Gardens?|Park|Meadow|Green|Hill|Hall|"
    r"House|"
    r"Church|School|College|University|Library|Hospital|Infirmary|Station|Airport|Port|Harbou?r|Bay|Island|Isle|Sound|"
    r"Narrows|River|Lake|Sea|Ocean|Mountains?|Valley|Forest|County|District|Province|City|Town|Village|Terrace|Parade|"
    r"Exchange|Museum|Theat(?:re|er)|Stadium|Castle|Tower|Ledges|Head|Point|Depot|Yard|Basement|Cafe|Café|Market|Dock|"
    r"Gate)$"
)
_PLACE_FIRST: Final = lazy_pattern(r"(?:Port|Mount|Lake|Cape|Fort|Isle|Bay of|Gulf of|River|North|South|East|West)\s")
# Nouns that end or make up the names of bodies: none of them is a person, though `who` may ask for one.
_BODY: Final = lazy_pattern(
    r"\b(?:Council|Committee|Board|Bureau|Journal|Court|Department|Institute|Society|Association|Company|Co|Ltd|Inc|Corp|"
    r"Corporation|Group|Bank|Press|Party|Club|Union|Trust|Foundation|Agency|Authority|Ministry|Office|Police|Team|News|"
    r"Times|Gazette|Courier|Review|Lines?|Holdings|Industries|Systems|Services|Works|Brothers|Sons|Daughters|Partners|"
    r"Commission|Federation|Centre|Center|\w{3,}ing)$"
)
_OF_A_BODY: Final = lazy_pattern(r"\s+of\b.*$")
_BY_TITLE: Final = lazy_pattern(
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Judge|Captain|Capt|Councillor|Senator|Inspector)\b"
)
_THE: Final = lazy_pattern(r"\bthe\s+$")
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
    found = []
    for m in _NAME.finditer(text):
        start, end = _trimmed(text, m.start(), m.end())
        if _BY_TITLE.match(text, start):  # `Dr Lin Hartwell of the Department`: the body is another name.
            end = start + len(_OF_A_BODY.sub("", text[start:end]))
        if start < end and not _PLACEHOLDER.match(text, max(0, start - 1), end + 1):
            found.append(Name(start, end, text[start:end], _role(text, start, end)))
    return tuple(found)


@lru_cache(maxsize=50_000)
def chinese_names(text: str) -> tuple[Name, ...]:
    """The persons of one Chinese sentence, by their surnames and by the dots of foreign names."""
    if text.isascii():
        return ()
    found = [Name(m.start("name"), m.end("name"), m["name"], "person") for m in _CHINESE.finditer(text)]
    found += [Name(m.start(), m.end(), m[0], "person") for m in _FOREIGN.finditer(text)]
    return tuple(sorted(found, key=lambda n: n.start))


def speaker(line: str) -> str:
    """Who speaks in a line of a conversation, `Name: words`; empty where none does."""
    match = _SPEAKER.match(line)
    return match["name"] if match else ""


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without words at its edges that name nothing."""
    words = [(m.start() + start, m.end() + start) for m in re.finditer(r"\S+", text[start:end])]
    while words and (text[slice(*words[0])].lower().strip("’'") in _NO_NAME or not text[words[0][0]].isupper()):
        words.pop(0)
    while words and (text[slice(*words[-1])].lower() in _NO_NAME or text[words[-1][0]].islower()):
        words.pop()
    if not words:
        return start, start
    last = words[-1][1]
    possessive = re.search(r"['’]s?$", text[words[0][0] : last])
    return words[0][0], last - len(possessive[0]) if possessive else last


def _role(text: str, start: int, end: int) -> Literal["person", "place", "other"]:
    name = text[start:end]
    if _PLACE_END.search(name) or _PLACE_FIRST.match(name):
        return "place"
    if _BODY.search(name) or _THE.search(text, max(0, start - 5), start):
        return "other"  # Nobody is called by a name with an article: `the Lady Orrin` is a ship.
    many = len(name.split())
    if _TITLED.match(name) and many > 1:
        return "person"
    if _SAID_AFTER.match(text, end) or _SAID_BEFORE.search(text, max(0, start - 60), start):
        return "person"
    if _PLACE_BEFORE.search(text, max(0, start - 20), start):
        return "place" if many < 3 else "other"
    if many in (2, 3) and (_ROLE_AFTER.match(text, end) or _ROLE_BEFORE.search(text, max(0, start - 40), start)):
        return "person"
    return "other"
