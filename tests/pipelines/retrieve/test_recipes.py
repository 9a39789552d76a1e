from __future__ import annotations

import numpy as np
import pytest

from quern.indexes.lexical import Scored, in_order
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import shares, weighted
from quern.pipelines.retrieve.recipes import RECIPES, RecipeError, find_recipes
from quern.pipelines.retrieve.searcher import Searcher


def scored(rows: list[tuple[int, int, float]]) -> Scored:
    question, chunk, score = zip(*rows, strict=True)
    return in_order(np.array(question), np.array(chunk), np.array(score, dtype=np.float32))


def test_a_part_with_weight_zero_changes_nothing_and_a_sum_of_nothing_is_nothing() -> None:
    one, other = scored([(0, 0, 0.9), (0, 1, 0.8)]), scored([(0, 3, 9.0)])
    assert weighted([(one, 1.0), (other, 0.0)], 1, 4).chunk.tolist() == [0, 1]
    empty = Scored(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    assert len(weighted([(empty, 1.0)], 3, 4).chunk) == 0


def test_weights_add_chunk_and_document_and_what_was_not_found_gets_the_least() -> None:
    one = scored([(0, 0, 0.9), (0, 1, 0.5)])
    other = scored([(0, 2, 1.0), (0, 1, 0.4)])
    of_chunk = np.array([0, 0, 1])
    found = weighted([(one, 1.0), (other, 0.5)], 1, 3, of_chunk, lift=0.5)
    ranked = dict(zip(found.chunk.tolist(), found.score.tolist(), strict=True))
    assert ranked[0] == pytest.approx(0.9 + 0.5 * 0.4)
    assert ranked[1] == pytest.approx(0.5 * (0.5 + 0.9) + 0.5 * 0.4)
    assert ranked[2] == pytest.approx(0.5 + 0.5 * 1.0)


def test_shares_are_of_the_best_of_each_question() -> None:
    assert shares(scored([(0, 0, 8.0), (0, 1, 2.0), (2, 1, 5.0)]), 3).score.tolist() == [1.0, 0.25, 1.0]


@pytest.mark.long
def test_every_recipe_ranks_the_mini_web_and_most_find_what_is_asked(searcher: Searcher) -> None:
    batch = Batch(searcher, ["Who repaired the suspension bridge?", "", "听澜台在哪里？"])
    for recipe in RECIPES.values():
        ranking = recipe.rank(batch)
        found = ranking.chunks
        assert set(found.question.tolist()) <= {0, 1, 2}, recipe.name
        assert 0 in found.question, recipe.name
        pairs = list(zip(found.question.tolist(), found.chunk.tolist(), strict=True))
        assert len(pairs) == len(set(pairs)), recipe.name
        assert (np.diff(found.question) >= 0).all(), recipe.name


def test_an_unknown_recipe_names_the_known_ones() -> None:
    with pytest.raises(RecipeError, match="no recipe 'bm24'; did you mean bm25"):
        find_recipes("dense,bm24")
    assert [r.name for r in find_recipes("qcg,dense,qcg")] == ["qcg", "dense"]
