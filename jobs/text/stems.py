"""The words that sentences are compared by: what lines share with a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import snowballstemmer

from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.terms import search_terms

# Words that say what kind of answer is wanted, or bind others: a sentence need not repeat them.
_ASKING = frozenset(
    "a an and are as at be been by can could did do does for from had has have how if in into is it its many much "
    "of on or s that the their them then there these they this to was were what when where which who whom whose why "
    "will with would you your about after before during between".split()
)
# A question and its evidence may write a number in two ways; which ones are unified is no matter of a setting here.
_AS_SEARCHED = SearchForm()


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(snowballstemmer.stemmer("english").stemWord(word))


@lru_cache(maxsize=1 << 15)  # What a batch of questions has as its evidence: each step asks for the same sentences.
def content_words(text: str) -> frozenset[str]:
    """Stems of the words of `text` that carry content."""
    return frozenset(_stem(w) for w in search_terms(_AS_SEARCHED(text)).split() if w not in _ASKING)


@lru_cache(maxsize=100_000)
def word_stems(word: str) -> frozenset[str]:
    """The same of one word; texts have far fewer words than sentences, which it therefore takes no place from."""
    return content_words.__wrapped__(word)


class WordShares(NamedTuple):
    """Shares of the question's words, weighted by rarity, in [0, 1]; each counts the words that none before it has."""

    own: float  # Those of the line, with its speaker and the header of its table.
    before: float  # Those of the line before.
    after: float  # Those of the next line.
    title: float  # Those of the title.
    chunk: float  # Those that only the rest of the chunk has.


# A conditional logit over the lines of the evidence, fitted to lihua_world, musique_train100, cmrc2018 and the sample
# corpus at equal weight with an l2 penalty of .02, when there were eight more signals of English grammar; rounded.
WORD_WEIGHTS: Final = WordShares(own=4.8, before=0.9, after=0.75, title=1.1, chunk=-2.2)
QUESTION_WEIGHT: Final = -0.95  # Of a line that is a question itself, in the same fit.


def word_shares(
    asked: frozenset[str], chunks: Sequence[tuple[frozenset[str], Sequence[frozenset[str]]]]
) -> list[list[WordShares]]:
    """The shares of each line, by the stems of the question's words and those of each chunk's title and lines."""
    common = [[asked & words for words in lines] for _, lines in chunks]
    # What each word counts: more, the fewer lines have it; all together 1.
    every = [words for lines in common for words in lines]
    counts = Counter(chain.from_iterable(every))
    rarity = {word: math.log(1.0 + len(every) / (0.5 + counts[word])) for word in asked}
    total = math.fsum(rarity.values()) or 1.0
    shares: list[list[WordShares]] = []
    for (title, _), lines in zip(chunks, common, strict=True):
        everywhere = frozenset[str]().union(*lines)
        beside = [frozenset[str](), *lines, frozenset[str]()]
        shares.append([])
        for before, own, after in zip(beside, lines, beside[2:], strict=False):
            known, new = frozenset[str](), []
            for words in (own, before, after, asked & title, everywhere):
                new.append(math.fsum(rarity[word] / total for word in words - known))
                known |= words
            shares[-1].append(WordShares(*new))
    return shares


def weighted(shares: WordShares) -> float:
    """The log odds that a line answers, by its shares."""
    return math.fsum(weight * share for weight, share in zip(WORD_WEIGHTS, shares, strict=True))
