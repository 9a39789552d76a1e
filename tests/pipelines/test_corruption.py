"""Corruption: nothing damaged is used unnoticed, and the next build repairs it.

A seeded share of `python -m tests.benchmarks corruption`, in this process: a crash ends the tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.beside import ROOT
from tests.conftest import Quern
from tests.corruption.places import copy_of, kept, places
from tests.corruption.trial import Expected, answered, asked_of, built_on, digests, named_by_verify
from tests.corruption.warehouses import SMALL_NIGHT, small_warehouse

_VERIFIED = 100
_KINDS = 21  # Of files, in a warehouse that has them all.
_TRIED = ("lance data", "memo part", "pages, parts", "stages")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small warehouse without damage; tests must not write to it."""
    return small_warehouse(tmp_path_factory.mktemp("corruption"))


def test_verify_names_what_is_damaged_and_nothing_else(whole: Path, tmp_path: Path, quern_here: Quern) -> None:
    copy = copy_of(whole, tmp_path / "warehouse")
    told = quern_here("verify", "-w", copy)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(f"verified files={len(kept(copy))} bytes=")
    for place in places(copy, _VERIFIED, seed=5):
        place.damage(copy)
        assert named_by_verify(copy, place), place
        (copy / place.file).unlink()
        os.link(whole / place.file, copy / place.file)
    place = next(place for place in places(copy, 40, seed=6) if place.kind == "stages")
    place.damage(copy)
    told = quern_here("verify", "-w", copy, "--json")
    assert told.returncode == 1
    (bad,) = json.loads(told.stdout)["damaged"]
    assert bad["file"].endswith(place.file)
    assert "quern" in bad["mend"]


def test_what_is_damaged_is_told_or_not_needed_and_the_next_build_makes_it_good(whole: Path, tmp_path: Path) -> None:
    expected = Expected({"question": answered(whole)}, {SMALL_NIGHT.name: digests(whole)})
    tried = {place.kind: place for place in places(whole, 60, seed=7) if place.kind in _TRIED}
    assert len(tried) == len(_TRIED)
    for number, place in enumerate(tried.values()):
        copy = copy_of(whole, tmp_path / str(number))
        place.damage(copy)
        assert asked_of(copy, expected) in {"answered", "told"}, place
        assert built_on(copy, whole.parent, expected, SMALL_NIGHT) == "equal", place


@pytest.mark.long
def test_a_damaged_place_of_each_kind_of_file_is_told_and_mended() -> None:
    # In a process without threads, which forks.
    options = ["--places", str(_KINDS), "--seed", "11", "--json"]
    command = [sys.executable, "-m", "tests.benchmarks", "corruption", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert [figures[name] for name in figures if name.startswith("tried: ")] == [1] * _KINDS
    assert [figures[way] for way in ("silent", "crash", "traceback", "not mended")] == [0, 0, 0, 0], done.stderr
