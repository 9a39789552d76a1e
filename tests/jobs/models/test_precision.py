"""Precisions and which of them a processor has."""

import subprocess
import sys

import pytest

from quern.jobs.models import precision
from quern.jobs.models.folders import ModelError
from quern.jobs.models.precision import resolve_precision
from quern.schemas.settings import EmbedSettings

VNNI = frozenset({"avx512_vnni"})


@pytest.fixture
def processor(monkeypatch):
    """A function that makes this a processor with the given flags, and with bf16 or without."""

    def make(flags, bf16):
        monkeypatch.setattr(precision, "_flags", lambda: flags)
        monkeypatch.setattr(precision, "_has_bf16", lambda: bf16)

    return make


def test_torch_runs_in_f32_unless_told_otherwise_and_on_a_gpu_in_f16():
    assert resolve_precision(EmbedSettings(engine="torch")) == "f32"
    assert resolve_precision(EmbedSettings(engine="flag", precision="bf16")) == "bf16"
    assert resolve_precision(EmbedSettings(engine="torch", device="cuda:1")) == "f16"


@pytest.mark.parametrize(("bf16", "chosen"), [(True, "bf16"), (False, "f32")])
def test_openvino_runs_in_bf16_where_the_processor_has_it_and_in_int8_if_told_to(processor, bf16, chosen):
    processor(VNNI, bf16)
    assert resolve_precision(EmbedSettings()) == chosen
    assert resolve_precision(EmbedSettings(precision="f32")) == "f32"
    assert resolve_precision(EmbedSettings(precision="int8_f32")) == "int8_f32"


@pytest.mark.parametrize("wanted", ["bf16", "int8", "int8_f32"])
def test_a_precision_that_the_processor_lacks_is_refused_rather_than_replaced(processor, wanted):
    processor(frozenset(), False)
    assert resolve_precision(EmbedSettings()) == "f32"
    with pytest.raises(ModelError, match=f"embed.precision {wanted}"):
        resolve_precision(EmbedSettings(precision=wanted))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"device": "cuda"}, "set embed.engine to torch or flag"),
        ({"precision": "f16"}, "bf16 or f32"),
        ({"engine": "torch", "precision": "int8"}, "set it to openvino"),
    ],
)
def test_what_an_engine_lacks_is_told_with_what_to_do(settings, told):
    with pytest.raises(ModelError, match=told):
        resolve_precision(EmbedSettings(**settings))


def test_openvino_is_imported_without_its_telemetry():
    code = (
        "import sys; from quern.jobs.models.precision import import_openvino; import_openvino(); "
        "print(sys.modules.get('openvino_telemetry'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "None\n"
