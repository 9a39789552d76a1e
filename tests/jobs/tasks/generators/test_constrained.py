"""The whole way with a real model, though a random one: prompt, constrained decoding, endpoint, checks, rows."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run
from quern.schemas.settings import Doc2QuerySettings
from quern.schemas.tables import Table
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Said
from tests.jobs.tasks.generators.test_endpoint import CHUNKS, chunks, next_night, of, rejected, written
from tests.jobs.tasks.generators.tiny_model import TinyModel

pytestmark = pytest.mark.torch

Staged = Callable[[Table, list[dict[str, Any]]], Stage]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    return TinyModel(tmp_path_factory.mktemp("tiny"))


def test_a_model_held_to_the_schema_is_never_malformed_and_one_that_is_not_always_is(
    run: Run, staged: Staged, tiny: TinyModel, tmp_path: Path
) -> None:
    one_at_a_time = threading.Lock()

    def script(number: int, body: dict[str, Any]) -> Said:
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        with one_at_a_time:
            text, cut_off, *_ = tiny.chat(body["messages"], schema, body["max_tokens"], seed=number)
        return Said(text, finish="length" if cut_off else "stop")

    with Endpoint(script).running() as endpoint:
        source = staged(CHUNKS, chunks(3))
        held = of(endpoint, retries=0, max_tokens=160, concurrency=1, timeout=60)
        # A random model grounds nothing, so for once nothing is asked of the answers.
        rows = written(run, source, held, Doc2QuerySettings(groundedness=0))
        reasons = Counter(reason for _, reason, _ in rejected(run))
        assert rows
        assert all(row["question"] and row["answer"] for row in rows)
        assert "malformed" not in reasons
        assert "no_reply" not in reasons
        strict, free = next_night(run, tmp_path), next_night(run, tmp_path / "free")
        assert written(strict, source, held, Doc2QuerySettings()) == []
        assert Counter(reason for _, reason, _ in rejected(strict))["ungrounded"] >= 1
        assert written(free, source, held.model_copy(update={"response_format": "none"}), Doc2QuerySettings()) == []
        assert {reason for _, reason, _ in rejected(free)} <= {"malformed", "cut_off"}
