"""A short run of the harness; `python -m tests.benchmarks kills` is a long one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kills.host import Host
from tests.kills.scenes import Scenes
from tests.kills.trial import Kill, Reference, Runner, Scene


class Harness:
    """The scenes of these tests, and what comes of each when nobody kills it."""

    def __init__(self, root: Path) -> None:
        self._host = Host()
        self._scenes = Scenes(root, self._host)
        self.runner = Runner(root, self._host)
        self._known: dict[str, tuple[Scene, Reference]] = {}

    def scene(self, name: str) -> tuple[Scene, Reference]:
        if name not in self._known:
            scene = self._scenes.scenes()[name]()
            self._known[name] = scene, self.runner.reference(scene)
        return self._known[name]

    def close(self) -> None:
        self._scenes.close()
        self._host.close()


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    harness = Harness(tmp_path_factory.mktemp("kills"))
    yield harness
    harness.close()


@pytest.mark.parametrize(
    ("name", "how", "line"),
    [
        pytest.param("rebuild", "SIGINT", "job=chunk", marks=pytest.mark.long),
        # Only the pinning of tables, and the publication, are left to do.
        pytest.param("rebuild", "group", "audit", marks=pytest.mark.long),
        ("stage clean", "alone", "job=clean"),
    ],
)
def test_a_command_that_is_killed_is_run_again_as_if_it_had_not_been(
    harness: Harness, name: str, how: str, line: str
) -> None:
    scene, reference = harness.scene(name)
    outcome = harness.runner.trial(scene, reference, [Kill(how, line=reference.line(line))])
    assert outcome.killed
    assert outcome.good, outcome


def test_an_ingest_that_is_stopped_says_so_and_goes_on(harness: Harness) -> None:
    scene, reference = harness.scene("ingest")
    outcome = harness.runner.trial(scene, reference, [Kill("SIGTERM", seconds=reference.seconds / 2)])
    assert outcome.good, outcome
