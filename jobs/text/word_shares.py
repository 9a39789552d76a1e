"""What lines share with a question by their words, each word counted by its rarity among the lines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple


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
    """The shares of each line of each chunk.

    Args:
        asked: Stems of the question's words.
        chunks: Of each chunk the stems of its title and of each line.
    """
    common = [[asked & words for words in lines] for _, lines in chunks]
    worth = _worth(asked, [words for lines in common for words in lines])
    shares = []
    for (title, _), lines in zip(chunks, common, strict=True):
        everywhere = frozenset[str]().union(*lines)
        beside = [frozenset[str](), *lines, frozenset[str]()]
        shares.append(
            [
                _new_in_each((own, before, after, asked & title, everywhere), worth)
                for before, own, after in zip(beside, lines, beside[2:], strict=False)
            ]
        )
    return shares


def weighted(shares: WordShares) -> float:
    """The log odds that a line answers, by its shares."""
    return math.fsum(weight * share for weight, share in zip(WORD_WEIGHTS, shares, strict=True))


def _worth(asked: frozenset[str], lines: Sequence[frozenset[str]]) -> dict[str, float]:
    """What each word of a question counts: more, the fewer lines have it; all together 1."""
    counts = Counter(chain.from_iterable(lines))
    weight = {word: math.log(1.0 + len(lines) / (0.5 + counts[word])) for word in asked}
    total = math.fsum(weight.values()) or 1.0
    return {word: value / total for word, value in weight.items()}


def _new_in_each(places: Sequence[frozenset[str]], worth: dict[str, float]) -> WordShares:
    known: frozenset[str] = frozenset()
    shares = []
    for words in places:
        shares.append(math.fsum(worth[word] for word in words - known) if words - known else 0.0)
        known |= words
    return WordShares(*shares)
