"""The state that a night leaves: what is damaged is left aside, and costs a full search."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from quern.indexes import checksums
from quern.indexes.checksums import checksum_of
from quern.indexes.night_state import NightStates
from quern.indexes.vectors import Floats
from quern.jobs.graph.neighbours.change import change
from quern.jobs.graph.neighbours.plan import Neighbourhood, Partitioned, Plan
from quern.jobs.graph.neighbours.prints import Prints, vector_prints
from quern.jobs.graph.neighbours.state import StateWriter, read_state, write_state

PLAN = Plan(k=3, exact_below=0, partitions=8, sample=50)


def vectors(seed: int = 0, rows: int = 300) -> Floats:
    made = np.random.default_rng(seed).standard_normal((rows, 8)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def search(before: Neighbourhood | None, of: Floats) -> Neighbourhood:
    return change(before, of, vector_prints(of), PLAN)


@pytest.fixture(scope="module")
def found() -> Neighbourhood:
    return search(None, vectors())


def flip(name: str, at: int) -> Callable[[Path], object]:
    def damage(state: Path) -> None:
        content = bytearray((state / name).read_bytes())
        content[at] ^= 255
        (state / name).write_bytes(content)

    return damage


def about(**changed: object) -> Callable[[Path], object]:
    def damage(state: Path) -> None:
        found = json.loads((state / "about.json").read_text())
        (state / "about.json").write_text(json.dumps(found | changed))

    return damage


COLUMNS = ("prints", "positions", "scores", "cut", "home", "bits", "cell", "sample")
DAMAGES: dict[str, Callable[[Path], object]] = {
    **{
        f"a byte of {c}": flip(f"{c}.npy", -9) for c in ("prints", "positions", "scores", "cut", "home", "bits", "cell")
    },
    "a header": flip("positions.npy", 12),
    "no header": lambda state: (state / "cut.npy").write_bytes(b"PK\x03\x04"),
    "a missing file": lambda state: (state / "scores.npy").unlink(),
    "a cut file": lambda state: os.truncate(state / "bits.npy", 100),
    "about that is a list": lambda state: (state / "about.json").write_text("[]"),
    "about that is null": lambda state: (state / "about.json").write_text("null"),
    "about that is cut": lambda state: (state / "about.json").write_text("{"),
    "no dimension": about(dimension=None),
    "no vectors": about(partitions=0),
    "no cells, as before them": lambda state: (state / "cell.npy").unlink(),
    "a path": about(digests={"../../etc/passwd": ""}),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_state_is_left_aside(
    damage: Callable[[Path], object], found: Neighbourhood, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_state(tmp_path / "s", "a", found)
    assert read_state(tmp_path / "s") is not None
    damage(tmp_path / "s" / "a")
    assert read_state(tmp_path / "s") is None
    assert "is damaged and is left aside" in caplog.text


def test_what_was_written_while_lists_were_made_is_part_of_the_state(found: Neighbourhood, tmp_path: Path) -> None:
    write_state(tmp_path / "whole", "a", found)
    told: list[tuple[Prints, Partitioned]] = []
    of = vectors()
    change(None, of, vector_prints(of), replace(PLAN, laid_out=lambda *known: told.append(known)))
    writer = StateWriter(tmp_path / "parts", "a")
    for known in told:
        writer.laid_out(*known)
    assert len(told) == 1
    assert read_state(tmp_path / "parts") is None
    writer.finish(found)
    whole, parts = (json.loads((tmp_path / name / "a" / "about.json").read_text()) for name in ("whole", "parts"))
    assert parts == whole


def test_what_a_process_wrote_is_not_read_whole_again_until_a_warehouse_is_opened_anew(
    found: Neighbourhood, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_state(tmp_path / "s", "a", found)
    read: list[Path] = []
    monkeypatch.setattr(checksums, "checksum_of", lambda path: read.append(path) or checksum_of(path))
    NightStates(tmp_path / "s").forget_damaged()
    assert read == []
    checksums.VERIFIED.forget()
    NightStates(tmp_path / "s").forget_damaged()
    assert {path.suffix for path in read} == {".npy"}
    assert read_state(tmp_path / "s") is not None


def test_a_state_is_read_as_it_was_written(found: Neighbourhood, tmp_path: Path) -> None:
    write_state(tmp_path / "s", "a", found)
    read = read_state(tmp_path / "s")
    again = search(read, vectors())
    assert again.searched == 0
    assert (again.lists.positions == found.lists.positions).all()


@pytest.mark.parametrize("stray", ["file", "folder", "left"])
def test_what_lies_about_is_cleared_away(stray: str, found: Neighbourhood, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    if stray == "file":
        (folder / "zz").write_text("x")
    else:
        (folder / ("zz" if stray == "folder" else ".tmp-b")).mkdir()
    assert read_state(folder) is None
    write_state(folder, "b", found)
    assert [p.name for p in folder.iterdir()] == ["b"]
    assert read_state(folder) is not None


def test_a_state_that_is_a_file_is_replaced(found: Neighbourhood, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("x")
    assert read_state(tmp_path / "s") is None
    write_state(tmp_path / "s", "a", found)
    assert read_state(tmp_path / "s") is not None


def test_the_states_of_a_few_other_settings_are_kept(found: Neighbourhood, tmp_path: Path) -> None:
    for n in range(7):
        write_state(tmp_path / f"s{n}", "a", found)
        os.utime(tmp_path / f"s{n}", (n, n))
    NightStates(tmp_path / "s0").forget_others()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s0", "s3", "s4", "s5", "s6"]
    shutil.rmtree(tmp_path / "s0")
