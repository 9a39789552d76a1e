"""Titles of events: the main clause of the sentence that tells one, in few words."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.events.telling import telling_chinese
from quern.jobs.queries.rules.units import WORD, word_count

# What opens a sentence and names nothing of the event: connectives, list marks, the speaker of a turn.
_OPENING: Final = re.compile(
    r"(?:[-*•·–—]\s+|\d{1,3}[.)]\s+|[\"'“‘«]|``|"
    r"(?:However|Moreover|Meanwhile|Also|And|But|So|Then|In addition|Furthermore|Nevertheless|Additionally|"
    r"As a result|For example)\b[,]?\s*|(?:此外|同时|另外|然而|但是|不过|据悉|据介绍)[，,]?\s*)+",
    re.I,
)
# Where a clause ends that is not the main one.
_CLAUSE: Final = re.compile(
    r"\s+[-–—]\s+|;\s|[,]\s+(?:which|who|whose|where|while|after|before|because|as|although|though|but|and|so|with|"
    r"saying|adding|according|including|making|leaving|leading|sparking|following)\b|\s+\(|[；：]|，"
)
_INNER: Final = re.compile(r",?\s+(?:which|who|whose|because|when|where|while|after|before|so|and|but)\b")
_ASIDE: Final = re.compile(r"\s*[(（][^()（）]*[)）]")
_COMMA_ZH: Final = re.compile("[，；：]")
_REPORTS_ZH: Final = re.compile("(?:宣布|表示|说|介绍|指出|透露|认为|称)$")
_SHORTEST: Final = 5
_TRAILING: Final = re.compile(
    r"[\s,;:，、；：—–-]+$|\s+(?:and|or|but|of|the|a|an|to|in|on|at|by|for|with|from|that|which|as)$", re.I
)


def shortened(sentence: str, most: int) -> str:
    """The sentence without what opens it, cut at the end of a clause, or at `most` words where that is too long."""
    text = " ".join(sentence.split())
    opening = _OPENING.match(text)
    text = text[opening.end() :] if opening and opening.end() < len(text) else text
    text = text.rstrip(" .。!！…\"'”’»")
    if word_count(text) > most:
        text = _ASIDE.sub("", text) or text
    if word_count(text) > most:
        text = _chinese(text, most) if _COMMA_ZH.search(text) else _english(text, most)
    while (shorter := _TRAILING.sub("", text)) != text:
        text = shorter
    return text[:1].upper() + text[1:]


def _english(text: str, most: int) -> str:
    """As many clauses from the first on as fit."""
    cuts = [m.start() for m in _CLAUSE.finditer(text)]
    fitting = [cut for cut in cuts if _SHORTEST <= word_count(text[:cut]) <= most]
    if fitting:
        return text[: fitting[-1]]
    short = _cut(text, most)
    ends = [m.start() for m in _INNER.finditer(short) if word_count(short[: m.start()]) > _SHORTEST]
    # Before `that` or `to` a verb lacks what it is of: such a sentence is cut where words are used up, and says so.
    return short[: ends[-1]] if ends else _TRAILING.sub("", short) + "…"


def _chinese(text: str, most: int) -> str:
    """The clause that tells what happened, with those after it as far as they fit."""
    clauses = [clause for clause in _COMMA_ZH.split(text) if clause]
    telling = [n for n, clause in enumerate(clauses) if telling_chinese(clause)]
    said = [n for n in telling if not _REPORTS_ZH.search(clauses[n])]
    first = next(iter(said or telling), 0)
    kept = clauses[first]
    for clause in clauses[first + 1 :]:
        if word_count(kept + clause) > most:
            break
        kept += "，" + clause
    return _cut(kept, most)


def _cut(text: str, most: int) -> str:
    """The first `most` words."""
    for number, word in enumerate(WORD.finditer(text), 1):
        if number == most:
            return text[: word.end()]
    return text
