from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, derive
from quern.jobs.triplets.find import find_triplets
from quern.schemas.settings import GeneratorSettings, TripletSettings
from quern.schemas.tables import CHUNKS, Table
from tests.jobs.tasks.generators.endpoint_server import MODEL, Endpoint, Said

TEXT = "The ferry struck a dredger in fog. Divers have looked at the hull."


def test_what_a_model_says_is_kept_where_all_of_it_stands_in_the_chunk(
    run: Run, staged: Callable[[Table, list[dict[str, Any]]], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    told = [
        {"sentence": 1, "subject": "The ferry", "relation": "struck", "object": "a dredger"},
        {"sentence": 2, "subject": "Divers", "relation": "mended", "object": "the hull"},
    ]
    chunk = {"chunk_id": "d-0", "doc_id": "d", "text": TEXT, "start": 7, "end": 7 + len(TEXT), "token_count": 20}
    row = {**chunk, "terms": "", "title": "Fog", "published_at": datetime(2024, 3, 5, tzinfo=UTC)}
    chunks = staged(CHUNKS.without("vector"), [row])
    with Endpoint(lambda *_: Said(json.dumps({"triplets": told}))).running() as endpoint:
        generator = GeneratorSettings(kind="openai", model=MODEL, url=endpoint.url, tries=1, retries=0)
        made = derive(find_triplets(TripletSettings(by_model=True), generator), chunks, run)
    assert find_triplets(TripletSettings(), generator).by_model is False, (
        "by rule unless a model is wanted for triplets"
    )
    ((triplet,),) = (batch.to_pylist() for batch in made.batches())
    assert (triplet["subject"], triplet["relation"], triplet["object"]) == ("The ferry", "struck", "a dredger")
    assert TEXT[triplet["object_start"] - 7 : triplet["object_end"] - 7] == "a dredger"
    assert run.reports[-1].rejected == 1
