"""Full-text search over chunks: BM25 (Robertson and Walker 1994), batched as sparse matrix products.

Words were cut when chunks were made (`schemas.words.terms`); here they are stemmed, and English stop words left out,
on both sides alike. Memory: 8 bytes for each different word of each chunk, and the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import snowballstemmer
from scipy import sparse

from quern.indexes.vectors import Floats, Positions
from quern.schemas.words.terms import STOP_WORDS

K1: Final = 1.2
B: Final = 0.75
# Products that are held at a time: questions are taken in blocks of about so many.
_MOST_PRODUCTS: Final = 20_000_000


@dataclass(frozen=True)
class Scored:
    """(question, chunk, score) triples; arrays of one length, sorted by question, best first, ties by chunk."""

    question: Positions
    chunk: Positions
    score: Floats


def in_order(question: Positions, chunk: Positions, score: Floats) -> Scored:
    """The triples sorted by question, then best first, ties by chunk."""
    order = np.lexsort((chunk, -score, question))
    return Scored(question[order], chunk[order], score[order])


class LexicalIndex:
    """BM25 weights of texts that are cut into words, separated by single spaces."""

    def __init__(self, texts: Iterable[pa.Array]) -> None:
        """Args: `texts` in the order of their positions, in batches; null and blank ones are found by nothing."""
        self._stem = snowballstemmer.stemmer("english").stemWord
        self._words: dict[str, int] = {}
        self._terms: dict[str, int] = {}
        parts = [self._counted(batch) for batch in texts]
        for matrix in parts:
            matrix.resize((matrix.shape[0], len(self._terms)))
        empty = sparse.csr_array((0, 0), dtype=np.float32)
        counts = sparse.vstack(parts, format="csr") if parts else empty  # Shape (texts, terms).
        counts.sum_duplicates()
        number = counts.shape[0]
        length = np.asarray(counts.sum(axis=1)).ravel()
        idf = _idf(np.bincount(counts.indices, minlength=counts.shape[1]), number)
        row = np.repeat(np.arange(number), np.diff(counts.indptr))
        norm = K1 * (1.0 - B + B * length / max(float(length.mean()) if number else 1.0, 1e-9))
        weights = idf[counts.indices] * counts.data * (K1 + 1.0) / (counts.data + norm[row])
        weighted = sparse.csr_array((weights.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)
        # Terms x texts: a question's terms pick rows.
        self._found_by = weighted.T.tocsr()
        self._found_by.sort_indices()
        having = np.diff(self._found_by.indptr)
        self.idf: Floats = _idf(having, self._found_by.shape[1]).astype(np.float32)

    def _counted(self, texts: pa.Array) -> sparse.csr_array:
        """How often each text has each term, shape (texts, terms so far)."""
        split = pc.split_pattern(pc.fill_null(texts, ""), " ")
        lengths = pc.list_value_length(split).to_numpy(zero_copy_only=False)
        words = split.flatten().dictionary_encode()
        terms = np.array([self._term(word) for word in words.dictionary.to_pylist()], dtype=np.int64)
        term = terms[words.indices.to_numpy()] if len(words) else np.empty(0, np.int64)
        text = np.repeat(np.arange(len(texts)), lengths)
        mask = term >= 0
        ones = np.ones(int(mask.sum()), dtype=np.float32)
        return sparse.csr_array((ones, (text[mask], term[mask])), shape=(len(texts), len(self._terms)))

    def _term(self, word: str) -> int:
        """The number of a word's stem, a new one where it is new; -1 for a stop word."""
        number = self._words.get(word)
        if number is None:
            blank = not word or word in STOP_WORDS
            number = -1 if blank else self._terms.setdefault(self._stem(word), len(self._terms))
            self._words[word] = number
        return number

    def _number(self, word: str) -> int:
        """The number of a word's stem; -1 where no text has it, or it is a stop word."""
        number = self._words.get(word)
        if number is None:
            return -1 if word in STOP_WORDS else self._terms.get(self._stem(word), -1)
        return number

    def frequency(self, word: str) -> int:
        """Texts that have a word with the stem of `word`."""
        term = self._number(word)
        return 0 if term < 0 else int(self._found_by.indptr[term + 1] - self._found_by.indptr[term])

    def search(
        self,
        questions: Sequence[str],
        depth: int,
        allows: Callable[[Positions, Positions], npt.NDArray[np.bool_]] | None = None,
    ) -> Scored:
        """The `depth` best texts of each question; blank questions find nothing.

        Args:
            questions: Words of each question, separated by single spaces (`schemas.words.terms.search_terms`).
            depth: Most texts of a question.
            allows: Whether text n may be found for question n, of arrays of both; by default all may.
        """
        queries = self.asked(questions)
        cost = np.asarray(queries @ np.diff(self._found_by.indptr).astype(np.float64))
        block = np.floor(np.cumsum(cost) / _MOST_PRODUCTS).astype(np.int64)
        blocks = [self._block(queries, np.flatnonzero(block == n), depth, allows) for n in np.unique(block)]
        none = [Scored(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))]
        parts = blocks or none
        return Scored(*(np.concatenate([getattr(p, f) for p in parts]) for f in ("question", "chunk", "score")))

    def asked(self, questions: Sequence[str]) -> sparse.csr_array:
        """Which terms each question has, each once, shape (questions, terms); terms that no text has are left out."""
        terms = [np.unique([self._number(w) for w in q.split()] or [-1]) for q in questions]
        row = np.repeat(np.arange(len(terms)), [len(t) for t in terms])
        column = np.concatenate(terms) if terms else np.empty(0, np.int64)
        mask = column >= 0
        ones = np.ones(int(mask.sum()), dtype=np.float32)
        return sparse.csr_array((ones, (row[mask], column[mask])), shape=(len(questions), self._found_by.shape[0]))

    def texts_with(self, term: Positions) -> tuple[Positions, Positions]:
        """(n, text) of all texts that have the term `term[n]`, sorted."""
        row, place = ranges(self._found_by.indptr[term], self._found_by.indptr[term + 1])
        return row, self._found_by.indices[place].astype(np.int64)

    def having(self, term: Positions) -> Positions:
        """How many texts have each of the terms, shape as `term`."""
        frequency: Positions = np.diff(self._found_by.indptr)[term].astype(np.int64)
        return frequency

    def contains(self, term: Positions, text: Positions) -> npt.NDArray[np.bool_]:
        """Whether the text `text[n]` has the term `term[n]`: a binary search of all pairs at once, shape as `term`."""
        low = self._found_by.indptr[term].astype(np.int64)
        end = self._found_by.indptr[term + 1].astype(np.int64)
        high, texts = end.copy(), self._found_by.indices
        for _ in range(int((high - low).max(initial=0)).bit_length()):
            middle = (low + high) // 2
            open_ = low < high
            below = open_ & (texts[np.where(open_, middle, 0)] < text)
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        contained: npt.NDArray[np.bool_] = (low < end) & (texts[np.where(low < end, low, 0)] == text)
        return contained

    def _block(
        self,
        queries: sparse.csr_array,
        rows: Positions,
        depth: int,
        allows: Callable[[Positions, Positions], npt.NDArray[np.bool_]] | None,
    ) -> Scored:
        scores = (queries[rows] @ self._found_by).tocoo()
        question, text, score = rows[scores.row], scores.col.astype(np.int64), scores.data
        if allows is not None:
            may = allows(question, text)
            question, text, score = question[may], text[may], score[may]
        scored = in_order(question, text, score)
        rank = np.arange(len(scored.question)) - np.searchsorted(scored.question, scored.question)
        best = rank < depth
        return Scored(scored.question[best], scored.chunk[best], scored.score[best])


def ranges(starts: Positions, stops: Positions) -> tuple[Positions, Positions]:
    """All numbers of the ranges from `starts` to `stops`, each with the number of its range."""
    lengths = (stops - starts).astype(np.int64)
    row = np.repeat(np.arange(len(starts)), lengths)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(starts, lengths)


def _idf(having: Positions, texts: int) -> npt.NDArray[np.float64]:
    """BM25's weight of terms that `having` of `texts` texts have."""
    return np.asarray(np.log1p((texts - having + 0.5) / (having + 0.5)))
