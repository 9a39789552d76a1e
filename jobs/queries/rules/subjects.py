"""Phrases that a person would ask about where no sentence could be turned into a question, and how it is asked then.

They are names of several words and noun phrases with an article, of closed classes: a phrase with a verb in it, or one
that means something only where it stands (`their quest`, `the other side`), is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from quern.jobs.queries.rules.nouns import EMPTY
from quern.jobs.queries.rules.words import STOP_WORDS
from quern.jobs.reasoning.clauses.words import (
    ADVERBS,
    LASTING_NOUNS,
    OF_PREPOSITIONS,
    PREPOSITIONS,
    PRONOUNS,
    third_person,
)
from quern.jobs.reasoning.questions.words import CLOSED, base, is_past, is_verb

_CAPITAL: Final = r"[A-Z][a-z’'-]*[a-zA-Z][\w-]*"
_NAME: Final = re.compile(
    rf"(?<=[\w,] ){_CAPITAL}(?: (?:of |of the |the |and the |de |von |van |del |la )?{_CAPITAL}){{1,6}}"
    r"(?: [IVX]+\b)?(?=[ ,.;:!?]|$)"
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*|[^\w\s]|\d\S*")
_OPENS: Final = frozenset("the a an".split())
_MOST: Final = 3  # Words behind the article.
_ADJECTIVE: Final = re.compile(r"(?:ly|ous|ful|able|ible|ive|less|ish|est)$")
# What points at something said elsewhere, or says nothing alone.
_EMPTY: Final = (
    EMPTY
    | OF_PREPOSITIONS
    | STOP_WORDS
    | frozenset(
        "other others same former latter second third last very whole rest least less such few big small high "
        "low right left certain different various own case cases fact matter place side bottom middle front "
        "following above below previous current new problem answer sake hour month pair piece couple series "
        "set group type form level rate use sense effect purpose event success difference opportunity "
        "possibility ability date future past present manner step half majority amount point kinds sorts "
        "parts sides plus".split()
    )
)
_PLURAL: Final = re.compile(r"[a-z]{2}[^siu'’]s$")
_STEM: Final = 5  # Letters by which words are held to be one: `India` and `Indian`.
_LONGEST_NAME: Final = 5  # Words.
_LONGEST_TITLE: Final = 12  # Words of a title that is still named.


def subjects_of(text: str, known: str, topics: Collection[str] | None = None, *, story: bool = True) -> Iterator[str]:
    """Phrases of the text that can be asked about, names of several words first.

    Args:
        text: The text, as running text.
        known: What the question names anyway: a phrase of its words adds nothing.
        topics: Words that say what is spoken of: a noun alone is asked about only if it is one; None for any.
        story: Whether the text tells a story; elsewhere a noun alone is not asked about.
    """
    seen = {word[:_STEM] for word in re.findall(r"\w+", known.lower()) if word not in _OPENS}
    told: set[str] = set()
    for phrase in (*_names(text), *_phrases(text)):
        words = {word for word in re.findall(r"\w+", phrase.lower()) if word not in _OPENS}
        if topics is not None and len(words) == 1 and (not story or not words & set(topics)):
            continue
        if not {word[:_STEM] for word in words} <= seen and not words & told:
            told |= words
            yield phrase


def _names(text: str) -> Iterator[str]:
    for found in _NAME.finditer(text):
        words = found[0].split()
        behind = text[found.end() :].split(" ", 2)[1:2] if text[found.end() : found.end() + 1] == " " else []
        if (
            text[: found.start()].rstrip()[-1:].isdigit()
            or len(words) > _LONGEST_NAME
            or (behind and not _behind_name(behind[0]))
        ):
            continue
        if not any(word.lower() in STOP_WORDS for word in words if word[:1].isupper()):
            the = "the " if text[: found.start()].lower().endswith(" the ") else ""
            yield the + found[0].removesuffix("'s").removesuffix("’s")


def _behind_name(word: str) -> bool:
    """Whether a word behind a name is none that the name tells more about: no `supporter` of `an Ann Lee supporter`."""
    low = word.lower().strip(".,;:!?)”\"'’")
    return not low.isalpha() or low in CLOSED | ADVERBS | PREPOSITIONS or is_past(low) or third_person(low)


def _phrases(text: str) -> Iterator[str]:
    words = _WORD.findall(text)
    short: list[str] = []
    for at, word in enumerate(words[:-1]):
        if word.lower() not in _OPENS:
            continue
        end = at + 1
        while end < len(words) and _inside(words[end]):
            end += 1
        inner = words[at + 1 : end]
        if not 1 <= len(inner) <= _MOST or not _ends(words, end) or not _is_noun(inner):
            continue
        phrase = f"{word.lower()} {' '.join(inner)}"
        if word.lower() != "the" and _PLURAL.search(inner[-1]):
            continue  # `a sensory system consists`.
        if len(inner) > 1:
            yield phrase
        elif word.lower() == "the":
            short.append(phrase)
    yield from short


def _inside(word: str) -> bool:
    low = word.lower()
    return (
        word[0].isalpha()
        and not low.endswith(("ly", "wards", "ward"))
        and low not in CLOSED
        and low not in ADVERBS
        and low not in PRONOUNS
        and low not in _OPENS
    )


def _ends(words: list[str], end: int) -> bool:
    """Whether what comes behind a phrase cannot belong to it."""
    word = words[end] if end < len(words) else "."
    return not word[0].isalnum() or word.lower() in CLOSED or word.lower() in PREPOSITIONS


def _is_noun(inner: list[str]) -> bool:
    last = inner[-1].lower()
    if len(last) < 3 or inner[0].lower() in _EMPTY or last in _EMPTY or _ADJECTIVE.search(last):
        return False
    if is_past(last) or last.endswith(("ed", "'s", "’s")) or last in ("worse", "died"):
        return False
    if last.endswith("ing") and last not in LASTING_NOUNS:
        return False
    # A verb in the midst or at the end: `the NCAA commissioned`, `the town serves fish`, `the protests degrade`.
    middle = inner[1:]
    if any(word[:1].islower() and (is_past(word) or (word != base(word) and is_verb(base(word)))) for word in middle):
        return False
    return not any(_PLURAL.search(word) for word in inner[:-1]) and not (
        len(inner) > 1 and inner[0][:1].isupper() and is_verb(last)
    )


def about(phrase: str, title: str, text: str, *, story: bool) -> str:
    """The question that asks what a document says about a phrase of `text`; empty where it would not read well."""
    if not title or len(title.split()) > _LONGEST_TITLE or re.search(r"[\"“”]", title):
        specific = len(phrase.split()) > 2 or (" " in phrase and phrase[:1].isupper())
        return f"What is said about {phrase}?" if specific else ""
    if not story:
        return f"What does “{title}” say about {phrase}?"
    do = "do" if _PLURAL.search(phrase) and not phrase.split()[-1][:1].isupper() else "does"
    behind = _ACTS.search(text, text.lower().find(phrase.lower()) + len(phrase))
    if behind and text[: behind.start()].lower().endswith(phrase.lower()):
        return f"What {do} {phrase} do in “{title}”?"
    before = _IN.search(text[: max(text.lower().find(phrase.lower()), 0)])
    if before and phrase.startswith("the "):
        return f"What happens {before['in']} {phrase} in “{title}”?"
    return f"What part {do} {phrase} play in “{title}”?"


_ACTS: Final = re.compile(
    r",?[”\"']? (?:[a-z]+ed|said|was|had|went|came|took|ran|stood|began|saw|gave|told|made|found)\b"
)
_IN: Final = re.compile(r"\b(?P<in>in|at|inside) $")
