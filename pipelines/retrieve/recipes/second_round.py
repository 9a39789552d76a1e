"""A second round: the question is asked again with what its best nodes say."""

from __future__ import annotations

from typing import Final

import numpy as np

from quern.indexes.vectors import Floats, Positions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.recipe import Recipe
from quern.pipelines.retrieve.recipes.hybrid import hybrid
from quern.pipelines.retrieve.recipes.node_texts import encoded, pair_texts
from quern.pipelines.retrieve.searcher import Searcher

# Nodes whose text is added to a question for its second round.
_NODES: Final = 10
_WEIGHT: Final = 0.4


def rank_second(batch: Batch) -> Ranking:
    """`hybrid`, and a second round: chunks near the question with the text of each of its 10 best nodes.

    The mean of a chunk's cosines with all these texts is its cosine with their mean, so it is one search.
    """
    matched = batch.widened(0)
    order = np.lexsort((matched.node, -matched.similarity, matched.question))
    rank = np.arange(len(order)) - np.searchsorted(matched.question[order], matched.question[order])
    order = order[rank < _NODES]
    question, node = matched.question[order], matched.node[order]
    texts = batch.searcher.held(node_texts)
    asked = [f"{batch.searched[q]} {texts[n]}" for q, n in zip(question.tolist(), node.tolist(), strict=True)]
    again = batch.with_vectors(_means(encoded(batch.searcher.embedder, asked), question, batch.vectors.shape))
    return Ranking(hybrid(batch, [(again.dense, _WEIGHT)]), matched)


def node_texts(searcher: Searcher) -> list[str]:
    """`question answer` of each node as it is searched, in the order of the nodes."""
    pairs = (pair_texts(searcher, column) for column in ("question", "answer"))
    return [f"{question} {answer}" for question, answer in zip(*pairs, strict=True)]


def _means(vectors: Floats, question: Positions, shape: tuple[int, ...]) -> Floats:
    """The mean of each question's vectors, of length 1; zero where there are none; shape (questions, d)."""
    total = np.zeros(shape)
    np.add.at(total, question, vectors)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.asarray(total / np.where(length > 0, length, 1.0), dtype=np.float32)


RECIPES: Final = (Recipe("second", "hybrid, and a second round with the best nodes' texts.", rank_second),)
