"""Names of documents: those that two share, and those, like numbers and rare words, that only one has.

Shared names join documents by a third thing that both name. Of the evidence documents of MuSiQue that one round of
search misses, 85 % are named by no other evidence document: a film and a person both name the director. To ask again
with each name of the best documents finds them, at the price of 25 searches a question; what those searches find is
what holds the name, and that is looked up here at once. The one document that has a name, a number or most of a
question's words, its sole holder, comes among those found.
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

from quern.indexes.lexical import LexicalIndex, Scored, in_order, ranges
from quern.indexes.vectors import Positions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Doubles, ranks
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

    def __init__(self, searcher: Searcher) -> None:
        self._snapshot = searcher.snapshot
        self._names: dict[str, list[str]] = {}

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
    shared = _shared(batch, scored)
    # Of several names that two chunks share the rarest counts, and words are looked up once for two chunks.
    shared = shared.strongest(shared.target, shared.source, shared.question)
    held = left_over(batch, shared.question, shared.source, shared.target)
    shared = replace(shared, strength=shared.strength * (_SURE + (1.0 - _SURE) * held))
    shared = shared.strongest(shared.target, shared.question)
    # What was not found enters with the least score that its question gave.
    chunks = len(batch.graph.chunks.keys)
    least = np.zeros(len(batch), dtype=np.float32)
    np.minimum.at(least, scored.question, scored.score)
    key, gained = scored.question * chunks + scored.chunk, shared.question * chunks + shared.target
    absent = ~np.isin(gained, key)
    key = np.concatenate([key, gained[absent]])
    score = np.concatenate([scored.score, least[shared.question[absent]]]).astype(np.float64)
    order = np.argsort(key)
    at = order[np.searchsorted(key[order], gained)]
    score[at] = below(score[at], settings.weight_names * shared.strength, shared.limit)
    return in_order(key // chunks, key % chunks, score.astype(np.float32))


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


def _shared(batch: Batch, scored: Scored) -> _Joined:
    """The chunks that share a name with the best chunk of one of the best documents of their question."""
    graph, of_chunk = batch.graph, batch.graph.documents.of_chunk
    # The first of each question and document in order of rank is its best chunk.
    pair = scored.question * max(1, len(graph.documents.keys)) + of_chunk[scored.chunk]
    first = np.sort(np.unique(pair, return_index=True)[1])
    rank = np.arange(len(first)) - np.searchsorted(scored.question[first], scored.question[first])
    first, rank = first[rank < _SOURCES], rank[rank < _SOURCES]
    question, chunk = scored.question[first], scored.chunk[first]
    # The names in these chunks and their titles, each with the terms of the index that it has.
    named = batch.searcher.held(ChunkNames).of(graph.chunks.keys.take(pa.array(chunk)).to_pylist())
    number = {name: n for n, name in enumerate(dict.fromkeys(name for own in named for name in own))}
    row = np.repeat(np.arange(len(named)), [len(own) for own in named])
    name = np.array([number[name] for own in named for name in own], dtype=np.int64)
    terms = graph.lexical.asked([search_terms(batch.searcher.form(name)) for name in number])
    common = np.asarray(terms[name].multiply(batch.asked[question[row]]).sum(axis=1)).ravel()
    new = common < np.diff(terms.indptr)[name]  # The question does not have all terms of the name.
    row, name = row[new], name[new]
    starts, holder, rarity = _chunks_with(graph.lexical, terms, of_chunk)
    again, at = ranges(starts[name], starts[name + 1])
    row, target, rare = row[again], holder[at], rarity[name[again]]
    other = (of_chunk[target] != of_chunk[chunk[row]]) & batch.allows(question[row], target)
    row, target, rare = row[other], target[other], rare[other]
    limit = scored.score[first].astype(np.float64)
    return _Joined(question[row], chunk[row], target, rare / (1.0 + rank[row]), limit[row])


def _chunks_with(
    lexical: LexicalIndex, terms: sparse.csr_array, of_chunk: Positions
) -> tuple[Positions, Positions, Doubles]:
    """The chunks with all words of each name; none for names that too many documents have, or only one.

    Returns:
        Where each name's chunks start, shape (names + 1,); the chunks; and log(N / df) / log(N) of each name, shape
        (names,), where df of N documents have it.
    """
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
    total = np.log(max(documents, 2))
    rarity = np.asarray(np.log(max(documents, 2) / np.maximum(df, 1)) / total)
    return np.searchsorted(name, np.arange(count + 1)), chunk, rarity


def below(score: Doubles, gain: Doubles, limit: Doubles) -> Doubles:
    """`score + gain`, but less than `limit` and in the same order below it; never less than `score`."""
    gap = 0.001  # So little that no other chunk is likely to lie between a limit and what stops below it.
    raised, edge = score + gain, limit - gap
    return np.maximum(score, np.where(raised < edge, raised, limit - gap / (1.0 + np.maximum(raised - edge, 0.0))))


def left_over(batch: Batch, question: Positions, source: Positions, target: Positions) -> Doubles:
    """Share of the question's words, weighted by idf, that `target` has of those that `source` lacks; in [0, 1].

    A question of two hops has words for both. Those that the first document lacks are for the second: where nothing is
    left over nothing is to be looked for, and the share is 0. The questions, the chunks found first and those they lead
    to have shape (pairs,).
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


_NUMBER: Final = re.compile(r"\w*\d\w*")
# From this share of a question's words on, weighted by idf, any words will do. Below it, words in lower case that only
# one document has say nothing (of 25 questions over three corpora one was led right), and names do (7 of 8).
_SHARE: Final = 0.5


def surfaced(batch: Batch, scored: Scored) -> Scored:
    """`scored`, where a document that alone has an exact term of the question is among the `retrieve.top_k` best.

    The term is a name or a number, or words that are half of the question. Its best chunk comes after the better half
    of the first `retrieve.top_k`, where it is not there already.
    """
    settings = batch.settings.retrieve
    if "text" not in settings.sources or not len(scored.question):
        return scored
    question, chunk = _sole_holders(batch)
    chunks = len(batch.graph.chunks.keys)
    rank = ranks(scored, len(batch))
    key, pair = scored.question * chunks + scored.chunk, question * chunks + chunk
    there = np.isin(pair, key[rank < settings.top_k])
    question, pair = question[~there], pair[~there]
    place = np.full(len(batch), np.nan)
    middle = rank == (settings.top_k + 1) // 2
    place[scored.question[middle]] = scored.score[middle]
    # Where fewer chunks were found than that, all are among the best.
    few = np.isnan(place)
    place[few] = 0.0
    score = np.nextafter(place[question].astype(np.float32), np.float32(np.inf))
    other = ~np.isin(key, pair)
    return in_order(
        np.concatenate([scored.question[other], question]),
        np.concatenate([scored.chunk[other], pair % chunks]),
        np.concatenate([scored.score[other], score]),
    )


def _sole_holders(batch: Batch) -> tuple[Positions, Positions]:
    """(question, chunk) of the sole holders, sorted; of a document's chunks the one with most of the words."""
    lexical, asked = batch.graph.lexical, batch.asked
    question = np.repeat(np.arange(len(batch)), np.diff(asked.indptr))
    term = asked.indices.astype(np.int64)
    # The first word of a question is capitalised in any case.
    rest = [q.strip().partition(" ")[2] for q in batch.searched]
    exact = [search_terms(*names(r), *_NUMBER.findall(q)) for r, q in zip(rest, batch.searched, strict=True)]
    named = lexical.asked(exact)[question, term] > 0 if len(term) else np.empty(0, np.bool_)
    weight = lexical.idf[term].astype(np.float64)
    share = weight / np.bincount(question, weight, minlength=len(batch))[question]
    # Chunks that overlap hold a word together.
    rare = np.flatnonzero(lexical.having(term) <= 3)
    row, chunk = lexical.texts_with(term[rare])
    row = rare[row]
    document = batch.graph.documents.of_chunk[chunk]
    # A term whose chunks are of several documents has no sole holder.
    first = np.searchsorted(row, row)
    several = np.bincount(row, document != document[first], minlength=len(term)) > 0
    kept = ~several[row] & batch.allows(question[row], chunk)
    row, chunk = row[kept], chunk[kept]
    key = question[row] * len(batch.graph.chunks.keys) + chunk
    pair, of = np.unique(key, return_inverse=True)
    held, names_held = np.bincount(of, share[row]), np.bincount(of, named[row])
    asker, chunk = pair // len(batch.graph.chunks.keys), pair % len(batch.graph.chunks.keys)
    document = batch.graph.documents.of_chunk[chunk]
    order = np.lexsort((chunk, -held, document, asker))
    order = order[(held[order] >= _SHARE) | (names_held[order] > 0)]
    asker, chunk, document = asker[order], chunk[order], document[order]
    best = np.ones(len(order), dtype=np.bool_)
    best[1:] = (asker[1:] != asker[:-1]) | (document[1:] != document[:-1])
    return asker[best], chunk[best]
