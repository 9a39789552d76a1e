"""Noun phrases of English sentences, by closed classes of words: what a question may be about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from quern.jobs.queries.rules.words import STOP_WORDS
from quern.jobs.reasoning.clauses.words import ADVERBS, LASTING_NOUNS, PRONOUNS
from quern.jobs.reasoning.questions.words import CLOSED, base, is_past, is_verb

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]")
_OPENS: Final = frozenset(
    "the a an my your our his her its their some any this that these those of for with about in on at from to into "
    "over under like without and".split()
)
EMPTY: Final = frozenset(
    "thing things way ways lot lots bit kind sort part time times day days guy guys everyone everything something "
    "anything "
    "idea ideas one ones stuff fun thought thoughts week weekend morning evening afternoon night tonight tomorrow "
    "today "
    "yesterday minute moment chance plan plans help reminder question questions great good nice awesome cool perfect "
    "amazing super definitely really pretty much too very just also even together soon forward up out back down "
    "off here "
    "there now then well sure maybe thanks thank hey hi absolutely totally true o'clock am pm number rest end".split()
)
# What stands before a phrase that is quoted by others: `my guitar` is `their guitar`.
_STANDS: Final = {
    "the": "the",
    "a": "a",
    "an": "an",
    "my": "their",
    "your": "the",
    "our": "the",
    "his": "his",
    "her": "her",
    "its": "its",
    "their": "their",
    "this": "the",
    "that": "the",
    "these": "the",
    "those": "the",
}
_ARTICLES: Final = frozenset("the a an their his her its".split())
_CONTRACTED: Final = re.compile(r"n['’]t$|['’](?:ll|ve|re|m|d)$")
_TIMES: Final = frozenset("next last today tomorrow tonight yesterday".split())
_PLACES: Final = frozenset("ahead everywhere anywhere somewhere nearby inside outside anymore".split())
_PLURAL: Final = re.compile(r"[a-z]{2}[^siu'’]s$")
_LONGEST: Final = 4  # Words of a phrase.


def noun_phrases(text: str) -> Iterator[str]:
    """Phrases behind an article, a possessive or a preposition, up to what can be no more of them, in order."""
    words = _WORD.findall(text)
    at = 0
    while at < len(words):
        if words[at].lower() not in _OPENS:
            at += 1
            continue
        end = at + 1
        while end < len(words) and end - at <= _LONGEST + 1 and _inside(words[end]):
            end += 1
        phrase = words[at + 1 : end]
        if _ends_well(words, end) and 1 <= len(phrase) <= _LONGEST and _is_noun(phrase):
            yield (
                f"{_STANDS[words[at].lower()]} {' '.join(phrase)}".strip()
                if words[at].lower() in _STANDS
                else " ".join(phrase)
            )
        at = max(end, at + 1)


def key_phrase(text: str, wanted: Collection[str]) -> str:
    """The phrase of a text that has most of the wanted words, of these the longest; empty where none says enough."""
    found = [phrase for phrase in noun_phrases(text) if phrase]
    scored = [(sum(w.lower() in wanted for w in p.split()), min(_content(p), 3), -n, p) for n, p in enumerate(found)]
    usable = [s for s in scored if s[0] or s[1] > 1]
    return max(usable)[3] if usable else ""


def leading_phrases(text: str, topics: Sequence[str], most: int = 2) -> tuple[str, ...]:
    """The phrases of a text that have its most frequent words (`topics`, the most frequent first), each word once."""
    chosen: list[str] = []
    phrases = list(dict.fromkeys(noun_phrases(text)))
    for topic in topics:
        if len(chosen) == most:
            break
        having = [
            p for p in phrases if topic in p.lower().split() and not any(topic in c.lower().split() for c in chosen)
        ]
        if having:
            chosen.append(max(having, key=lambda p: (min(_content(p), 3), -phrases.index(p))))
    return tuple(chosen)


def _content(phrase: str) -> int:
    return sum(word not in _ARTICLES for word in phrase.split())


def _inside(word: str) -> bool:
    low = word.lower()
    return (
        word[0].isalnum()
        and not word[0].isdigit()
        and low not in CLOSED
        and low not in ADVERBS
        and low not in PRONOUNS
        and low not in EMPTY | _TIMES
        and low not in _OPENS
    )


def _ends_well(words: list[str], end: int) -> bool:
    """Whether what comes behind a phrase ends it: a mark, or a word of a closed class that begins no verb's object."""
    low = words[end].lower() if end < len(words) else "."
    return not low[0].isalnum() or low in CLOSED or low in _OPENS or low in ADVERBS or low in _TIMES


def _is_noun(phrase: list[str]) -> bool:
    last = phrase[-1].lower()
    if last.endswith(("ly", "n't", "n’t", "ous", "ful", "able", "ible", "ive", "ic")) or is_past(last):
        return False
    if last.endswith("ing") and last not in LASTING_NOUNS and (len(phrase) == 1 or phrase[-2].lower().endswith("s")):
        return False
    if last.endswith("s") and len(phrase) > 1 and is_verb(base(last)):
        return False
    if is_verb(phrase[0].lower()) and len(phrase) > 1 and phrase[0].islower():
        return False
    if len(last) < 3 or last in STOP_WORDS or last in _PLACES:
        return False
    if last in ("worse", "died") or any(_PLURAL.search(word) for word in phrase[:-1]):
        return False  # `the awkward glitches add`.
    return not (len(phrase) == 1 and is_verb(last)) and not any(_CONTRACTED.search(w.lower()) for w in phrase)
