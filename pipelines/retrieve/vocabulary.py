"""The vocabulary of a snapshot, which questions are rewritten by."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Final

from quern.jobs.models.folders import load_tokenizer, read_model
from quern.jobs.reasoning.questions.vocabulary import Vocabulary
from quern.pipelines.retrieve.searcher import Searcher

# A tokenizer lists its tokens by frequency, and the later ones of few letters are parts of words: of 900 such tokens of
# MiniLM every other one is no word (`wal`, `ter`, `wat`).
_SHORT: Final = 4
_COMMONEST: Final = 20_000


def vocabulary_of(searcher: Searcher) -> Vocabulary:
    """The vocabulary of the snapshot that is searched; held by it (`Searcher.held`)."""
    return Vocabulary(searcher.graph.lexical, partial(_texts, searcher), partial(_dictionary, searcher))


def _texts(searcher: Searcher) -> Iterator[tuple[str | None, str]]:
    """Titles and texts of the chunks."""
    for batch in searcher.snapshot.table("chunks").batches(["title", "text"]):
        yield from zip(batch.column("title").to_pylist(), batch.column("text").to_pylist(), strict=True)


def _dictionary(searcher: Searcher) -> Collection[str]:
    """The common words of the embedding model's languages: the tokens of its tokenizer that are whole words."""
    tokens: dict[str, int] = load_tokenizer(read_model(searcher.settings.embed.model)).get_vocab()
    words = ((token.removeprefix("▁").lower(), number) for token, number in tokens.items())
    return {word for word, number in words if word.isalpha() and (len(word) > _SHORT or number < _COMMONEST)}
