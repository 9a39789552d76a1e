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


@pytest.mark.parametrize("command", ["selector", "extractor"])
@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({}, "line 1 is no sentence with its sources: it has no 'sources'"),
        ({"sources": [{"text": "Ada steers."}], "supports": [2]}, "there is no source 2"),
        ({"sources": [{"text": "Ada steers."}]}, "1 sentences with a source that supports them are too few to train a"),
        ({"sources": [{"text": "Held out: Ada steers."}]}, "1 cases of cases.jsonl leak from the held-out sets"),
    ],
)
@pytest.mark.torch
def test_what_models_of_citing_cannot_be_trained_on_is_told(
    command: str, row: dict[str, object], told: str, tmp_path: Path, quern_here: Quern
) -> None:
    file, held = tmp_path / "cases.jsonl", tmp_path / "claims.jsonl"
    file.write_text(json.dumps({"sentence": "Ada steers.", **row}), "utf-8")
    held.write_text(json.dumps({"question": "Who?", "evidence": ["Held out: Ada steers."]}), "utf-8")
    done = quern_here("train", command, file, "-o", tmp_path / "out", "--held-out", held)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2
    assert one_sentence(last)
    assert told in last
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["selector", "extractor", "reranker"])
@pytest.mark.skipif(installed("torch"), reason="torch is installed")
def test_without_torch_the_extra_is_named(command: str, labelled: Path, quern_here: Quern) -> None:
    given = ["--pairs", labelled] if command == "reranker" else [labelled]
    done = quern_here("train", command, *given, "-o", labelled.parent / "out")
    assert done.returncode == 2
    assert one_sentence(done.stderr)
    assert "which is not installed: pip install '.[train]'" in done.stderr
