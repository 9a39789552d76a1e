"""Each path that runs on a GPU, once, against the same on the processor: `make test-gpu`, on a machine that has one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from quern.jobs.models.cross_encoder import CrossEncoder
from quern.jobs.models.folders import DEFAULT_MODEL
from quern.jobs.tasks.generators.contract import Request
from quern.jobs.tasks.generators.local import LocalBackend
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings, GeneratorSettings, RerankSettings
from tests.benchmarks.articles import synthetic_articles
from tests.tiny_models import write_tiny_cross_encoder, write_tiny_llama

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _on_a_gpu() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: make install-torch")
    if not torch.cuda.is_available():
        pytest.skip("this machine has no GPU that torch can use")


@pytest.mark.parametrize(("precision", "off"), [("f32", 1e-4), ("f16", 2e-2)])
def test_embedding(precision: str, off: float) -> None:
    texts = list(synthetic_articles(200, 3))
    made = {
        device: Embedder.load(EmbedSettings(model=DEFAULT_MODEL, engine="torch", device=device, precision=kind))
        for device, kind in (("cpu", "f32"), ("cuda", precision))
    }
    vectors = {device: embedder.encode(texts) for device, embedder in made.items()}
    assert np.abs(vectors["cuda"] - vectors["cpu"]).max() < off


def test_reranking(tmp_path: Path) -> None:
    folder, texts = write_tiny_cross_encoder(tmp_path / "model"), list(synthetic_articles(60, 4))
    scores = {
        device: CrossEncoder.load(RerankSettings(model=str(folder), device=device)).scores(["What is it?"] * 60, texts)
        for device in ("cpu", "cuda")
    }
    assert np.abs(scores["cuda"] - scores["cpu"]).max() < 0.05  # In f16 on a GPU.


def test_a_language_model(tmp_path: Path) -> None:
    model = write_tiny_llama(tmp_path, positions=512)
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    said = {}
    for device in ("cpu", "cuda"):
        backend = LocalBackend(
            GeneratorSettings(kind="local", model=str(model), device=device, dtype="float32", max_tokens=60)
        )
        requests = (Request(n, ({"role": "user", "content": f"Question {n}?"},)) for n in range(5))
        said[device] = {reply.row: json.loads(reply.text) for reply in backend.replies(requests, schema)}
        backend.close()
    assert said["cuda"] == said["cpu"]
