"""Selection: chunks that repeat a better one are left out, and a cross-encoder decides the order where there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.indexes.lexical import in_order
from quern.jobs.models.cross_encoder import CrossEncoder
from quern.jobs.models.folders import ModelError
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import deduplicated, selected
from quern.pipelines.retrieve.ranking import Ranking, cut
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import RerankSettings
from tests.tiny_models import write_tiny_cross_encoder

QUESTIONS = ["What struck the dredger?", "Who repaired Tollen Bridge, and when did the trams cross it again?"]


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 0.9]), st.integers(1, 12))
def test_of_chunks_that_are_alike_the_better_stays(seed: int, above: float, depth: int) -> None:
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(10, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scored = in_order(np.repeat([0, 2], 10), np.tile(np.arange(10), 2), draw.random(20).astype(np.float32))
    found = deduplicated(scored, vectors, 3, depth, above)
    for question in (0, 2):
        ranked = scored.chunk[scored.question == question].tolist()
        kept: list[int] = []
        for chunk in ranked[:depth]:
            if all(float(vectors[chunk] @ vectors[other]) <= above for other in kept):
                kept.append(chunk)
        assert found.chunk[found.question == question].tolist() == kept + ranked[depth:]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_cross_encoder(tmp_path_factory.mktemp("cross") / "model")


@pytest.mark.torch
def test_a_score_does_not_depend_on_what_it_is_computed_beside(model: Path) -> None:
    texts = ["The mill.", "A ferry struck the dredger in the narrows. " * 9, "", "A long text. " * 300]
    together = CrossEncoder.load(RerankSettings(model=str(model))).scores(["What?"] * 4, texts)
    alone = CrossEncoder.load(RerankSettings(model=str(model), batch=1))
    assert together.tolist() == pytest.approx([float(alone.scores(["What?"], [t])[0]) for t in texts], abs=1e-6)
    assert len(set(together.tolist())) == 4
    assert CrossEncoder.load(RerankSettings(model=str(model))).scores([], []).tolist() == []


@pytest.mark.torch
def test_the_cross_encoder_ranks_what_the_recipe_found(model: Path, searcher: Searcher) -> None:
    plain = find_recipes("hybrid")[0].rank(Batch(searcher, QUESTIONS))
    chosen = searcher.settings.model_copy(update={"rerank": RerankSettings(model=str(model), depth=7)})
    batch = Batch(Searcher(searcher.snapshot, chosen), QUESTIONS)
    found = selected(batch, Ranking(plain.chunks)).chunks
    best = cut(deduplicated(plain.chunks, batch.graph.chunks.vectors, 2, 14, 0.98), 2, 7)
    assert np.bincount(found.question).tolist() == [7, 7]
    assert set(zip(found.question, found.chunk, strict=True)) == set(zip(best.question, best.chunk, strict=True))
    assert found.chunk.tolist() != best.chunk.tolist()
    assert all((np.diff(found.score[found.question == q]) <= 0).all() for q in (0, 1))


@pytest.mark.torch
def test_a_model_that_cannot_rerank_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"rerank\.model .*: there is no such folder"):
        CrossEncoder.load(RerankSettings(model=str(tmp_path / "none")))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"rerank\.model .*empty"):
        CrossEncoder.load(RerankSettings(model=str(tmp_path / "empty")))
    three = write_tiny_cross_encoder(tmp_path / "three", labels=3)
    with pytest.raises(ModelError, match="tells 3 classes apart"):
        CrossEncoder.load(RerankSettings(model=str(three)))
