"""A BERT that is written from its weights is the graph that OpenVINO makes of torch's, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from quern.jobs.models import bert
from quern.jobs.models.folders import Model, ModelError, read_model
from quern.jobs.models.machine import import_openvino
from quern.jobs.models.openvino_runtime import openvino_file
from tests.tiny_models import write_tiny_embedder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Model:
    """Two layers: what OpenVINO makes of a graph depends on what layers share."""
    return read_model(str(write_tiny_embedder(tmp_path_factory.mktemp("model"), layers=2)))


def vectors(file: Path, precision: str) -> np.ndarray:
    openvino, rng = import_openvino(), np.random.default_rng(5)
    graph = openvino.Core().read_model(str(file))
    hint = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 1}
    run = openvino.Core().compile_model(graph, "CPU", hint)
    made = []
    for texts, tokens in ((1, 16), (3, 48), (2, 512)):
        mask = (np.arange(tokens) < rng.integers(2, tokens + 1, (texts, 1))).astype(np.int64)
        made.append(run({"input_ids": rng.integers(1000, 30_000, (texts, tokens)), "attention_mask": mask})[0])
    return np.concatenate(made)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Converting a tensor")
@pytest.mark.parametrize("kind", ["mean", "cls"])
def test_both_ways_to_convert_a_model_give_the_same_bits(tiny, tmp_path, kind):
    import torch

    from quern.jobs.models.pooling import Pooled

    model = replace(tiny, pooling=kind)
    assert bert.is_plain_bert(model)
    bert.convert(model, tmp_path / "written.xml")
    example = {"input_ids": torch.ones((2, 16), dtype=torch.int64)}
    # Without padding the trace would leave the mask out.
    example["attention_mask"] = (torch.arange(16) < torch.tensor([[8], [16]])).long()
    with torch.no_grad():
        graph = import_openvino().convert_model(Pooled(model, torch.float32), example_input=example)
    import_openvino().save_model(graph, tmp_path / "converted.xml", compress_to_fp16=False)
    capabilities = import_openvino().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    for precision in ("f32", "bf16") if "BF16" in capabilities else ("f32",):
        written, converted = (vectors(tmp_path / f"{name}.xml", precision) for name in ("written", "converted"))
        assert written.tobytes() == converted.tobytes(), precision


def test_what_is_no_plain_bert_is_left_to_torch_and_broken_weights_are_told(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("QUERN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "config.json").write_text('{"model_type": "bert", "hidden_act": "relu"}')
    (tmp_path / "model.safetensors").write_text("broken")
    other = replace(tiny, folder=tmp_path, transformer=tmp_path)
    with pytest.raises(ModelError, match=r"is no plain BERT: set embed\.engine to torch"):
        openvino_file(other)
    (tmp_path / "config.json").write_text((tiny.transformer / "config.json").read_text())
    for step in (bert.is_plain_bert, lambda model: bert.convert(model, tmp_path / "model.xml")):
        with pytest.raises(ModelError, match=r"model\.safetensors cannot be read"):
            step(other)


@pytest.mark.torch
def test_weights_in_bf16_are_left_to_torch(tiny, tmp_path):
    from safetensors import torch

    (tmp_path / "config.json").write_bytes((tiny.transformer / "config.json").read_bytes())
    weights = torch.load_file(tiny.transformer / "model.safetensors")
    torch.save_file({name: weight.bfloat16() for name, weight in weights.items()}, tmp_path / "model.safetensors")
    assert not bert.is_plain_bert(replace(tiny, transformer=tmp_path))


def test_old_names_of_weights_are_known(tiny, tmp_path):
    (tmp_path / "config.json").write_bytes((tiny.transformer / "config.json").read_bytes())
    weights, other = load_file(tiny.transformer / "model.safetensors"), replace(tiny, transformer=tmp_path)
    for new, name in {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}.items():
        weights = {key.replace(new, name): weight for key, weight in weights.items()}
    save_file({f"bert.{name}": weight for name, weight in weights.items()}, tmp_path / "model.safetensors")
    assert bert.is_plain_bert(other)
    written = []
    for name, model in (("old", other), ("new", tiny)):
        bert.convert(model, tmp_path / f"{name}.xml")
        written.append((tmp_path / f"{name}.bin").read_bytes())
    assert written[0] == written[1]
