"""A GGUF file in this process: held to the schema, in one batch, and clear about files that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quern.jobs.engines import RayEngine
from quern.jobs.tasks.conversation import probability
from quern.jobs.tasks.generators.backends import make_backend
from quern.jobs.tasks.generators.contract import GeneratorError
from quern.jobs.tasks.generators.gguf import GgufBackend, _describe
from quern.schemas.settings import EngineSettings, GeneratorSettings
from tests.jobs.tasks.generators.test_local import asked
from tests.tiny_models import small_language_model

pytestmark = pytest.mark.torch


def settings(file: Path, **given: Any) -> GeneratorSettings:
    return GeneratorSettings(kind="local", model=str(file), **{"max_tokens": 60, **given})


@pytest.fixture(scope="module")
def backend() -> GgufBackend:
    chosen = make_backend(settings(small_language_model()), EngineSettings(), Path(), RayEngine(EngineSettings()))
    assert isinstance(chosen, GgufBackend)
    chosen.prepare()
    return chosen


def test_replies_of_a_batch_are_held_to_the_schema_and_equal_those_of_one_prompt_alone(backend: GgufBackend) -> None:
    texts = ["What is the capital of France?", "Is water wet? " * 20, "Name a colour."]
    together = asked(backend, *texts)
    assert sorted(together) == [0, 1, 2]
    for row, reply in together.items():
        said = json.loads(reply.text)
        assert set(said) == {"word", "sure"}
        assert len(said["word"]) <= 12
        assert reply.prompt_tokens > len(texts[row].split())
        assert 0 < reply.output_tokens < 60
        assert not reply.cut_off
    assert json.loads(asked(backend, texts[0])[0].text) == json.loads(together[0].text)


def test_a_prompt_too_long_costs_only_its_row_and_a_long_reply_is_cut_off(backend: GgufBackend) -> None:
    small = GgufBackend(settings(small_language_model(), max_model_len=120, max_tokens=8))
    small._pipeline = backend._load()
    replies = asked(small, "word " * 200, "Tell me a long story.")
    assert "the model takes 120 with its reply" in replies[0].error
    assert (replies[1].cut_off, replies[1].output_tokens) == (True, 8)


def test_no_more_is_begun_than_the_cache_has_room_for(backend: GgufBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _describe(small_language_model())
    assert file.cached == 2 * 30 * 3 * 64  # Keys and values of SmolLM2-135M: layers, heads and size of a head.
    texts = ["What is the capital of France?", "Is water wet?", "Name a colour.", "Name a tree."]
    most = 0
    added = GgufBackend._taken

    def counted(self: GgufBackend, open_requests: Any) -> int:
        nonlocal most
        most = max(most, len(open_requests))
        return added(self, open_requests)

    monkeypatch.setattr(GgufBackend, "_taken", counted)
    monkeypatch.setattr(GgufBackend, "_room", lambda _: 250.0)
    assert len(asked(backend, *texts)) == 4
    assert most == 2


def test_tokens_are_told_with_their_probabilities(backend: GgufBackend) -> None:
    reply = asked(backend, "Is water wet?", tokens=True)[0]
    assert "".join(text for text, _ in reply.tokens).startswith(reply.text)
    assert all(chance <= 0.0 for _, chance in reply.tokens)
    assert probability(reply, "sure") is not None


def test_a_file_that_cannot_be_used_is_told_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = small_language_model().read_bytes()
    for name, content, told in (
        ("none.gguf", b"not a model", "is no GGUF file"),
        ("cut.gguf", whole[: len(whole) // 2], "is cut or damaged"),
        ("head.gguf", whole[:1000], "is cut or damaged"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(GeneratorError, match=told):
            GgufBackend(settings(tmp_path / name)).prepare()
    with pytest.raises(GeneratorError, match="cannot be read: No such file"):
        GgufBackend(settings(tmp_path / "missing.gguf")).prepare()
    with pytest.raises(GeneratorError, match="run on the processor"):
        GgufBackend(settings(small_language_model(), device="cuda")).prepare()

    class Full:
        available = 1 << 20

    monkeypatch.setattr("psutil.virtual_memory", Full)
    with pytest.raises(GeneratorError, match=r"needs some 2\.5 GB of memory, and 0\.0 GB are free"):
        GgufBackend(settings(small_language_model())).prepare()
