"""Precisions and which of them a processor has."""

import subprocess
import sys

import pytest

from quern.jobs.models import machine
from quern.jobs.models.folders import ModelError
from quern.jobs.models.machine import check_precision
from quern.schemas.settings import EmbedSettings


def test_a_precision_that_the_processor_lacks_is_refused_rather_than_replaced(monkeypatch):
    monkeypatch.setattr(machine, "has_bf16", lambda: True)
    check_precision(EmbedSettings(precision="bf16"))
    monkeypatch.setattr(machine, "has_bf16", lambda: False)
    check_precision(EmbedSettings())
    with pytest.raises(ModelError, match=r"embed\.precision bf16"):
        check_precision(EmbedSettings(precision="bf16"))


@pytest.mark.parametrize(
    ("settings", "told"), [({"device": "cuda"}, "set embed.engine to torch"), ({"precision": "f16"}, "f32 or bf16")]
)
def test_what_an_engine_lacks_is_told_with_what_to_do(settings, told):
    with pytest.raises(ModelError, match=told):
        check_precision(EmbedSettings(**settings))


def test_openvino_is_imported_without_its_telemetry():
    code = (
        "import sys; from quern.jobs.models.machine import import_openvino; import_openvino(); "
        "print(sys.modules.get('openvino_telemetry'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "None\n"
