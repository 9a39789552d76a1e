"""Whom a pronoun stands for in a question that is shown: the careful reading of what `pronouns` suggests.

A vector may be made of a name that stands for the wrong thing; a question that people read may not. The document's
topic stands for a pronoun only where the sentence before it speaks of the topic too, or none does.
"""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.queries.rules.pronouns import LEAD, resolve
from quern.jobs.queries.rules.words import STOP_WORDS
from quern.jobs.reasoning.questions.words import is_verb
from quern.schemas.words.calendar import MONTH, WEEKDAY

_MANY: Final = re.compile(r"(?:[^,.;:]{0,60}, )?(?:[Tt]hey|[Tt]heir) ")
_POINTS: Final = re.compile(r"(?:[^,.;:]{0,60}, )?(?:This|These|this|these) ")
# It stands for what comes: `it is possible to`, `it seems that`; or for the weather and the hour.
_EMPTY_IT: Final = re.compile(
    r"(?:[^,.;:]{0,60}, )?[Ii]t (?:(?:is|was|has been|would be|may be|became) (?:\w+ly )?(?:(?!an? )\w+ (?:to|that|for"
    r"|who|how|whether|if|when)\b|not\b|now\b|only\b|time\b|summer|winter|spring|autumn|because\b|so\b|said\b|in this)"
    r"|seems|seemed|appears|turns out|takes|took|happened)\b"
)
_OWN: Final = re.compile(r"(?:It|Its|He|His|She|Her|They|Their)\b")
_DATED: Final = re.compile(rf"\d|\b(?:{MONTH}|{WEEKDAY})\b")
_HUMAN: Final = re.compile(r"[Hh]e |[Ss]he |[Hh]is |[Hh]er ")
_PERSON_NAME: Final = re.compile(
    r"(?:(?!The |And |Or |Of |Who |How |In |To )[A-Z][\w.'’-]*(?: (?:de|von|van|la|of)(?= ))?(?: |$)){1,4}"
)
_PLURAL: Final = re.compile(r"(?:[^siu'’]s|people|men|children)$|\band\b")


def resolved(sentence: str, before: str, topic: str, kind: str, *, text_names: bool = True) -> str:
    """`sentence` with the pronoun at its head replaced by a name, where a reader would be sure of it.

    Args:
        sentence: The sentence.
        before: The sentence before it; empty if there is none.
        topic: What the document is about; may be empty.
        kind: What the topic is known to be: `person`, `thing` or nothing.
        text_names: Whether the text that the sentence is of names the topic.
    """
    given = resolve(sentence, before, topic, kind)
    if given == sentence or not topic:
        return given
    if _POINTS.match(sentence) or _EMPTY_IT.match(sentence):
        return sentence
    lead = LEAD.match(sentence)
    at = lead.end() if lead else 0
    if not given.startswith(topic, at):
        return sentence if _DATED.search(given[at : at + len(given) - len(sentence) + len("They")]) else given
    if sentence.startswith(topic.rsplit(" ", 1)[-1], at):
        return given  # A family name filled up.
    if topic.rsplit(" ", 1)[-1] in sentence[at:]:
        return sentence  # `He loves her`, of whom the document is about.
    if _HUMAN.match(sentence, at):
        words = topic.lower().split()
        named = _PERSON_NAME.fullmatch(topic) and text_names and not any(w in STOP_WORDS or is_verb(w) for w in words)
        return given if named and (kind == "person" or not before or _speaks_of(before, topic)) else sentence
    if _DATED.search(topic) and kind != "thing":
        return sentence
    if _MANY.match(sentence) and not _PLURAL.search(topic):
        return sentence
    if not before:
        return given if kind or text_names else sentence
    return given if _speaks_of(before, topic) else sentence


def _speaks_of(before: str, topic: str) -> bool:
    """Whether a sentence begins with the topic, its last name, its kind or a pronoun for it."""
    lead = LEAD.match(before)
    head = before[lead.end() if lead else 0 :]
    if _OWN.match(f"{head[:1].upper()}{head[1:]}"):
        return True
    words = re.findall(r"[\w-]+", topic.lower())
    opening = re.findall(r"[\w-]+", head.lower())[:4]
    if head.lower().startswith(topic.lower()) or (words and words[-1] in opening[:3]):
        return True
    return len(words) > 1 and opening[:1] == ["the"] and opening[1:2] == words[-1:]
