"""What a model finds in chunks: the rows that its reply can show, of events and of triplets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from quern.jobs.core.run import Run, derive
from quern.jobs.events.find import find_events
from quern.jobs.triplets.find import find_triplets
from quern.schemas.settings import EventSettings, TripletSettings
from quern.schemas.tables import CHUNKS
from tests.conftest import Staged
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Said

TEXT = "The ferry struck a dredger on 2 March 2024. Divers have looked at the hull."
EVENTS = [
    {"sentence": 1, "date": "2024-03-02", "title": "A ferry strikes a dredger", "entities": ["Lady Orrin"]},
    {"sentence": 2, "date": "1999-01-01", "title": "Divers look at it", "entities": []},
]
TRIPLETS = [
    {"sentence": 1, "subject": "The ferry", "relation": "struck", "object": "a dredger"},
    {"sentence": 2, "subject": "Divers", "relation": "mended", "object": "the hull"},
]


@pytest.mark.parametrize(
    ("find", "settings", "said", "stated", "span"),
    [
        (find_events, EventSettings, {"events": EVENTS}, ("title", "entities"), ("start", "end", "summary")),
        (
            find_triplets,
            TripletSettings,
            {"triplets": TRIPLETS},
            ("subject", "relation", "object"),
            ("object_start", "object_end", "object"),
        ),
    ],
)
def test_a_model_finds_what_its_reply_can_show(
    find: Any, settings: Any, said: dict[str, Any], stated: list[str], span: list[str], run: Run, staged: Staged
) -> None:
    chunk = {"chunk_id": "d-0", "doc_id": "d", "text": TEXT, "start": 7, "end": 7 + len(TEXT), "token_count": 20}
    row = {**chunk, "terms": "", "title": "Fog", "published_at": datetime(2024, 3, 5, tzinfo=UTC), "utc_offset": None}
    chunks = staged(CHUNKS.without("vector"), [row])
    with Endpoint(lambda *_: Said(json.dumps(said))).running() as endpoint:
        generator = endpoint.generator(tries=1, retries=0)
        made = derive(find(settings(by_model=True), generator), chunks, run, scratch="found")
    assert find(settings(), generator).by_model is False, "by rule unless a model is wanted"
    ((found,),) = (batch.to_pylist() for batch in made.batches())
    ((shown, _),) = said.values()
    assert {name: found[name] for name in stated} == {name: shown[name] for name in stated}
    start, end, text = span
    assert TEXT[found[start] - 7 : found[end] - 7] == found[text]
    assert run.reports[-1].rejected == 1
