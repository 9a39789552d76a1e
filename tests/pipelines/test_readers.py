"""Readers beside nights: each answer is of one snapshot, and none fails."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.benchmarks.readers import stress


@pytest.mark.long
def test_answers_beside_nights_that_prune_and_vacuum_are_each_of_one_snapshot(mini_web: Path, tmp_path: Path) -> None:
    shutil.copytree(mini_web, tmp_path / "warehouse")
    seen = stress(tmp_path / "warehouse", 3, ("anew", "held", "command"))
    assert (seen["mixed"], seen["errors"], seen["snapshots_left"]) == (0, 0, 1)
    assert seen["answers"] >= 4
    assert seen["citations"] >= 4
    assert seen["leases_kept"] >= 3, "the first snapshot was held for three nights"
