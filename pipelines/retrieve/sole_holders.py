"""Sole holders: the one document that has a name, a number or most of a question's words comes among those found."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from scipy import sparse

from quern.indexes.lexical import Scored, in_order
from quern.indexes.vectors import Positions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import ranks
from quern.pipelines.retrieve.shared_names import names
from quern.schemas.words.terms import search_terms

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
    question, chunk = _holders(batch)
    chunks = len(batch.graph.chunks.keys)
    rank = ranks(scored, len(batch))
    key, wanted = scored.question * chunks + scored.chunk, question * chunks + chunk
    there = np.isin(wanted, key[rank < settings.top_k])
    question, wanted = question[~there], wanted[~there]
    place = np.full(len(batch), np.nan)
    middle = rank == (settings.top_k + 1) // 2
    place[scored.question[middle]] = scored.score[middle]
    # Where fewer chunks were found than that, all are among the best.
    few = np.isnan(place)
    place[few] = 0.0
    score = np.nextafter(place[question].astype(np.float32), np.float32(np.inf))
    other = ~np.isin(key, wanted)
    return in_order(
        np.concatenate([scored.question[other], question]),
        np.concatenate([scored.chunk[other], wanted % chunks]),
        np.concatenate([scored.score[other], score]),
    )


def _holders(batch: Batch) -> tuple[Positions, Positions]:
    """(question, chunk) of the sole holders, sorted; of a document's chunks the one with most of the words."""
    lexical, asked = batch.graph.lexical, batch.asked
    question = np.repeat(np.arange(len(batch)), np.diff(asked.indptr))
    term = asked.indices.astype(np.int64)
    named = _named(batch)[question, term] > 0 if len(term) else np.empty(0, np.bool_)
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


def _named(batch: Batch) -> sparse.csr_array:
    """Which terms each question has in a name or a number; its first word is capitalised in any case."""
    texts = []
    for question in batch.searched:
        rest = question.strip().partition(" ")[2]
        texts.append(search_terms(*names(rest), *_NUMBER.findall(question)))
    return batch.graph.lexical.asked(texts)
