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
        ("--pairs {labelled} --pairs-out pairs.jsonl", "name the folder of the result with --out, or a file"),
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


@pytest.mark.parametrize(
    ("command", "row", "told"),
    [
        ("decomposer", {"question": "Who?"}, "line 1 is no question with its sub-questions: it has no 'sub_questions'"),
        ("decomposer", {"question": "Who?", "sub_questions": []}, "graphs to learn from, of 1 questions"),
        ("decomposer", {"question": "Who?", "sub_questions": []}, "1 questions to train on are in the held-out sets"),
        (
            "aligner",
            {"question": "Who?", "answer": "Ada"},
            "no question with answer and passages: it has no 'passages'",
        ),
    ],
)
@pytest.mark.torch
def test_what_a_language_model_cannot_be_trained_on_is_told(
    command: str, row: dict[str, object], told: str, tmp_path: Path, quern_here: Quern
) -> None:
    from tests.tiny_models import write_tiny_llama

    file, base = tmp_path / "rows.jsonl", write_tiny_llama(tmp_path / "base")
    file.write_text(json.dumps(row), "utf-8")
    held_out = ["--held-out", file] if "held-out" in told else []
    done = quern_here("train", command, file, "-o", tmp_path / "out", "--base", base, *held_out)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2
    assert one_sentence(last)
    assert told in last
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(installed("torch"), reason="torch is installed")
def test_without_torch_the_extra_is_named_and_pairs_are_still_written(
    labelled: Path, tmp_path: Path, quern_here: Quern
) -> None:
    done = quern_here("train", "reranker", "-o", tmp_path / "out", "--pairs", labelled)
    assert done.returncode == 2
    assert one_sentence(done.stderr)
    assert "training needs torch, which is not installed: pip install '.[train]'" in done.stderr
    written = tmp_path / "written.jsonl"
    assert quern_here("train", "reranker", "--pairs", labelled, "--pairs-out", written).returncode == 0
    assert written.read_text("utf-8") == labelled.read_text("utf-8")
