"""The history of sources is a file that anybody may have filled: what it holds costs little and breaks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quern.indexes.vectors import Floats
from quern.pipelines.sources.history import History, Told


def alike(texts: Sequence[str]) -> Floats:
    return np.ones((len(texts), 1), dtype=np.float32)


def told(question: str, site: str) -> Told:
    return Told(question=question, site=site, chunk_id="c", evidence="It sank.")


def test_a_question_of_two_lines_stays_one_line_and_few_sites_are_proposed(tmp_path: Path) -> None:
    path = tmp_path / "sources" / "history.jsonl"
    broken = "Which ship\u2028sank\x85there?"
    History(path, alike).add([told(broken, "first.example"), *(told("Which?", f"s{n}.example") for n in range(500))])
    (proposed,) = History(path, alike).proposals(alike("q"), 0.5)
    assert proposed[:2] == ["first.example", "s0.example"]
    assert len(proposed) == 10, "each site that is proposed is searched"
