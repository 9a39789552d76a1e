"""Spelling by the vocabulary of the index: a word that it does not have becomes the likeliest that it has.

Likeliest is what takes few edits, stands with the other words of the question in one chunk, and is common: the noisy
channel of Kernighan, Church and Gale (1990) with the index as its language model. The word stays as it is where it is
likelier to be right and the corpus without it: who asks for what is not there must not get what is spelled nearly so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from quern.jobs.reasoning.questions.function_words import FUNCTION_WORDS, foreign_words
from quern.jobs.reasoning.questions.vocabulary import LONGEST, Near, Vocabulary, distance
from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN
from quern.schemas.words.terms import STOP_WORDS, search_terms

_LETTER: Final = f"[^\\W\\d_{CJK}{SOUTH_EAST_ASIAN}]"
_WORD: Final = re.compile(f"(?<![\\d_]){_LETTER}++(?:['’]{_LETTER}++)?(?![\\d_])")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_SHORTEST: Final = 3
# From so many letters on, a word may have two wrong.
_LONG: Final = 6
# More unknown words than this share, and the question is in another language, or of another world. English is known by
# two of its small words.
_MOST_UNKNOWN: Final = 0.3
_MOST_IN_ENGLISH: Final = 0.5
# Log odds that a word of the index was meant, by logistic regression: 923 random typos in questions over three corpora
# (sample corpus, lihua_world, musique_train100), one to three in each, against 1,385 words that these corpora lack, of
# questions over other corpora. Fitted on two corpora and used on the third it mends 84, 96 and 77 % of the typos, and
# changes 6, 16 and 8 % of the other words, half of which are misspelled too.
_ODDS: Final = (
    -10.5
)  # Half of one above what was fitted: both sets held as many words of either kind, and users do not.
_COMPANY: Final = 3.8  # Times the share of the other words that stand in one chunk with it.
_TWO_EDITS: Final = -4.6
_LETTERS: Final = 0.55  # Times letters, ten at most.
_COMMON: Final = 0.26  # Times the logarithm of the chunks that have it.
_FIRST: Final = 3.6  # If the first letters are the same.
_UNSEEN: Final = 1.4  # Times the groups of three letters that no word has, two at most.
_SWAPPED: Final = 1.7  # If the letters are the same, in another order.
_IN_INDEX: Final = 2.0  # If the index has the word, not the language alone.
# If two edits leave the consonants as they are, doubled ones counted once: who misspells `bicycle` writes `bycicle`, as
# it sounds. Not fitted: with it the two typos of natural questions that were not mended are.
_SOUNDS: Final = 3.0
_VOWELS: Final = re.compile(r"[aeiouy]")
_DOUBLED: Final = re.compile(r"(.)\1+")
# If it makes up a name of the index with the word beside it. Not fitted: 2, 4 and 6 do the same on 834 random typos,
# two in names and one beside them in a question over those corpora (234 of 242, 370 of 379, 193 of 213 mended).
_NAMED: Final = 4.0
# Times that each word is looked at, the second beside the others as they were mended: with one round and no names 232,
# 368 and 181 were mended. Of 376 words that these corpora lack 21 are changed instead of 19.
_ROUNDS: Final = 2
_MEASURES: Final = ("many", "much", "long", "often", "large")
_OPENERS: Final = frozenset("what when where which whose".split())


@dataclass(frozen=True)
class Respelled:
    """A part of a question that is spelled as the index spells it.

    Attributes:
        start: First character in the question.
        end: One past its last character.
        words: What stands there in the index.
    """

    start: int
    end: int
    words: str


@dataclass(frozen=True)
class _Context:
    """What stands around a word: the other words of the question that carry content, and the two beside it."""

    others: Sequence[str]
    before: str
    after: str


def respelled(question: str, vocabulary: Vocabulary) -> list[Respelled]:
    """The misspelled words of `question`, in their order; none where it seems to be in another language."""
    found = [m for m in _WORD.finditer(question) if not re.search("['’]", _POSSESSIVE.sub("", m[0]))]
    words = [search_terms(m[0].lower()) for m in found]
    if _of_unread_language(words, vocabulary):
        return []
    looked_at = (n for n, word in enumerate(words) if _may_be_wrong(word, found[n][0]))
    unknown = [n for n in looked_at if not vocabulary.knows(words[n]) or _nearly_named(n, found, words, vocabulary)]
    if not unknown or not vocabulary or len(unknown) > max(1, _most_unknown(words) * len(words)):
        return []
    others = [word for n, word in enumerate(words) if n not in unknown and word not in STOP_WORDS]
    return list(_mended(found, words, unknown, others, vocabulary))


def _of_unread_language(words: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether a question is in a language that the index has no texts of: it lacks most of its function words."""
    foreign = foreign_words(words)
    return bool(foreign) and sum(map(vocabulary.has, foreign)) * 2 < len(foreign)


def _most_unknown(words: Sequence[str]) -> float:
    """The largest share of unknown words that a question of these words may have."""
    small = sum(word in STOP_WORDS and len(word) > 1 for word in words)
    small += any(distance(words[0], opener, 1) == 1 for opener in _OPENERS)
    return _MOST_IN_ENGLISH if small > 1 else _MOST_UNKNOWN


def _mended(
    found: Sequence[re.Match[str]],
    words: Sequence[str],
    unknown: Sequence[int],
    others: list[str],
    vocabulary: Vocabulary,
) -> Iterator[Respelled]:
    """The unknown words that were mended; each is looked at again with the others as they were mended at first."""
    joined = {n: whole for n in unknown if (whole := _joined(found, words, n, vocabulary))}
    alone = [n for n in unknown if n not in joined and n - 1 not in joined]
    known = [*others, *joined.values()]
    mended: dict[int, str] = {}
    for _ in range(_ROUNDS):
        for n in alone:
            context = _Context([*known, *(w for m, w in mended.items() if m != n)], *_beside(n, found, words, mended))
            best = _meant(words[n], found[n][0], n == 0, context, vocabulary)
            if best:
                mended[n] = best
    for n in unknown:
        if n in joined:
            yield Respelled(found[n].start(), found[n + 1].end(), joined[n])
        elif n in mended:
            written = found[n][0]
            yield Respelled(
                found[n].start(), found[n].start() + len(_POSSESSIVE.sub("", written)), _cased(mended[n], written)
            )


def _joined(found: Sequence[re.Match[str]], words: Sequence[str], n: int, vocabulary: Vocabulary) -> str:
    """The word of the index that word `n` and the next were meant to be; empty where there is none."""
    whole = words[n] + words[n + 1] if n + 1 < len(words) else ""
    beside = bool(whole) and found[n + 1].start() == found[n].end() + 1
    return whole if beside and vocabulary.has(whole) and len(whole) > _LONG else ""


def _beside(n: int, found: Sequence[re.Match[str]], words: Sequence[str], mended: Mapping[int, str]) -> tuple[str, str]:
    """The words right before and right behind word `n`, as they were mended; empty where there is none."""
    before = n > 0 and found[n - 1].end() + 1 == found[n].start()
    after = n + 1 < len(words) and found[n].end() + 1 == found[n + 1].start()
    return mended.get(n - 1, words[n - 1]) if before else "", mended.get(n + 1, words[n + 1]) if after else ""


def _meant(word: str, written: str, first: bool, context: _Context, vocabulary: Vocabulary) -> str | None:
    return (
        _measure(word, context)
        or _small_word(word, written, first, vocabulary)
        or _likeliest(word, written, context, vocabulary)
        or _parted(word, written, vocabulary)
    )


def _may_be_wrong(word: str, written: str) -> bool:
    """Whether a word is looked at: none is that is short, a function word, or in capitals as an abbreviation."""
    return len(word) >= _SHORTEST and not written.isupper() and word not in FUNCTION_WORDS


def _small_word(word: str, written: str, first: bool, vocabulary: Vocabulary) -> str | None:
    """The question word, article or the like that was meant; no name is one, and inside a question few words are."""
    near = [small for small in sorted(STOP_WORDS) if len(small) > _SHORTEST and distance(word, small, 1) == 1]
    openers = [small for small in near if small in _OPENERS]
    if first and openers:
        return openers[0]
    likely = [small for small in near if sorted(small) == sorted(word) or vocabulary.unseen(word)]
    return likely[0] if len(likely) == 1 and written.islower() else None


def _nearly_named(n: int, found: Sequence[re.Match[str]], words: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether a word of the language that no text has makes up a name with the word beside it, but for one letter.

    Who asks for `port averill` means Port Averil, whatever Averill may be elsewhere.
    """
    if not vocabulary or len(words[n]) < _LONG or vocabulary.has(words[n]) or not words[n].isascii():
        return False
    context = _Context((), *_beside(n, found, words, {}))
    near = vocabulary.near(words[n], 1, common=False)
    return any(_named(other.word, context, vocabulary) for other in near if other.word[0] == words[n][0])


def _measure(word: str, context: _Context) -> str | None:
    """The word that asks for a measure behind `how`, of which this is one letter away: `how meny`."""
    near = [asked for asked in _MEASURES if distance(word, asked, 1) == 1] if context.before == "how" else []
    return near[0] if len(near) == 1 else None


def _parted(word: str, written: str, vocabulary: Vocabulary) -> str | None:
    """Two words of the index that were written as one, where they stand in one chunk."""
    if written[0].isupper() or not _LONG < len(word) <= 2 * LONGEST:
        return None
    pairs = [(word[:at], word[at:]) for at in range(2, len(word) - 1)]
    joint = [pair for pair in pairs if _stand_together(*pair, vocabulary)]
    return " ".join(joint[0]) if len(joint) == 1 else None


def _stand_together(one: str, other: str, vocabulary: Vocabulary) -> bool:
    """Whether two words of the index are in one chunk; a small word is in any."""
    small = [word in STOP_WORDS for word in (one, other)]
    if any(small):
        content = other if small[0] else one
        return not all(small) and len(content) > _SHORTEST and vocabulary.has(content)
    return min(len(one), len(other)) >= _SHORTEST and vocabulary.has(one) and vocabulary.company(one, [other]) > 0


def _likeliest(word: str, written: str, context: _Context, vocabulary: Vocabulary) -> str | None:
    """The word of the index that was most likely meant.

    A name is changed by one edit at most and keeps its first letter: another name is another person. By two it is
    changed only into what makes up a name of the index with the word beside it.
    """
    if not written.isascii():
        return None
    is_name = written[0].isupper()
    edits = 2 if len(word) >= _LONG - is_name else 1
    candidates = [
        near for near in vocabulary.near(word, edits, common=not is_name) if not is_name or near.word[0] == word[0]
    ]
    if len(word) == _SHORTEST:  # It may lack a letter (`qay`); with another in its place it is another word.
        candidates = [near for near in candidates if len(near.word) > len(word)]
    if is_name:
        candidates = [near for near in candidates if near.edits == 1 or _named(near.word, context, vocabulary)]
    scored = [(_odds(word, near, context, vocabulary), near.word) for near in candidates]
    best = max(scored, default=(0.0, ""))
    return best[1] if best[0] > 0 else None


def _named(word: str, context: _Context, vocabulary: Vocabulary) -> bool:
    """Whether a word makes up a name of the index with the word before or behind it."""
    names = vocabulary.names
    return names.together(context.before, word) or names.together(word, context.after)


def _odds(word: str, near: Near, context: _Context, vocabulary: Vocabulary) -> float:
    """Log odds that `near` was meant, and not `word`."""
    return (
        _ODDS
        + _COMPANY * vocabulary.company(near.word, context.others)
        + _TWO_EDITS * (near.edits == 2)
        + _LETTERS * min(len(word), 10)
        + _COMMON * log(1 + vocabulary.frequency(near.word))
        + _FIRST * (near.word[0] == word[0])
        + _UNSEEN * min(vocabulary.unseen(word), 2)
        + _SWAPPED * (sorted(near.word) == sorted(word))
        + _IN_INDEX * vocabulary.spells(near.word)
        + _SOUNDS * (near.edits == 2 and _consonants(near.word) == _consonants(word))
        + _NAMED * _named(near.word, context, vocabulary)
    )


def _consonants(word: str) -> str:
    return _DOUBLED.sub(r"\1", _VOWELS.sub("", word))


def _cased(word: str, written: str) -> str:
    """The word with the capitals of what it stands for."""
    if written.isupper() and len(written) > 1:
        return word.upper()
    return word.title() if written[0].isupper() else word
