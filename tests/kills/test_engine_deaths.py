"""An engine that dies in the middle of a step: one sentence, exit code 2, and the same command goes on."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.beside import CORPUS
from tests.conftest import build_here
from tests.kills.host import Host, Process
from tests.kills.scenes import tables

_SITE = CORPUS / "pages" / "brannock-review.example"
_FEW = "2024/02"
_SETTINGS = ("doc2query.pairs=3", "engine.task_rows=2")
_LONGEST = 300.0

# What dies: the engine, the beginnings of names of its processes, and what the sentence says of them.
DEATHS = {
    "raylet": ("ray", ("raylet",), "Ray stopped: its "),
    "gcs": ("ray", ("gcs_server",), "Ray stopped: its "),
    # As `ray stop` of another user with the same account: all but the process that drives Ray.
    "ray stop": ("ray", ("ray::", "raylet", "gcs_server"), "Ray stopped: its "),
    "ray driver": ("ray", ("driver",), "Ray stopped: the process "),
    "java": ("spark", ("java",), "Spark stopped: its Java process ended"),
}
MOMENTS = ("engine=", "job=clean", "job=chunk", "job=find_events")


class Trials:
    """Builds in folders of their own, and the tables of one that nothing happens to."""

    def __init__(self, root: Path) -> None:
        self.root, self.host = root, Host()
        shutil.copytree(_SITE / _FEW, root / "pages" / _SITE.name / _FEW)
        build_here(root / "pages", root / "wh", *_SETTINGS)
        self.expected: Any = tables(root)

    def start(self, folder: Path, engine: str) -> Process:
        (folder / "t").mkdir(parents=True, exist_ok=True)
        (said := folder / "said.txt").unlink(missing_ok=True)
        settings = [word for setting in _SETTINGS for word in ("--set", setting)]
        command = ["build", str(self.root / "pages"), "-w", str(folder / "wh"), "--engine", engine, *settings]
        return self.host.start(command, {"TMPDIR": str(folder / "t")}, said)


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    trials = Trials(tmp_path_factory.mktemp("d"))
    yield trials
    trials.host.close()


def _kill(trials: Trials, folder: Path, death: str, moment: str) -> None:
    """Start a build, and kill what `death` names when the build has said a line that begins with `moment`."""
    engine, names, said = DEATHS[death]
    process = trials.start(folder, engine)
    until = time.monotonic() + _LONGEST
    while process.poll() is None and time.monotonic() < until:
        victims = []
        if any(line.startswith(moment) for line in process.told().splitlines()):
            for one in psutil.Process(process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    name = "driver" if "serve(" in " ".join(one.cmdline()) else one.name()
                    if name.startswith(names) and one.status() != psutil.STATUS_ZOMBIE:
                        victims.append(one)
        if victims:
            break
        time.sleep(0.02)
    else:
        pytest.fail(f"there was nothing to kill: {process.told()}")
    for victim in victims:
        victim.kill()
    code, told = process.wait(_LONGEST), process.told()
    last = told.splitlines()[-1]
    print(f"{death} | {moment} | {code} | {last}", flush=True)
    assert code == 2, told
    assert last.startswith((f"quern: {said}", f"quern: {engine.capitalize()} did not start")), told
    assert "Traceback" not in told


@pytest.mark.long
@pytest.mark.usefixtures("java")
@pytest.mark.parametrize("death", DEATHS)
def test_an_engine_that_dies_again_and_again_is_told_and_the_last_build_has_equal_tables(
    trials: Trials, death: str
) -> None:
    folder = trials.root / death.replace(" ", "-")
    for moment in MOMENTS:
        _kill(trials, folder, death, moment)
    again = trials.start(folder, DEATHS[death][0])
    assert again.wait(_LONGEST) == 0, again.told()
    assert tables(folder) == trials.expected
