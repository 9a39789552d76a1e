"""The state that a night leaves: what is damaged is left aside, and costs a full search."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from quern.indexes import checksums
from quern.indexes.checksums import checksum_of
from quern.indexes.night_state import NightStates
from quern.indexes.vectors import Floats
from quern.jobs.graph.neighbours.layout import Neighbourhood, read_state, write_state
from quern.jobs.graph.neighbours.plan import Plan
from quern.jobs.graph.neighbours.ranking import vector_prints
from quern.jobs.graph.neighbours.search import change

PLAN = Plan(k=3, exact_below=0, partitions=8, sample=50)


def vectors() -> Floats:
    made = np.random.default_rng(0).standard_normal((300, 8)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def keep(folder: Path, name: str, of: Floats, plan: Plan = PLAN) -> Neighbourhood:
    """A night from the state of `folder` to the next."""
    found = change(read_state(folder), of, vector_prints(of), plan)
    write_state(folder, name, found)
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("states")
    keep(folder, "a", vectors())
    return folder


@pytest.fixture
def kept(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "s"))


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


COLUMNS = ("prints", "positions", "scores", "cut", "home", "bits", "sample")
DAMAGES: dict[str, Callable[[Path], object]] = {
    **{f"a byte of {c}": flip(f"{c}.npy", -9) for c in COLUMNS},
    "a header": flip("positions.npy", 12),
    "no header": lambda state: (state / "cut.npy").write_bytes(b"PK\x03\x04"),
    "a missing file": lambda state: (state / "scores.npy").unlink(),
    "a cut file": lambda state: os.truncate(state / "bits.npy", 100),
    "about that is a list": lambda state: (state / "about.json").write_text("[]"),
    "about that is null": lambda state: (state / "about.json").write_text("null"),
    "about that is cut": lambda state: (state / "about.json").write_text("{"),
    "no dimension": about(dimension=None),
    "no vectors": about(partitions=0),
    "a path": about(digests={"../../etc/passwd": ""}),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_state_is_left_aside(
    damage: Callable[[Path], object], kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert read_state(kept) is not None
    damage(kept / "a")
    assert read_state(kept) is None
    assert "is damaged and is left aside" in caplog.text


def test_what_a_process_wrote_is_not_read_whole_again_until_a_warehouse_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path / "s", "a", vectors())
    read: list[Path] = []
    monkeypatch.setattr(checksums, "checksum_of", lambda path: read.append(path) or checksum_of(path))
    NightStates(tmp_path / "s").forget_damaged()
    assert read == []
    checksums.VERIFIED.forget()
    NightStates(tmp_path / "s").forget_damaged()
    assert {path.suffix for path in read} == {".npy"}
    assert read_state(tmp_path / "s") is not None


@pytest.mark.parametrize("plan", [PLAN, Plan(k=3)], ids=["partitions", "all with all"])
def test_a_state_is_read_as_it_was_written(plan: Plan, tmp_path: Path) -> None:
    found, again = (keep(tmp_path, name, vectors(), plan) for name in ("a", "b"))
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert (found.searched, again.searched) == (300, 0)
    assert (again.lists.positions == found.lists.positions).all()


@pytest.mark.parametrize("stray", ["file", "folder", "left", "itself"])
def test_what_lies_about_is_cleared_away(stray: str, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    if stray == "itself":
        folder.write_text("x")
    else:
        folder.mkdir()
    if stray == "file":
        (folder / "zz").write_text("x")
    elif stray in ("folder", "left"):
        (folder / ("zz" if stray == "folder" else ".tmp-b")).mkdir()
    assert read_state(folder) is None
    keep(folder, "b", vectors())
    assert [p.name for p in folder.iterdir()] == ["b"]
    assert read_state(folder) is not None


def test_the_states_of_a_few_other_settings_are_kept(tmp_path: Path) -> None:
    for n in range(7):
        keep(tmp_path / f"s{n}", "a", vectors())
        os.utime(tmp_path / f"s{n}", (n, n))
    NightStates(tmp_path / "s0").forget_others()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s0", "s3", "s4", "s5", "s6"]
    shutil.rmtree(tmp_path / "s0")
