"""A small model in this process, of random weights: held to the schema, batched, and clear about what it cannot do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from quern.jobs.tasks.generators.contract import Backend, GeneratorError, Reply, Request
from quern.jobs.tasks.generators.local import LocalBackend
from quern.schemas.settings import GeneratorSettings
from tests.tiny_models import write_tiny_llama

pytestmark = pytest.mark.torch

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "maxLength": 12}, "sure": {"type": "boolean"}},
    "required": ["word", "sure"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("model"), positions=512)


def settings(model: Path, **given: Any) -> GeneratorSettings:
    known = {"device": "cpu", "dtype": "float32", "max_tokens": 80}
    return GeneratorSettings(kind="local", model=str(model), **{**known, **given})


def asked(backend: Backend, *texts: str, tokens: bool = False) -> dict[int, Reply]:
    requests = (Request(n, ({"role": "user", "content": text},)) for n, text in enumerate(texts))
    replies = list(backend.replies(requests, SCHEMA, tokens=tokens))
    assert len(replies) == len(texts)
    return {reply.row: reply for reply in replies}


@pytest.mark.parametrize("sampled", [{}, {"temperature": 1.0, "top_p": 0.9}])
def test_replies_are_held_to_the_schema_and_a_prompt_too_long_costs_only_its_row(
    model: Path, sampled: dict[str, Any]
) -> None:
    backend = LocalBackend(settings(model, **sampled))
    backend.prepare()
    replies = asked(backend, "What is it?", "And this?", "word " * 600, "The last one?", "")
    assert "the model takes 512" in replies[2].error
    assert replies[2].text == ""
    for row in (0, 1, 3, 4):
        said = json.loads(replies[row].text)
        assert set(said) == {"word", "sure"}
        assert len(said["word"]) <= 12
        assert replies[row].prompt_tokens > 0
        assert 0 < replies[row].output_tokens < 80
        assert not replies[row].cut_off


@pytest.mark.parametrize("sampled", [{}, {"temperature": 1.0, "seed": 3}])
def test_a_reply_depends_on_no_other_prompt_of_its_batch(model: Path, sampled: dict[str, Any]) -> None:
    texts = ["What is it?", "word " * 20, "And this, then, of all that there is?", "Why?"]
    together = asked(LocalBackend(settings(model, **sampled)), *texts)
    alone = asked(LocalBackend(settings(model, batch=1, **sampled)), *texts)
    assert together == alone


def test_a_reply_that_may_not_end_is_cut_off_and_says_so(model: Path) -> None:
    reply = asked(LocalBackend(settings(model, max_tokens=3)), "What is it?")[0]
    assert (reply.cut_off, reply.output_tokens) == (True, 3)
    # The model's own limit cuts off as well.
    near = asked(LocalBackend(settings(model, max_model_len=40)), "word " * 9)[0]
    assert near.cut_off
    assert near.prompt_tokens + near.output_tokens == 40


def test_what_cannot_be_used_is_told_before_any_work(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GeneratorError, match=r"without config\.json"):
        LocalBackend(settings(tmp_path)).prepare()
    with pytest.raises(GeneratorError, match="neither a folder nor a model in the local Hugging Face cache"):
        LocalBackend(settings(Path("nobody/such-model"))).prepare()
    import torch

    if not torch.cuda.is_available():
        with pytest.raises(GeneratorError, match="no GPU"):
            LocalBackend(settings(model, device="cuda")).prepare()
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(GeneratorError, match="cannot be loaded"):
        asked(LocalBackend(settings(tmp_path)), "What is it?")
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with pytest.raises(GeneratorError, match="llguidance, which is not installed"):
        LocalBackend(settings(model)).prepare()


def test_a_schema_that_no_grammar_can_hold_is_told(model: Path) -> None:
    backend = LocalBackend(settings(model))
    requests = iter([Request(0, ({"role": "user", "content": "What is it?"},))])
    with pytest.raises(GeneratorError, match="cannot be held to the schema"):
        list(backend.replies(requests, {"type": "no such type"}))


def test_a_model_without_chat_template_is_given_the_messages_plainly(tmp_path: Path) -> None:
    model = write_tiny_llama(tmp_path, chat_template=False)
    assert json.loads(asked(LocalBackend(settings(model)), "What is it?")[0].text)
