"""The rounds of GGatrieval over the sample corpus, and how they end."""

from __future__ import annotations

from itertools import pairwise

from quern.indexes.lexical import Scored
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import load_evidence
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.recipes import RECIPES
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings.reading import load_settings

QUESTIONS = [
    "When was the lamp of Pell Head lit?",
    "Who is the captain of the Lady Orrin?",
    "Which dragon sleeps below the harbour of Casterby?",
    "?",
]


def ranked(searcher: Searcher, *overrides: str, where: tuple[str, ...] = ()) -> tuple[Batch, Ranking]:
    settings = load_settings(None, list(overrides), searcher.settings)
    asked = Searcher(searcher.snapshot, settings)
    asked.graph = searcher.graph
    batch = Batch(asked, QUESTIONS, [list(where)] * len(QUESTIONS))
    return batch, RECIPES["ggatrieval"].rank(batch)


def triples(found: Scored) -> list[tuple[int, int, float]]:
    return list(zip(found.question.tolist(), found.chunk.tolist(), found.score.tolist(), strict=True))


def test_rounds_are_told_with_why_they_ended_and_are_the_same_again(searcher: Searcher) -> None:
    batch, ranking = ranked(searcher)
    assert ranking.searches is not None
    for search, found in zip(ranking.searches, load_evidence(batch, ranking), strict=True):
        assert 1 <= len(search.rounds) <= batch.settings.ggatrieval.rounds
        assert search.stop in ("verified", "rounds", "same_candidates", "no_queries")
        assert found.search == search
        last = search.rounds[-1]
        assert [h.chunk_id for h in found.hits[:1]] == last.kept[:1]
        assert len(last.kept) <= batch.settings.ggatrieval.keep
    assert triples(ranked(searcher)[1].chunks) == triples(ranking.chunks)
    # Whoever merges chunks of several questions does so by their scores.
    of_first = [score for question, _, score in triples(ranking.chunks) if question == 0]
    assert all(a >= b for a, b in pairwise(of_first))


def test_no_round_finds_what_the_conditions_leave_out(searcher: Searcher) -> None:
    batch, ranking = ranked(searcher, where=("site=tidewiki.example",))
    assert len(ranking.chunks.chunk)
    assert batch.allows(ranking.chunks.question, ranking.chunks.chunk).all()
    assert not len(ranked(searcher, where=("site=nowhere.example",))[1].chunks.chunk)
