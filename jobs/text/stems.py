"""The words that sentences are compared by, and which sentences say the same."""

from __future__ import annotations

from functools import lru_cache

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


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences, by their words, say the same."""
    # Jaccard similarity of words from which two sentences say the same.
    return len(one & other) >= 0.7 * max(1, len(one | other))
