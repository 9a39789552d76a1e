"""Shared names: documents joined by a third thing that both name.

Of the evidence documents of MuSiQue that one round of search misses, 85 % are named by no other evidence document: a
film and a person both name the director. To ask again with each name of the best documents finds them, at the price of
25 searches a question; what those searches find is what holds the name, and that is looked up here at once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
from scipy import sparse

from quern.indexes.catalog.folder import Snapshot
from quern.indexes.lexical import LexicalIndex, Scored, in_order, ranges
from quern.indexes.vectors import Positions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Doubles
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.words.terms import search_terms

# Capitals of all scripts that have them: `re` has no class for these.
_CAPITALS: Final = "".join(c for c in map(chr, range(0x10000)) if c.isupper() or c.istitle())
_PART: Final = rf"[{re.escape(_CAPITALS)}][\w’'-]*"
# Words that stand inside names in lower case, in the languages of Europe.
_INSIDE: Final = "of|the|and|de|la|le|du|des|di|da|do|dos|del|della|der|den|von|van|zu|al|el|bin|ibn|y"
_NAME: Final = re.compile(rf"\b{_PART}(?:[ \t]+(?:(?:{_INSIDE})[ \t]+){{0,2}}{_PART})*")


def names(text: str) -> list[str]:
    """The names in `text`, each once: longest runs of capitalised words, with what joins these.

    A capitalised word at the start of a sentence is one too: that it is none shows in how many documents have it.
    """
    return list(dict.fromkeys(_NAME.findall(text)))


class ChunkNames:
    """Names of the chunks of a snapshot, read when they are first asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._names: dict[str, list[str]] = {}

    @classmethod
    def of_searcher(cls, searcher: Searcher) -> ChunkNames:
        """Those of a searcher's snapshot."""
        return cls(searcher.snapshot)

    def of(self, chunks: Sequence[str]) -> list[list[str]]:
        """The names of each chunk and its title, by the chunks' keys."""
        missing = sorted(set(chunks) - self._names.keys())
        # Chunks whose names are kept in memory, some 1 kB each.
        if len(self._names) + len(missing) > 50_000:
            self._names.clear()
            missing = sorted(set(chunks))
        rows = self._snapshot.table("chunks").lookup("chunk_id", missing, ["chunk_id", "title", "text"])
        for row in rows.to_pylist():
            self._names[row["chunk_id"]] = [sys.intern(n) for n in names(f"{row['title'] or ''}\n{row['text']}")]
        return [self._names[chunk] for chunk in chunks]


# Documents of a question that others are joined to: 3 to 10 made no difference on MuSiQue or LiHua-World.
_SOURCES: Final = 6
# A name that more documents have joins none of them in particular: 20 to 150 made no difference to MuSiQue.
_MOST_DOCUMENTS: Final = 60
_MOST_CHUNKS: Final = 4 * _MOST_DOCUMENTS
# Part of a gain that does not depend on what the document holds of the question. Of 0, .1, .2, .3, .5 and 1: at .2 or
# less LiHua-World, which needs no such hop, does not lose; at 1 it loses .02.
_SURE: Final = 0.2


def with_shared_names(batch: Batch, scored: Scored) -> Scored:
    """`scored`, where chunks gain that share a name with one of the best documents.

    A chunk gains `retrieve.weight_names` x the name's rarity, log(N / df) / log(N) over documents, / the rank of the
    document that it shares the name with; less where it holds nothing of the question's words which that one lacks. It
    does not get above that one. Names of which the question has all words are left out.
    """
    settings = batch.settings.retrieve
    if not settings.weight_names or "text" not in settings.sources or not len(scored.question):
        return scored
    shared = _shared(batch, _best_chunks(batch, scored))
    # Of several names that two chunks share the rarest counts, and words are looked up once for two chunks.
    shared = shared.strongest(shared.target, shared.source, shared.question)
    held = left_over(batch, shared.question, shared.source, shared.target)
    shared = replace(shared, strength=shared.strength * (_SURE + (1.0 - _SURE) * held))
    return _raised(batch, scored, shared.strongest(shared.target, shared.question), settings.weight_names)


@dataclass(frozen=True)
class _Best:
    """The best chunk of each of the best documents of each question; arrays of one length."""

    question: Positions
    chunk: Positions
    rank: Positions
    score: Doubles


@dataclass(frozen=True)
class _Joined:
    """Chunks that share a name with one of the best; arrays of one length."""

    question: Positions  # Position of the question.
    source: Positions  # The chunk that was found.
    target: Positions  # The chunk that shares a name with it.
    strength: Doubles  # Rarity of the name over the rank of the source's document, in [0, 1].
    limit: Doubles  # Score of the source.

    def strongest(self, *keys: Positions) -> _Joined:
        """The strongest of all that have the same keys, sorted by the keys, the last of them first."""
        order = np.lexsort((self.source, -self.strength, *keys))
        ordered = [key[order] for key in keys]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = np.any([key[1:] != key[:-1] for key in ordered], axis=0)
        return _Joined(*(column[order[new]] for column in vars(self).values()))


def _best_chunks(batch: Batch, scored: Scored) -> _Best:
    """The best chunk of each of the best documents of each question."""
    documents = batch.graph.documents
    pair = scored.question * max(1, len(documents.keys)) + documents.of_chunk[scored.chunk]
    # The first of each question and document in order of rank is its best chunk.
    first = np.sort(np.unique(pair, return_index=True)[1])
    question = scored.question[first]
    rank = np.arange(len(first)) - np.searchsorted(question, question)
    first, rank = first[rank < _SOURCES], rank[rank < _SOURCES]
    return _Best(scored.question[first], scored.chunk[first], rank, scored.score[first].astype(np.float64))


def _shared(batch: Batch, best: _Best) -> _Joined:
    graph = batch.graph
    named = _named(batch.searcher, best.chunk)
    row, place = ranges(named.of_chunk.indptr[:-1], named.of_chunk.indptr[1:])
    name = named.of_chunk.indices[place].astype(np.int64)
    new = ~_within(named.terms, name, batch.asked, best.question[row])
    row, name = row[new], name[new]
    held = _holders(graph.lexical, named.terms, graph.documents.of_chunk)
    again, at = ranges(held.starts[name], held.starts[name + 1])
    row, target, rarity = row[again], held.chunk[at], held.rarity[name[again]]
    other = graph.documents.of_chunk[target] != graph.documents.of_chunk[best.chunk[row]]
    other &= batch.allows(best.question[row], target)
    row, target, rarity = row[other], target[other], rarity[other]
    strength = rarity / (1.0 + best.rank[row])
    return _Joined(best.question[row], best.chunk[row], target, strength, best.score[row])


@dataclass(frozen=True)
class _Named:
    """Names of chunks."""

    of_chunk: sparse.csr_array  # Which names each chunk has, shape (chunks given, names).
    terms: sparse.csr_array  # Which terms of the index each name has, shape (names, terms).


def _named(searcher: Searcher, chunk: Positions) -> _Named:
    """The names in each of the chunks and their titles."""
    rows = searcher.held(ChunkNames.of_searcher).of(searcher.graph.chunks.keys.take(pa.array(chunk)).to_pylist())
    number: dict[str, int] = {}
    columns = [number.setdefault(name, len(number)) for row in rows for name in row]
    starts = np.cumsum([0, *map(len, rows)])
    of_chunk = sparse.csr_array((np.ones(len(columns), np.bool_), columns, starts), shape=(len(rows), len(number)))
    return _Named(of_chunk, searcher.graph.lexical.asked([search_terms(searcher.form(name)) for name in list(number)]))


def _within(terms: sparse.csr_array, name: Positions, asked: sparse.csr_array, question: Positions) -> Positions:
    """Whether the question `question[n]` has all terms of the name `name[n]`, shape as `name`."""
    common = np.asarray(terms[name].multiply(asked[question]).sum(axis=1)).ravel()
    return np.asarray(common >= np.diff(terms.indptr)[name])


@dataclass(frozen=True)
class _Holders:
    """The chunks that have each name."""

    starts: Positions  # Where each name's chunks start in `chunk`, shape (names + 1,).
    chunk: Positions  # The chunks.
    rarity: Doubles  # log(N / df) / log(N) of each name, shape (names,); df of N documents have it.


def _holders(lexical: LexicalIndex, terms: sparse.csr_array, of_chunk: Positions) -> _Holders:
    """The chunks with all words of a name; none for names that too many documents have, or only one."""
    count = terms.shape[0]
    row = np.repeat(np.arange(count), np.diff(terms.indptr))
    term = terms.indices.astype(np.int64)
    having = lexical.having(term)
    order = np.lexsort((having, row))
    row, term, having = row[order], term[order], having[order]
    nth = np.arange(len(row)) - np.searchsorted(row, row)
    rarest = (nth == 0) & (having <= _MOST_CHUNKS)
    at, chunk = lexical.texts_with(term[rarest])
    name = row[rarest][at]
    # By the place of a word in its name: at most as many times as the longest name has words.
    for place in range(1, int(nth.max(initial=0)) + 1):
        next_term = np.full(count, -1, dtype=np.int64)
        next_term[row[nth == place]] = term[nth == place]
        wanted = next_term[name]
        has = (wanted < 0) | lexical.contains(np.maximum(wanted, 0), chunk)
        name, chunk = name[has], chunk[has]
    documents = int(of_chunk.max(initial=0)) + 1
    df = np.bincount(np.unique(name * documents + of_chunk[chunk]) // documents, minlength=count)
    kept = ((df >= 2) & (df <= _MOST_DOCUMENTS))[name]
    name, chunk = name[kept], chunk[kept]
    starts = np.searchsorted(name, np.arange(count + 1))
    total = np.log(max(documents, 2))
    return _Holders(starts, chunk, np.asarray(np.log(max(documents, 2) / np.maximum(df, 1)) / total))


def _raised(batch: Batch, scored: Scored, joined: _Joined, weight: float) -> Scored:
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


def below(score: Doubles, gain: Doubles, limit: Doubles) -> Doubles:
    """`score + gain`, but less than `limit` and in the same order below it; never less than `score`."""
    gap = 0.001  # So little that no other chunk is likely to lie between a limit and what stops below it.
    raised, edge = score + gain, limit - gap
    return np.maximum(score, np.where(raised < edge, raised, limit - gap / (1.0 + np.maximum(raised - edge, 0.0))))


def left_over(batch: Batch, question: Positions, source: Positions, target: Positions) -> Doubles:
    """Share of the question's words, weighted by idf, that `target` has of those that `source` lacks; in [0, 1].

    A question of two hops has words for both. Those that the first document lacks are for the second: where nothing is
    left over nothing is to be looked for, and the share is 0.

    Args:
        batch: The questions.
        question: Position of the question, shape (pairs,).
        source: Chunk that was found first, shape (pairs,).
        target: Chunk that it leads to, shape (pairs,).
    """
    lexical, asked = batch.graph.lexical, batch.asked
    chunks = len(batch.graph.chunks.keys)
    distinct, of_pair = np.unique((question * chunks + source) * chunks + target, return_inverse=True)
    asker, first, second = distinct // chunks // chunks, distinct // chunks % chunks, distinct % chunks
    row, place = ranges(asked.indptr[asker], asked.indptr[asker + 1])
    term = asked.indices[place].astype(np.int64)
    lacking = ~lexical.contains(term, first[row])
    row, term = row[lacking], term[lacking]
    weight = lexical.idf[term].astype(np.float64)
    left = np.bincount(row, weight, minlength=len(distinct))
    held = np.bincount(row, weight * lexical.contains(term, second[row]), minlength=len(distinct))
    return np.asarray((held / np.where(left > 0, left, 1.0))[of_pair], dtype=np.float64)
