"""What harm a question asks for.

The rule asks three things. *What does the question want?* To be enabled ("how do I", "where can I get", "write a guide
to"), or to know ("who", "why did", "how many were", "what is"): a corpus of news is full of harm, and who asks about it
is to be answered. *What is done to whom?* An act harms by its object: a process, a weed and a chess king may be killed.
*Where?* In a game, a sport or a story nobody is harmed.

The rule was written with XSTest at hand, which tells little of it, and checked four times on prompts that were written
after it, each time before it was mended by them: of 74, 70, 40 and 30 harmless ones it refused 8, 6, 5 and 3 %, of 40,
40, 30 and 20 harmful ones 50, 65, 73 and 60 %.
A logistic regression over MiniLM vectors, fitted without the types that it was measured on, refused 12 % of the safe
prompts of XSTest and 60 % of the unsafe ones, and changed little when it was added to the rule: it is not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.questions import harm_patterns as patterns
from quern.jobs.reasoning.questions import harms
from quern.jobs.reasoning.questions.harms import words
from quern.schemas.settings.search.question import Category
from quern.schemas.words.patterns import lazy_pattern

_TOKEN: Final = lazy_pattern(r"[a-z]+(?:[-'][a-z]+)*")


@dataclass(frozen=True)
class Harm:
    """A harm that a question asks for.

    Attributes:
        start: Where in the question its words start.
        end: Where they end.
    """

    category: Category
    start: int
    end: int


def harm_of(question: str) -> Category | None:
    """What the question is harmful as; None where it is harmless. For English, and acts of crime in Chinese."""
    if patterns.CHINESE.search(question):
        return "illegal_content"
    text = patterns.TELL.sub("", " ".join(question.replace("’", "'").lower().split()))
    if patterns.DEFINES.search(text) or harms.FICTION.search(text):
        return None
    for harm in _harms(text):
        prevented = patterns.PREVENTS.search(text, 0, harm.end) or patterns.DENIES.search(text, 0, harm.start)
        if not prevented or patterns.HIDDEN.search(text):
            return harm.category
    return None


def _harms(text: str) -> Iterator[Harm]:
    """The harms that a question in lower case asks for."""
    recounts = bool(patterns.RECOUNTS.match(text)) and not patterns.ME.search(text) and not patterns.WAYS.match(text)
    yield from _first("ethical_violations", text, patterns.HATE, patterns.APPROVES)
    if recounts:
        return
    yield from _first("privacy_breaches", text, patterns.PRIVATE, patterns.ABOUT)
    if text.startswith(("why ", "how do ")):
        yield from _first("ethical_violations", text, patterns.SCORNS)
    if not (patterns.ENABLE.search(text) or patterns.WRITE.match(text)):
        return
    yield from _first("harmful_intent", text, patterns.SELF_HARM, patterns.PEOPLE_TO)
    yield from _first("ethical_violations", text, patterns.MINOR, patterns.SCORNS, patterns.HATEFUL, patterns.REPEATS)
    if " legal" not in text:
        yield from _first("illegal_content", text, patterns.CRIME, patterns.ILLICIT, patterns.ARMS, patterns.CRIME_ACT)
    yield from _first("privacy_breaches", text, patterns.SPY, patterns.PERSONAL)
    if not patterns.OWN_THING.search(text):
        yield from _first("harmful_intent", text, patterns.OTHERS)
    if not patterns.MINE.search(text):
        yield from _first("illegal_content", text, patterns.HACK)
    yield from _first("illegal_content", text, patterns.DECEIVES)
    if "surprise" not in text:
        yield from _first("illegal_content", text, patterns.HIDDEN)
    plain = harms.LITERAL if harms.FIGURES.search(text) else harms.ACTS
    yield from (harm for act, harm in _acts(text) if act in plain)


def _first(category: Category, text: str, *expressions: re.Pattern[str]) -> Iterator[Harm]:
    for pattern in expressions:
        if found := pattern.search(text):
            yield Harm(category, *found.span())


def _acts(text: str) -> Iterator[tuple[str, Harm]]:
    """Acts on people, on animals, and on what belongs to others, each with its words."""
    tokens = list(_TOKEN.finditer(text))
    said = [token[0] for token in tokens]
    for at, token in enumerate(tokens):
        if at and said[at - 1] in _ARTICLES:
            continue
        for length in (3, 2, 1):
            act = " ".join(said[at : at + length])
            if act in harms.HARMLESS:
                break
            if act in harms.ACTS:
                yield from ((act, harm) for harm in _act_on(act, _object(said[at + length :]), token.span()))
                break


_ARTICLES: Final = words("a an the this that each every another my your his her our their")


_PREPOSITIONS: Final = words(
    "at in on with for from with by to into without because while when if and or so that who which how as during "
    "after before using via until like about "
    "against through near behind over than is are was were be been not off out up down away even better"
)


def _object(following: Sequence[str]) -> list[str]:
    """The words of the object that follows an act."""
    found: list[str] = []
    for word in following[:6]:
        if word in _PREPOSITIONS and (found or word not in ("in", "down", "out", "into", "on", "up", "off", "from")):
            break
        if word not in _PREPOSITIONS:
            found.append(word)
    return found


def _act_on(act: str, thing: Sequence[str], span: tuple[int, int]) -> Iterator[Harm]:
    owners = [n for n, word in enumerate(thing) if _is_owner(word)]
    owned = thing[owners[-1] + 1 :] if owners else ()
    if act in harms.BODILY and (any(w in harms.BODY for w in owned) or _is_part(thing)):
        yield Harm("harmful_intent", *span)
    if act in harms.VIOLENCE and (
        _is_person(thing) or (act in harms.GRAVE and bool(thing) and not patterns.ME.match(thing[0]))
    ):
        yield Harm("harmful_intent", *span)
    if act in harms.CRUELTY and harms.PETS.intersection(thing):
        yield Harm("ethical_violations", *span)
    if thing[:1] in (["my"], ["our"]) and not owners and not harms.PUBLIC.intersection(thing):
        return
    if act in harms.DAMAGE and (harms.PLACES.intersection(thing) or harms.BELONGINGS.intersection(owned)):
        yield Harm("illegal_content", *span)
    if act in harms.THEFT and thing and not harms.NOT_STOLEN.intersection(thing):
        yield Harm("illegal_content", *span)


def _is_owner(word: str) -> bool:
    """Whether what follows the word belongs to a person."""
    bare = word.removesuffix("'s").removesuffix("'")
    return word in ("his", "her", "their") or (bare != word and bare in harms.PEOPLE)


def _is_part(thing: Sequence[str]) -> bool:
    """Whether the object is a part of a human body: `a human skull`."""
    return "human" in thing[:2] and any(w in harms.BODY for w in thing)


def _is_person(thing: Sequence[str]) -> bool:
    """Whether the object is a person: a noun for one that heads it."""
    for n, word in enumerate(thing[:5]):
        if "'" not in word and (word in harms.PEOPLE or word.removesuffix("s") in harms.PEOPLE):
            return n + 1 == len(thing) or thing[n + 1] in _AFTER_PERSON or thing[n + 1] in harms.PEOPLE
    return False


_AFTER_PERSON: Final = words(
    "i we he she they you of who that badly hard quietly quickly slowly most painfully "
    "secretly again today tonight alive here there alone whom living unconscious"
)
