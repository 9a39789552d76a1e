"""Shares of what there is to do, what is done beside, and room that is used again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.graph.neighbours.products import products
from quern.jobs.graph.neighbours.room import Room
from quern.jobs.graph.neighbours.threads import beside, run_all, spans


@given(count=st.integers(0, 5000), most=st.integers(1, 700), threads=st.integers(1, 7))
def test_spans_are_all_of_it_and_of_nearly_one_size(count: int, most: int, threads: int) -> None:
    parts = spans(count, most, threads)
    assert [n for part in parts for n in range(part.start, part.stop)] == list(range(count))
    sizes = [part.stop - part.start for part in parts]
    assert all(0 < size <= most for size in sizes)
    assert len(set(sizes[:-1])) <= 1


def test_two_threads_have_as_many_spans_each() -> None:
    assert [len(spans(n, 16_384, 2)) for n in (10, 16_385, 32_769, 297_030)] == [2, 2, 4, 20]


@pytest.mark.parametrize("threads", [1, 3])
def test_all_steps_are_done_once(threads: int) -> None:
    done: list[int] = []
    run_all((partial(done.append, n) for n in range(500)), threads)
    assert sorted(done) == list(range(500))


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_a_step_ends_all_and_is_raised(threads: int) -> None:
    taken: list[int] = []

    def steps() -> Iterator[Callable[[], None]]:
        for n in range(10_000):
            taken.append(n)
            yield partial([].index, n) if n == 7 else partial(time.sleep, 0.0001)

    with pytest.raises(ValueError, match="7 is not in list"):
        run_all(steps(), threads)
    assert len(taken) < 5000


def test_what_is_done_beside_goes_on_meanwhile() -> None:
    caller_went_on = threading.Event()
    with beside(2) as start:
        result = start(lambda: caller_went_on.wait(20))
        caller_went_on.set()
        assert result() is True


def test_on_one_thread_a_thing_is_done_once_when_it_is_asked_for() -> None:
    done: list[int] = []
    with beside(1) as start:
        result = start(lambda: done.append(1) or threading.current_thread())
        assert done == []
        assert result() is result() is threading.current_thread()
    assert done == [1]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_beside_is_told_where_the_result_is_asked_for(threads: int) -> None:
    def fail() -> None:
        raise ValueError("no")

    with beside(threads) as start:
        result = start(fail)
        with pytest.raises(ValueError, match="no"):
            result()


def test_room_that_is_used_again_gives_what_fresh_room_gives() -> None:
    rng, room = np.random.default_rng(0), Room()
    numbers, others = (rng.integers(-127, 128, (n, 64)).astype(np.int8) for n in (200, 48))
    for rows in (32, 160, 16):
        positions = rng.permutation(200)[:rows]
        block = room.rows("block", numbers, positions)
        assert block.tolist() == numbers[positions].tolist()
        expected = products(numbers[positions], others)
        assert room.products(block, others).tolist() == expected.tolist()
        assert room.homes(block, others).tolist() == expected.argmax(1).tolist()
