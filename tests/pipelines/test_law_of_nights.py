"""The law of nights: whatever happens from night to night, a build has the tables that a build from nothing has."""

from __future__ import annotations

from pathlib import Path

from tests.nights.builds import nights


def test_every_table_of_a_night_is_that_of_a_full_build(tmp_path: Path) -> None:
    # `python -m tests.benchmarks law` does the same for a hundred nights and more.
    overrides = ["doc2query.pairs=4"]
    for night in nights(tmp_path, seed=4, count=3, overrides=overrides):
        assert night.differing == {}, night
