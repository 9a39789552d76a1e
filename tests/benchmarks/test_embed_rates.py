"""The benchmark of embeddings, small: its figures fit one another."""

from __future__ import annotations

import json

import pytest

from quern.schemas.settings import EmbedSettings
from tests.benchmarks import embed
from tests.benchmarks.__main__ import main

pytestmark = pytest.mark.torch


def test_the_benchmark_tells_rates_ratios_and_how_near_the_vectors_are(monkeypatch, capsys):
    monkeypatch.setattr(embed, "_KINDS", {"chunks": (60, 4), "nodes": (12, 8)})
    main(["embed", "--repeats", "1", "--json"])
    figures = json.loads(capsys.readouterr().out)
    for name in ("chunks", "nodes"):
        assert figures[f"{name}_ratio"] == pytest.approx(figures[name] / figures[f"{name}_rival"])
        assert 0.999 < figures[f"{name}_least_cosine"] <= figures[f"{name}_mean_cosine"] < 1.001
        assert figures[f"{name}_tokenising"] > 0
    with pytest.raises(ValueError, match="4 are needed"):
        embed.benchmark_embed(["few words"], EmbedSettings())
