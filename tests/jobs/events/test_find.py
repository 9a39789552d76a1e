from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, derive
from quern.jobs.events.find import find_events
from quern.schemas.settings import EventSettings, GeneratorSettings
from quern.schemas.tables import CHUNKS, Table
from tests.jobs.tasks.generators.endpoint_server import MODEL, Endpoint, Said

TEXT = "The ferry struck a dredger on 2 March 2024. Divers have looked at the hull."


def test_a_model_finds_the_events_that_its_reply_can_show(
    run: Run, staged: Callable[[Table, list[dict[str, Any]]], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    told = [
        {"sentence": 1, "date": "2024-03-02", "title": "A ferry strikes a dredger", "entities": ["Lady Orrin"]},
        {"sentence": 2, "date": "1999-01-01", "title": "Divers look at it", "entities": []},
    ]
    chunk = {"chunk_id": "d-0", "doc_id": "d", "text": TEXT, "start": 7, "end": 7 + len(TEXT), "token_count": 20}
    row = {**chunk, "terms": "", "title": "Fog", "published_at": datetime(2024, 3, 5, tzinfo=UTC), "utc_offset": None}
    chunks = staged(CHUNKS.without("vector"), [row])
    with Endpoint(lambda *_: Said(json.dumps({"events": told}))).running() as endpoint:
        generator = GeneratorSettings(kind="openai", model=MODEL, url=endpoint.url, tries=1, retries=0)
        made = derive(find_events(EventSettings(by_model=True), generator), chunks, run, scratch="found")
    assert find_events(EventSettings(), generator).by_model is False, "by rule unless a model is wanted for events"
    ((event,),) = (batch.to_pylist() for batch in made.batches())
    assert (event["timex"], event["title"], event["entities"]) == ("2024-03-02", told[0]["title"], ["Lady Orrin"])
    assert TEXT[event["start"] - 7 : event["end"] - 7] == event["summary"]
    assert run.reports[-1].rejected == 1
