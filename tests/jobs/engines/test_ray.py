from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from quern.jobs.engines.ray import _stoppable

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
