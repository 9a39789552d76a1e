"""Chunks that are joined to the best documents of a question by a third thing, and what they gain by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Positions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.left_over import left_over
from quern.pipelines.retrieve.ranking import Doubles, below

# Documents of a question that others are joined to: 3 to 10 made no difference on MuSiQue or LiHua-World.
_SOURCES: Final = 6


@dataclass(frozen=True)
class Best:
    """The best chunk of each of the best documents of each question; arrays of one length."""

    question: Positions
    chunk: Positions
    rank: Positions
    score: Doubles


@dataclass(frozen=True)
class Joined:
    """Chunks that are joined to one of the best; arrays of one length.

    Attributes:
        question: Position of the question.
        source: The chunk that was found.
        target: The chunk that has a third thing in common with it, such as a name.
        strength: Rarity of that over the rank of the source's document, in [0, 1].
        limit: Score of the source.
    """

    question: Positions
    source: Positions
    target: Positions
    strength: Doubles
    limit: Doubles

    def some(self: AnyJoined, kept: Positions) -> AnyJoined:
        """Some of them."""
        return type(self)(*(column[kept] for column in vars(self).values()))


AnyJoined = TypeVar("AnyJoined", bound=Joined)


def best_chunks(batch: Batch, scored: Scored) -> Best:
    """The best chunk of each of the best documents of each question."""
    documents = batch.graph.documents
    pair = scored.question * max(1, len(documents.keys)) + documents.of_chunk[scored.chunk]
    # The first of each question and document in order of rank is its best chunk.
    first = np.sort(np.unique(pair, return_index=True)[1])
    question = scored.question[first]
    rank = np.arange(len(first)) - np.searchsorted(question, question)
    first, rank = first[rank < _SOURCES], rank[rank < _SOURCES]
    return Best(scored.question[first], scored.chunk[first], rank, scored.score[first].astype(np.float64))


def weighed(batch: Batch, joined: AnyJoined, sure: float) -> AnyJoined:
    """The same, each strength but for a part that is `sure` by what the target holds of words that the source lacks."""
    # Of several things that two chunks share the rarest counts, and words are looked up once for two chunks.
    joined = _first_of(joined, (joined.target, joined.source, joined.question))
    held = left_over(batch, joined.question, joined.source, joined.target)
    return replace(joined, strength=joined.strength * (sure + (1.0 - sure) * held))


def strongest(joined: AnyJoined) -> AnyJoined:
    """The strongest of each question and target, sorted by these."""
    return _first_of(joined, (joined.target, joined.question))


def _first_of(joined: AnyJoined, keys: tuple[Positions, ...]) -> AnyJoined:
    """The strongest of all that have the same keys, sorted by the keys, the last of them first."""
    order = np.lexsort((joined.source, -joined.strength, *keys))
    ordered = [key[order] for key in keys]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any([key[1:] != key[:-1] for key in ordered], axis=0)
    return joined.some(order[new])


def raised(batch: Batch, scored: Scored, joined: Joined, weight: float) -> Scored:
    """`scored`, where each target gains `weight` times its strength, and does not get above its source.

    What was not found enters with the least score that its question gave.

    Args:
        batch: The questions.
        scored: Scores of chunks.
        joined: Targets, each once for a question, sorted by question and target.
        weight: The weight.
    """
    chunks = len(batch.graph.chunks.keys)
    least = np.zeros(len(batch), dtype=np.float32)
    np.minimum.at(least, scored.question, scored.score)
    key, gained = scored.question * chunks + scored.chunk, joined.question * chunks + joined.target
    absent = ~np.isin(gained, key)
    key = np.concatenate([key, gained[absent]])
    score = np.concatenate([scored.score, least[joined.question[absent]]]).astype(np.float64)
    order = np.argsort(key)
    at = order[np.searchsorted(key[order], gained)]
    score[at] = below(score[at], weight * joined.strength, joined.limit)
    return in_order(key // chunks, key % chunks, score.astype(np.float32))
