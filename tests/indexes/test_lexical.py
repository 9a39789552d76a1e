"""BM25 in batches."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.indexes import lexical
from quern.indexes.lexical import K1, B, LexicalIndex

WORDS = ["bridge", "harbour", "mill", "tide", "pylon", "ferry"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=8)


def plain_bm25(texts: list[list[str]], question: list[str]) -> list[float]:
    length = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for term in set(question):
            having = sum(term in t for t in texts)
            idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            count = text.count(term)
            score += idf * count * (K1 + 1) / (count + K1 * (1 - B + B * len(text) / max(length, 1e-9)))
        scores.append(score)
    return scores


@given(TEXTS, st.lists(st.sampled_from(WORDS), max_size=5), st.integers(1, 4))
def test_scores_are_those_of_the_formula_whatever_the_batches(
    texts: list[list[str]], question: list[str], size: int
) -> None:
    lines = [" ".join(t) for t in texts]
    index = LexicalIndex([pa.array(lines[i : i + size], pa.string()) for i in range(0, len(lines), size)])
    found = index.search([" ".join(question)], len(texts))
    expected = {n: s for n, s in enumerate(plain_bm25(texts, question)) if s > 0}
    scores = dict(zip(found.chunk.tolist(), found.score.tolist(), strict=True))
    assert set(scores) == set(expected)
    assert [scores[n] for n in expected] == pytest.approx(list(expected.values()), rel=1e-5)
    assert (np.diff(found.score) <= 0).all()


@given(TEXTS)
def test_an_index_knows_which_text_has_which_term(texts: list[list[str]]) -> None:
    index = LexicalIndex([pa.array([" ".join(t) for t in texts], pa.string())])
    had = sorted({word for text in texts for word in text})
    terms = np.concatenate([index.asked([word]).indices for word in had] or [np.empty(0, np.int64)]).astype(np.int64)
    term, text = np.repeat(np.arange(len(had)), len(texts)), np.tile(np.arange(len(texts)), len(had))
    expected = [had[w] in texts[t] for w, t in zip(term, text, strict=True)]
    assert index.contains(terms[term], text).tolist() == expected
    row, found = index.texts_with(terms)
    assert list(zip(row, found, strict=True)) == [(w, t) for w, t, has in zip(term, text, expected, strict=True) if has]


def test_stems_meet_and_stop_words_find_nothing() -> None:
    index = LexicalIndex([pa.array(["the ferries sailed", None, ""], pa.string())])
    assert index.search(["ferry sailing", "the", "", "unknown"], 5).question.tolist() == [0]


def test_questions_are_taken_in_blocks_without_changing_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [pa.array([f"mill tide{n % 7} pylon{n % 3}" for n in range(50)], pa.string())]
    questions = [f"mill tide{n % 7}" for n in range(20)]
    whole = LexicalIndex(texts).search(questions, 10)
    monkeypatch.setattr(lexical, "_MOST_PRODUCTS", 60)
    parts = LexicalIndex(texts).search(questions, 10)
    assert [a.tolist() for a in (whole.question, whole.chunk, whole.score)] == [
        a.tolist() for a in (parts.question, parts.chunk, parts.score)
    ]
