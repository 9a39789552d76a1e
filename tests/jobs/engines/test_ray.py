from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from quern.jobs.core.work import EngineError
from quern.jobs.engines.ray import RayEngine, _stoppable
from quern.pipelines.cli.faults import sentence
from quern.schemas.settings import EngineSettings
from tests.disks import small_disk

ASKING = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def as_the_command_line_takes_them() -> Iterator[None]:
    before = {number: signal.signal(number, signal.default_int_handler) for number in ASKING}
    yield
    for number, action in before.items():
        signal.signal(number, action)


@pytest.mark.parametrize("number", ASKING)
def test_what_asks_to_stop_while_ray_starts_is_obeyed_when_it_has(number: signal.Signals) -> None:
    started = []

    def start() -> None:
        with _stoppable():
            signal.raise_signal(number)
            started.append(number)

    with pytest.raises(KeyboardInterrupt):
        start()
    assert started == [number]
    assert {signal.getsignal(number) for number in ASKING} == {signal.default_int_handler}


def test_ray_s_own_way_to_end_a_process_is_an_interruption() -> None:
    with pytest.raises(KeyboardInterrupt), _stoppable():
        raise SystemExit(int(signal.SIGTERM))


def test_a_folder_for_ray_that_is_full_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def timed_out(*_: object, **__: object) -> None:
        raise TimeoutError("The current node timed out during startup.")

    monkeypatch.setattr(RayEngine, "_init", timed_out)
    with small_disk(tmp_path / "d", 16) as disk:
        # Ray's own folder lies under /tmp where the path of another is too long for its sockets.
        monkeypatch.setattr("quern.jobs.engines.scratch.tempfile.gettempdir", lambda: str(disk.path))
        monkeypatch.setattr("quern.jobs.engines.scratch._LONGEST_ROOT", 200)
        with pytest.raises(EngineError) as raised:
            RayEngine(EngineSettings()).start()
        assert f"no space is left for {disk.path}: " in str(sentence(raised.value, []))
        disk.resize(4000)
        with pytest.raises(EngineError, match=r"Ray did not start \(The current node timed out"):
            RayEngine(EngineSettings()).start()
