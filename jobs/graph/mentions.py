"""`mention` edges: from a node whose text names another document's title to that document.

A question of several hops is answered across documents that name each other; nearness of vectors seldom joins them
(QCG-RAG joins nodes by nearness alone). A title counts by its rarity, its idf as a share of the largest possible:
log(N / df) / log(N), with N documents, df of which name it in a node; and where n documents have it, by 1/n for each:
sections of one story that all bear its title led questions astray (FairytaleQA: recall@5 .875 without
mentions, .837 with, .875 so; MuSiQue, a tenth of whose documents share a title, is the same to .003).

Memory: about 300 bytes a title, and 24 a mention.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.keys import positions_in
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, Positions
from quern.schemas.settings import LinkSettings
from quern.schemas.words.scripts import CJK

# A Chinese, Japanese or Korean character is a word of its own: their titles stand in running text.
_WORD: Final = re.compile(f"[{CJK}]|[^\\W{CJK}]+")
# `Mercury (planet)` is named as `Mercury`, `The mill | A newspaper` as `The mill`.
_ASIDE: Final = re.compile(r"\s*[(（][^()（）]*[)）]")
_SITE: Final = re.compile(r"\s+[|–—·-]\s+")
_LEAST_CHARACTERS: Final = 3
_BATCH: Final = 4096

Words = tuple[str, ...]


def document_of(chunk_ids: pa.Array) -> pa.Array:
    """The document of each chunk: the key of a chunk is its document's, a hyphen and a number."""
    return pc.replace_substring_regex(chunk_ids, r"-\d+$", "")


def title_words(title: str) -> Words:
    """The words by which a text names what has this title; none where they are too few to tell."""
    name = _ASIDE.sub("", title)
    words = tuple(_WORD.findall(name))
    if len(words) > 1 or sum(map(len, words)) >= _LEAST_CHARACTERS:
        return words if len(words) <= 16 and sum(map(len, words)) >= _LEAST_CHARACTERS else ()
    return ()


class Titles:
    """Titles of documents, found in texts by one look per word."""

    def __init__(self, titles: Iterable[str | None], most: int) -> None:
        """Args: `titles` in the order of the documents' positions; one that more than `most` share names none."""
        self._documents: defaultdict[Words, list[int]] = defaultdict(list)
        self.count = 0
        for title in titles:
            forms = (title, _SITE.split(title)[0]) if title else ()
            for words in {words for form in forms if (words := title_words(form))}:
                self._documents[words].append(self.count)
            self.count += 1
        for words in [words for words, having in self._documents.items() if len(having) > most]:
            del self._documents[words]
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for words in self._documents:
            lengths[words[0]].add(len(words))
        self._lengths = {word: sorted(found) for word, found in lengths.items()}
        self._numbers = {words: number for number, words in enumerate(self._documents)}
        self.documents = list(self._documents.values())

    def named(self, text: str) -> set[int]:
        """Numbers of the titles that `text` names, word for word."""
        words = _WORD.findall(text)
        numbers = set()
        for at in [at for at, word in enumerate(words) if word in self._lengths]:
            for length in self._lengths[words[at]]:
                number = self._numbers.get(tuple(words[at : at + length]))
                if number is not None:
                    numbers.add(number)
        return numbers


def mention_edges(
    nodes: Stage, documents: Stage, keys: pa.Array, settings: LinkSettings
) -> Iterator[tuple[Positions, Positions, Positions, Floats]]:
    """(source, rank, target, rarity) of the mention edges, at most `link.mentions` a node, the rarest first.

    The target is the first node of the named document. Ties go to the lower key.

    Args:
        nodes: The nodes, with their text.
        documents: The documents, with their titles.
        keys: Keys of the nodes in order; positions refer to them. Nodes that are not among them have no edges.
        settings: How many edges a node has, and how many documents may share a title.
    """
    # Ids of the documents that are searched, and their titles.
    columns = ["doc_id", "title", "duplicate_of"]
    schema = pa.schema([documents.table.schema.field(c) for c in columns])
    rows = pa.Table.from_batches(documents.batches(columns), schema)
    rows = rows.filter(pc.is_null(rows["duplicate_of"])).sort_by("doc_id")
    ids, titles = rows["doc_id"].combine_chunks(), Titles(rows["title"].to_pylist(), settings.mention_documents)
    # Position of each node's document; -1 where it has none.
    owner = np.full(len(keys), -1, dtype=np.int64)
    for batch in nodes.batches(["query_id", "chunk_id"]):
        at = positions_in(keys, batch.column(0))
        owner[at[at >= 0]] = positions_in(ids, document_of(batch.column(1)))[at >= 0]
    first = np.full(titles.count, -1, dtype=np.int64)
    owners = np.flatnonzero(owner >= 0)[::-1]
    first[owner[owners]] = owners
    source, title = _named(nodes, keys, titles)
    # log(N / df) / log(N) of each title; df is of documents that name it in a node.
    pairs = np.unique(np.stack([title, owner[source]], axis=1), axis=0)
    naming = np.maximum(np.bincount(pairs[:, 0], minlength=len(titles.documents)), 1)
    every = max(titles.count, 2)
    rarity = np.asarray(np.log(every / naming) / np.log(every), dtype=np.float32)
    sizes = np.array([len(having) for having in titles.documents], dtype=np.int64)
    flat = np.array([d for having in titles.documents for d in having], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    row = np.repeat(np.arange(len(source)), sizes[title])
    nth = np.arange(len(row)) - np.repeat(np.cumsum(sizes[title]) - sizes[title], sizes[title])
    target = first[flat[starts[title[row]] + nth]]
    source, weight = source[row], (rarity / sizes)[title[row]].astype(np.float32)
    good = (target >= 0) & (owner[source] != owner[target]) & (weight > 0)
    yield from ranked_edges(source[good], target[good], weight[good], settings.mentions)


def _named(nodes: Stage, keys: pa.Array, titles: Titles) -> tuple[Positions, Positions]:
    source: list[int] = []
    title: list[int] = []
    for batch in nodes.batches(["query_id", "text"], _BATCH):
        at = positions_in(keys, batch.column(0)).tolist()
        for node, text in zip(at, batch.column(1).to_pylist(), strict=True):
            numbers = titles.named(text) if node >= 0 else ()
            title.extend(numbers)
            source.extend([node] * len(numbers))
    rows = np.array([source, title], dtype=np.int64).reshape(2, -1)
    rows = rows[:, np.lexsort((rows[1], rows[0]))]
    return rows[0], rows[1]


def ranked_edges(
    source: Positions, target: Positions, weight: Floats, most: int
) -> Iterator[tuple[Positions, Positions, Positions, Floats]]:
    """(source, rank, target, weight) of edges, one for each source and target, the `most` heaviest of each source."""
    order = np.lexsort((-weight, target, source))
    source, target, weight = source[order], target[order], weight[order]
    first = np.ones(len(source), dtype=np.bool_)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    source, target, weight = source[first], target[first], weight[first]
    order = np.lexsort((target, -weight, source))
    source, target, weight = source[order], target[order], weight[order]
    rank = np.arange(len(source)) - np.searchsorted(source, source)
    places = np.flatnonzero(rank < most)
    for start in range(0, len(places), _BATCH):
        part = places[start : start + _BATCH]
        yield source[part], rank[part], target[part], weight[part]
