from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from quern.jobs.reasoning.generators.contract import GeneratorError
from quern.jobs.reasoning.generators.stall_watch import Patience


def slow(*seconds: float) -> Iterator[int]:
    for n, pause in enumerate(seconds):
        until = time.monotonic() + pause
        while time.monotonic() < until:
            time.sleep(0.01)
        yield n


def test_rows_that_come_in_time_all_come() -> None:
    assert list(Patience(0.5).rows(slow(0.1, 0.0, 0.2))) == [0, 1, 2]


def test_an_iterator_that_gives_nothing_is_interrupted_after_what_it_gave() -> None:
    rows = Patience(0.3).rows(slow(0.0, 0.0, 30.0))
    assert [next(rows), next(rows)] == [0, 1]
    with pytest.raises(GeneratorError, match=r"no reply for 0 seconds \(generator.patience\)"):
        next(rows)


@pytest.mark.usefixtures("in_background")
def test_a_stall_is_noticed_where_interruptions_are_ignored_too() -> None:
    with pytest.raises(GeneratorError, match="no reply"):
        list(Patience(0.3).rows(slow(30.0)))
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_time_that_the_consumer_takes_is_not_counted() -> None:
    rows = Patience(0.2).rows(slow(0.0, 0.0))
    for _ in rows:
        time.sleep(0.5)
