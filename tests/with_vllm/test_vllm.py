"""The real vLLM, on a processor, with a tiny model of random weights: `make test-vllm`, in its own environment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm", reason="vLLM has an environment of its own: make test-vllm")

from quern.indexes.catalog import Warehouse
from quern.jobs.engines import ray as engines_ray
from quern.jobs.engines.ray import RayEngine
from quern.jobs.tasks.generators.contract import GeneratorError
from quern.jobs.tasks.generators.vllm import VllmBackend
from quern.pipelines.build.whole import build
from quern.schemas.settings import EngineSettings, GeneratorSettings
from quern.schemas.settings.reading import load_settings
from tests.jobs.tasks.generators.test_local import asked
from tests.tiny_models import write_tiny_llama


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("model"))


@pytest.fixture
def ray() -> Iterator[RayEngine]:
    engine = RayEngine(EngineSettings())
    yield engine
    engine.close()


def on_processor(model: Path, **settings: Any) -> GeneratorSettings:
    given = {"temperature": 1.0, "seed": 3, "max_tokens": 200, "max_model_len": 1024, **settings}
    return GeneratorSettings(kind="vllm", model=str(model), device="cpu", dtype="float32", **given)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_random_model_is_held_to_the_schema_and_a_prompt_too_long_costs_only_its_row(
    model: Path, tmp_path: Path, ray: RayEngine, replicas: int
) -> None:
    backend = VllmBackend(on_processor(model, replicas=replicas, batch=2), tmp_path / "requests", ray)
    backend.prepare()
    replies = asked(backend, "What is it?", "And this?", "word " * 3000, "The last one?", "")
    assert sorted(replies) == [0, 1, 2, 3, 4]
    assert replies[2].error
    assert replies[2].text == ""
    for row in (0, 1, 3, 4):
        said = json.loads(replies[row].text, strict=False)  # its grammars let raw control characters through
        assert set(said) == {"word", "sure"}
        assert isinstance(said["sure"], bool)
        assert len(said["word"]) <= 12
        assert replies[row].prompt_tokens > 0
        assert 0 < replies[row].output_tokens < 200
        assert not replies[row].cut_off
    assert not (tmp_path / "requests").exists()
    assert all(not replies[row].tokens for row in replies)
    copies = list(ray.call(_kept))
    assert len(copies) == replicas

    again = asked(backend, "Are you still there?", tokens=True)[0]
    assert list(ray.call(_kept)) == copies  # The model is loaded once for all calls of a run.
    assert "".join(token for token, _ in again.tokens).startswith(again.text)
    assert all(chance <= 0 for _, chance in again.tokens)


def _kept(_items: object, say: Callable[[Any], None]) -> None:
    """Says the actors that are kept in the process that drives Ray."""
    for actors in engines_ray._held.values():
        for actor in actors:
            say(actor._actor_id.hex())


def test_a_reply_that_may_not_end_is_cut_off_and_says_so(model: Path, tmp_path: Path, ray: RayEngine) -> None:
    backend = VllmBackend(on_processor(model, max_tokens=3), tmp_path / "requests", ray)
    assert asked(backend, "What is it?")[0].cut_off


def test_a_model_that_gives_no_reply_ends_the_job(model: Path, tmp_path: Path, ray: RayEngine) -> None:
    with pytest.raises(GeneratorError, match="no reply for 3 seconds"):
        asked(VllmBackend(on_processor(model, patience=3), tmp_path / "requests", ray), "What is it?")


def test_a_model_without_chat_template_is_given_the_messages_plainly(tmp_path: Path, ray: RayEngine) -> None:
    model = write_tiny_llama(tmp_path / "model", chat_template=False)
    replies = asked(VllmBackend(on_processor(model), tmp_path / "requests", ray), "What is it?")
    assert json.loads(replies[0].text, strict=False)


def test_a_gpu_that_is_not_there_is_told_before_any_work(model: Path, tmp_path: Path, ray: RayEngine) -> None:
    import torch

    if not torch.cuda.is_available():
        with pytest.raises(GeneratorError, match="no GPU"):
            VllmBackend(on_processor(model).model_copy(update={"device": "cuda"}), tmp_path, ray).prepare()


def test_a_build_by_vllm_publishes_what_was_validated_and_asks_for_nothing_twice(model: Path, tmp_path: Path) -> None:
    pages = tmp_path / "mills.jsonl"
    texts = [f"The mill of Ostra number {n} was built in {1700 + n}. It grinds rye." for n in range(4)]
    pages.write_text("".join(json.dumps({"doc_id": f"mill-{n}", "text": t}) + "\n" for n, t in enumerate(texts)))
    given = on_processor(model, max_tokens=3000, max_model_len=4096, retries=0)
    # A random model grounds nothing; that is checked elsewhere. Here it is the way from GPU to memo that counts.
    settings = load_settings(overrides=["doc2query.groundedness=0"]).model_copy(update={"generator": given})
    warehouse = Warehouse.create(tmp_path / "warehouse")
    first = build(pages, warehouse, settings)
    report = next(job for job in first.jobs if job["job"] == "doc2query")
    assert report["engine"] == "vllm"
    assert report["notes"]["requests"] == 4
    assert report["notes"]["output_tokens"] > 0
    written = queries_of(warehouse)
    answered = {row["chunk_id"] for row in written}
    assert answered
    second = build(pages, warehouse, settings)
    again = next(job for job in second.jobs if job["job"] == "doc2query")
    assert (again["reused"], again["computed"]) == (len(answered), 4 - len(answered))
    assert [row for row in queries_of(warehouse) if row["chunk_id"] in answered] == written


def queries_of(warehouse: Warehouse) -> list[dict[str, Any]]:
    return [row for batch in warehouse.snapshot().stage("queries").batches() for row in batch.to_pylist()]
