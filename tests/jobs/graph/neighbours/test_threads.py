"""Shares of what there is to do, and steps on several threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.graph.neighbours.threads import run_all, spans


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
