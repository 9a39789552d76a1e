"""Titles: of events, the main clause of the sentence that tells one; of documents, what they say of their sentences."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.events.telling import headline, telling, telling_chinese
from quern.jobs.queries.rules.units import WORD, word_count
from quern.schemas.words.terms import search_terms

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
    if word_count(text) > most:
        text = _chinese(text, most) if _COMMA_ZH.search(text) else _english(text, most)
    while (shorter := _TRAILING.sub("", text)) != text:
        text = shorter
    return text[:1].upper() + text[1:]


def _english(text: str, most: int) -> str:
    """As many clauses from the first on as fit; one that is cut where words are used up says so."""
    fitting = [m.start() for m in _CLAUSE.finditer(text) if 5 <= word_count(text[: m.start()]) <= most]
    return text[: fitting[-1]] if fitting else _TRAILING.sub("", _cut(text, most)) + "…"


def _chinese(text: str, most: int) -> str:
    """The clause that tells what happened, with those after it as far as they fit."""
    clauses = [clause for clause in _COMMA_ZH.split(text) if clause]
    tells = [n for n, clause in enumerate(clauses) if telling_chinese(clause)]
    said = [n for n in tells if not clauses[n].endswith(_REPORTS_ZH)]
    first = next(iter(said or tells), 0)
    kept = clauses[first]
    for clause in clauses[first + 1 :]:
        if word_count(kept + clause) > most:
            break
        kept += "，" + clause
    return _cut(kept, most)


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
