from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.lexical import Scored
from quern.indexes.served.search_server import SearchServer, SearchServerError
from quern.pipelines.export import export
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.recipes import RECIPES
from quern.pipelines.retrieve.search_server import Part, searched
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings.reading import SettingsError, load_settings
from tests.proxies import Proxy, as_json

ALIAS = "quern-tests"
QUESTIONS = ["How old is the peat beneath Tollen Bridge?", "", "What would a fog warning for Gannet Narrows cost?"]


@dataclass
class Served:
    """A site of the mini-web on a server, and what searches it there."""

    searcher: Searcher
    server: SearchServer
    nearest: bool  # Whether the server searches vectors: the stand-in for OpenSearch does not.


@pytest.fixture
def served(server: SearchServer, built: Path, by_name: bool) -> Served:
    warehouse = Warehouse.open(built)
    snapshot = warehouse.snapshot()
    export(warehouse, snapshot, "chunks", server, ALIAS)
    settings = snapshot.manifest.known_settings().model_copy(update={"elasticsearch": server.settings})
    return Served(Searcher(snapshot, settings), server, server.kind == "elasticsearch" or by_name)


def top(scored: Scored, question: int, most: int = 5) -> list[int]:
    return scored.chunk[scored.question == question][:most].tolist()


def test_the_server_ranks_by_words_as_quern_does(served: Served) -> None:
    batch = Batch(served.searcher, QUESTIONS)
    (found,) = searched(batch, ("bm25",))
    for question in range(len(QUESTIONS)):
        # Lucene keeps the length of a text in one byte, so that near scores may change places.
        same = set(top(found, question)) & set(top(batch.lexical, question))
        assert len(same) >= min(4, len(top(batch.lexical, question))), QUESTIONS[question]


def test_the_server_finds_the_nearest_vectors_and_tells_their_cosines(served: Served) -> None:
    if not served.nearest:
        pytest.skip("this server searches no vectors")
    batch = Batch(served.searcher, QUESTIONS)
    (found,) = searched(batch, ("knn",))
    assert top(found, 0) == top(batch.dense, 0)
    assert np.allclose(
        found.score[found.question == 0][:5], batch.dense.score[batch.dense.question == 0][:5], atol=1e-5
    )


@pytest.mark.parametrize("part", ["bm25", "knn"])
def test_the_server_finds_nothing_that_a_question_filters_out(part: Part, served: Served) -> None:
    if not served.nearest and part == "knn":
        pytest.skip("this server searches no vectors")
    where = [["published_at>=2024-03"], ["published_at<2024-03"], ["site=none"]]
    batch = Batch(served.searcher, ["Do thyme strips work?"] * 3, where)
    (found,) = searched(batch, (part,))
    assert batch.allows(found.question, found.chunk).all()
    assert top(found, 0)
    assert top(found, 1)
    assert top(found, 2) == []


def test_a_fusion_takes_the_server_for_vectors_and_text(served: Served) -> None:
    if not served.nearest:
        pytest.skip("this server searches no vectors")
    own = Batch(served.searcher, QUESTIONS)
    retrieve = served.searcher.settings.retrieve
    by_server = retrieve.model_copy(update={"sources": ("graph", "elasticsearch")})
    settings = served.searcher.settings.model_copy(update={"retrieve": by_server})
    other = Batch(Searcher(served.searcher.snapshot, settings), QUESTIONS)
    ranked, expected = (RECIPES["hybrid"].rank(batch).chunks for batch in (other, own))
    assert len(set(top(ranked, 0)) & set(top(expected, 0))) >= 4
    assert top(RECIPES["bridge"].rank(other).chunks, 0, 1) == top(expected, 0, 1)


def test_another_snapshot_on_the_server_is_an_error(served: Served) -> None:
    (index,) = served.server.indexes(ALIAS).values()
    assert index.about is not None
    other = index.about.model_copy(update={"digests": {"chunks": "0" * 32}})
    served.server.call("PUT", f"/{index.name}/_mapping", {"_meta": other.meta()})
    with pytest.raises(SearchServerError, match=r"quern-tests holds chunks of snapshot .*`quern export` publishes"):
        searched(Batch(served.searcher, QUESTIONS), ("bm25",))


def test_a_search_of_a_part_of_the_index_is_an_error(served: Served, proxy: Proxy) -> None:
    part = {"responses": [{"hits": {"hits": []}, "_shards": {"failed": 1}, "status": 200}]}
    proxy.rule = lambda method, path, body: as_json(part) if "_msearch" in path else None
    with pytest.raises(SearchServerError, match="a search failed"):
        searched(Batch(served.searcher, QUESTIONS[:1]), ("bm25",))


def test_sources_do_not_count_twice() -> None:
    with pytest.raises(SettingsError, match="elasticsearch searches vectors and text: leave these two out"):
        load_settings(None, ["retrieve.sources=[text, elasticsearch]"])
