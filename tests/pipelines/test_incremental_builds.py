"""An incremental build has the tables of a full build, and readers beside it see one snapshot."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.benchmarks.readers import stress
from tests.nights.builds import nights


def test_every_table_of_an_incremental_build_is_that_of_a_full_build(tmp_path: Path) -> None:
    # `python -m tests.benchmarks law` does the same for a hundred nights and more.
    overrides = ["doc2query.pairs=4"]
    for night in nights(tmp_path, seed=4, count=3, overrides=overrides):
        assert night.differing == {}, night


@pytest.mark.long
def test_answers_beside_builds_that_prune_and_vacuum_are_each_of_one_snapshot(mini_web: Path, tmp_path: Path) -> None:
    shutil.copytree(mini_web, tmp_path / "warehouse")
    seen = stress(tmp_path / "warehouse", 3)
    assert (seen["mixed"], seen["snapshots_left"]) == (0, 1)
    assert seen["answers"] >= 4
    assert seen["citations"] >= 4
    assert seen["leases_kept"] >= 3, "the first snapshot was held for three nights"
