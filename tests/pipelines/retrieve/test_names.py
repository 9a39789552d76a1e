"""Names in texts, documents that share one, and the one document that has an exact term."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from quern.indexes.graph import Documents, Keyed, QueryGraph
from quern.indexes.lexical import LexicalIndex, Scored, in_order
from quern.jobs.text.search_form import SearchForm
from quern.pipelines.retrieve import names as names_module
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.names import names, surfaced, with_shared_names
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import NormaliseSettings
from quern.schemas.settings.reading import load_settings
from quern.schemas.words.terms import search_terms

TEXTS = (
    "Jump for Glory is a film of 1937 that Raoul Walsh directed.",
    "Betrayed is a silent drama by Raoul Walsh with his wife, the actress Miriam Cooper.",
    "Raoul Walsh grew up in New York.",
    "The mill at Ebsworth burned down; who jumped into the pond for glory is not known.",
    "A spouse is a husband or a wife.",
)


class Texts:
    """The names of texts that are at hand, in place of a snapshot's."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    def of(self, chunks: Sequence[str]) -> list[list[str]]:
        return [names(self.texts[int(chunk)]) for chunk in chunks]


def asked(question: str, texts: Sequence[str] = TEXTS, owner: Sequence[int] = (), *overrides: str) -> Batch:
    """A batch of one question over `texts`, a chunk and a document each unless `owner` says which document."""
    searcher, graph = Searcher.__new__(Searcher), QueryGraph.__new__(QueryGraph)
    keys = pa.array([f"{n}" for n in range(len(texts))])
    documents = np.array(owner or range(len(texts)))
    graph.__dict__ |= {
        "chunks": Keyed(keys, np.eye(len(texts), dtype=np.float32), np.arange(len(texts))),
        "documents": Documents(pa.array([f"d{n}" for n in range(documents.max() + 1)]), documents),
        "lexical": LexicalIndex([pa.array([search_terms(t) for t in texts])]),
    }
    searcher.graph, searcher.settings = graph, load_settings(overrides=overrides)
    searcher.__dict__ |= {"form": SearchForm(NormaliseSettings()), "held": lambda *_: Texts(texts)}
    return Batch(searcher, [question])


def scores(*rows: tuple[int, float]) -> Scored:
    chunk, score = zip(*rows, strict=True)
    return in_order(np.zeros(len(rows), np.int64), np.array(chunk), np.array(score, np.float32))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the director Raoul Walsh, born in New York", ["Raoul Walsh", "New York"]),
        ("the Bank of England and the mill", ["Bank of England"]),
        ("Élodie van der Berg and Đặng", ["Élodie van der Berg and Đặng"]),
        ("nothing of 1937 here", []),
    ],
)
def test_names_are_runs_of_capitalised_words(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_document_that_shares_a_name_and_holds_what_is_left_of_the_question_gains_most() -> None:
    batch = asked("Who is the wife of the director of Jump for Glory?")
    found = with_shared_names(batch, scores((0, 0.9), (3, 0.6), (2, 0.0)))
    gained = dict(zip(found.chunk.tolist(), found.score.tolist(), strict=True))
    assert gained[1] > gained[2] > 0, "both name Raoul Walsh, and one of them has a wife"
    assert gained[3] == pytest.approx(0.6)
    assert found.chunk[0] == 0


def test_a_name_of_the_question_joins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scores((0, 0.9), (3, 0.6))
    assert with_shared_names(asked("Which film did Raoul Walsh direct?"), found).chunk.tolist() == [0, 3]
    monkeypatch.setattr(names_module, "_MOST_DOCUMENTS", 2)
    assert with_shared_names(asked("Whose film is Jump for Glory?"), found).chunk.tolist() == [0, 3], "too many have it"


def test_the_only_document_with_a_name_of_the_question_comes_among_the_best() -> None:
    many = [f"page {n} about a cat and its mill" for n in range(8)]
    texts = [*many, "Bosun keeps the harbour"]
    found = scores(*((n, 1 - n / 10) for n in range(9)))
    assert surfaced(asked("Where does the cat called Bosun live?", texts), found).chunk.tolist()[:5].count(8) == 1
    assert surfaced(asked("bosun", texts), found).chunk.tolist()[:5].count(8) == 1, "it is the whole question"
    lower = surfaced(asked("where at the mill of page 3 can a cat keep warm", texts), found)
    assert lower.chunk.tolist() == found.chunk.tolist(), "one word of many, and no name"


def test_of_a_documents_chunks_that_overlap_one_is_brought_up() -> None:
    texts = [*(f"page {n} of the mill" for n in range(8)), "the mill of Bosun", "Bosun the cat", "the weather"]
    found = scores(*((n, 1 - n / 20) for n in range(11)))
    best = surfaced(asked("Where is the cat Bosun?", texts, [*range(8), 8, 8, 9]), found).chunk.tolist()[:5]
    assert 9 in best
    assert 8 not in best
