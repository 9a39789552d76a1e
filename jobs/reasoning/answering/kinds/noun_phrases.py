"""Noun phrases and main verbs of questions, found without a parser."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.kinds.verdict_asked import AUXILIARY, PREPOSITION
from quern.jobs.reasoning.answering.wording import irregular_pasts
from quern.jobs.reasoning.questions.words import base, is_verb
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

WORD: Final = lazy_pattern(r"[A-Za-z][\w'’-]*")
MOST_WORDS: Final = 5  # Of a noun phrase.
_ENDS_NOUN: Final = frozenset(
    f"{AUXILIARY}|{PREPOSITION}|that|who|which|there|not|and|or|you|he|she|it|they|we".split("|")
)
_OPENS_NOUN: Final = frozenset("a an the this these those his her its their our your my out up off down".split())
# Nouns that end as pasts do: `what top speed will she reach`.
_NO_PAST: Final = lazy_pattern(
    r"(?:water)?shed|(?:flower)?bed|sled|red|hundred|(?:sp|s|f|n|w|d|br|cr|st|ex|gr|tw)eed|\w*(?:sp|br)eed"
)


def noun_phrase(rest: str) -> str:
    """The words up to a verb, preposition or punctuation mark: `passengers and crew were ...` gives the first three."""
    words: list[str] = []
    for match in re.finditer(r"[\w'’-]+|[,;:?.]", rest):
        word = match[0]
        low = word.lower()
        if not word[0].isalnum() or (low in _ENDS_NOUN and not (low in ("and", "or") and words)):
            break
        # Behind a lower-case noun an article or a name opens the next phrase.
        if words and (low in _OPENS_NOUN or (word[0].isupper() and words[-1].islower())):
            break
        # And behind a plural or a person a past tense is the verb: `which vessels came`, `which scientist worked`.
        past = (low.endswith("ed") and not _NO_PAST.fullmatch(low)) or low in irregular_pasts()
        if words and past and (is_plural(words[-1]) or is_person(words[-1])):
            break
        # Behind any noun it is, where an article, a preposition or the like follows: `which firm made the strips`.
        after = WORD.match(rest, match.end() + 1)
        behind = is_plural(words[-1]) and is_verb(low) if words else False  # `Which companies bid for it`.
        if words and (past or behind) and after and after[0].lower() in _ENDS_NOUN | _OPENS_NOUN:
            break
        # And behind a singular a verb in the present, where what it takes follows: `which bank lends it the rest`.
        takes = after and (after[0].lower() in _OPENS_NOUN or after[0][0].isupper())
        if words and takes and low.endswith("s") and is_verb(base(low)) and not is_plural(words[-1]):
            break
        if words and low in ("more", "most", "less", "fewer", "least"):
            break
        words.append(word)
        if len(words) == MOST_WORDS:
            break
    while words and words[-1].lower() in ("and", "or"):
        words.pop()
    return " ".join(words)


def main_verb(words: list[str]) -> str:
    """The stem of the last word of content of `did the divers find`, or of what stands before a preposition.

    A guess without a parser: the verb of a question comes after its subject.
    """
    last = ""
    for word in words[1:]:
        if last and word.lower() in _ENDS_NOUN:
            break
        if word.islower() and not word.endswith("ly"):
            last = min(content_words(word), default=last)
    return last


def is_plural(word: str) -> bool:
    """Whether a noun is a plural, by its ending."""
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "ics", "'s", "’s"))
