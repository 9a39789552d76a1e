"""Passages of a snapshot for many texts by recipe, with no question answered: evidence that models are trained by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.evidence import load_evidence
from quern.pipelines.retrieve.searcher import Searcher


class Passages:
    """Retrieval of passages; a text that was searched before is not searched again."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._known: dict[tuple[str, str], list[str]] = {}

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors of texts by the snapshot's model, shape (n, d)."""
        return self._searcher.question_embedder.encode([self._searcher.form(text) for text in texts])

    def by(self, recipe: Recipe, most: int) -> Callable[[Sequence[str]], list[list[str]]]:
        """What gives the best `most` passages of each text by a recipe."""

        def retrieve(texts: Sequence[str]) -> list[list[str]]:
            new = [text for text in dict.fromkeys(texts) if (recipe.name, text) not in self._known]
            if new:
                batch = Batch(self._searcher, new)
                for text, found in zip(new, load_evidence(batch, recipe.rank(batch)), strict=True):
                    self._known[recipe.name, text] = [e.text for e in found.evidence[:most]]
            return [self._known[recipe.name, text] for text in texts]

        return retrieve
