"""What commands of `quern train` refuse, each in one sentence with exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quern.schemas.extras import installed
from tests.conftest import Quern
from tests.pipelines.cli.test_cli import one_sentence


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "labelled.jsonl"
    path.write_text(json.dumps({"query": "Who steers?", "pos": ["Ada steers."], "neg": ["It rains."]}) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "name what to train on: a warehouse with -w, or a labelled set with --pairs"),
        ("--pairs {labelled} --held-out {labelled}", "1 questions of labelled.jsonl leak from the held-out sets"),
        ("--pairs {labelled}", "1 questions with an answering text are too few to train a reranker: at least 200"),
        ("--pairs {labelled}.gone", "labelled.jsonl.gone cannot be read: No such file or directory"),
    ],
)
@pytest.mark.torch
def test_what_cannot_be_trained_on_is_told(
    arguments: str, told: str, labelled: Path, tmp_path: Path, quern_here: Quern, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QUERN_WAREHOUSE", raising=False)
    done = quern_here("train", "reranker", "-o", tmp_path / "out", *arguments.format(labelled=labelled).split())
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2
    assert one_sentence(last)
    assert told in last
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(installed("torch"), reason="torch is installed")
def test_without_torch_the_extra_is_named(labelled: Path, quern_here: Quern) -> None:
    done = quern_here("train", "reranker", "--pairs", labelled, "-o", labelled.parent / "out")
    assert done.returncode == 2
    assert one_sentence(done.stderr)
    assert "which is not installed: pip install '.[train]'" in done.stderr
