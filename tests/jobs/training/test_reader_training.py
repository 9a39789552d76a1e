"""Training of the reader: it learns, survives a kill, and writes what the reader reads."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from quern.jobs.models.reader import Passage, Reader
from quern.jobs.training.reader import Training
from quern.jobs.training.run import Run
from tests.jobs.training.test_training_pages import PAGES

pytestmark = pytest.mark.torch


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "ferries-01.txt"
    path.write_text(PAGES, "utf-8")
    return path


def test_a_few_steps_lower_the_loss_and_the_reader_reads_the_weights(pages: Path, tmp_path: Path) -> None:
    first = Training([pages], tmp_path / "a.safetensors", 1, warm=1).run()
    more = Training([pages], tmp_path / "b.safetensors", 12, warm=1, rate=3e-4).run()
    assert more["loss"] < first["loss"]
    reading = Reader(tmp_path / "b.safetensors").read(
        "What is the fare?", [Passage("Ferry", ["The fare is 4 crowns."])]
    )
    assert reading.lines[0][0] is not None


def test_a_run_that_was_stopped_ends_with_the_weights_of_one_that_was_not(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = tmp_path / "whole.safetensors", tmp_path / "reader.safetensors"
    Training([pages], whole, 4, warm=1, saved=2).run()
    save = Run._save

    def save_and_stop(self: Run[object], *rest: object) -> None:
        save(self, *rest)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "_save", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        Training([pages], out, 4, warm=1, saved=2).run()
    monkeypatch.undo()
    Training([pages], out, 4, warm=1, saved=2).run()
    assert out.read_bytes() == whole.read_bytes()
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == []
