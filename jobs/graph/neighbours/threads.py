"""Threads of this process: steps on several of them, something on one beside, and shares of what there is to do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import threadpool_limits

from quern.indexes.vectors import Positions

_T = TypeVar("_T")


def run_all(steps: Iterable[Callable[[], None]], threads: int) -> None:
    """Do all of `steps`, in order, on so many threads; each computes on one core.

    A thread takes the next step itself: one that hands steps out would wait for both, and they for it, at every step.
    An error of one ends all, and is raised.
    """
    if threads <= 1:
        for step in steps:
            step()
        return
    waiting, lock, ended = iter(steps), threading.Lock(), threading.Event()

    def work() -> None:
        try:
            while not ended.is_set():
                with lock:
                    step = next(waiting, None)
                if step is None:
                    return
                step()
        except BaseException:
            ended.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        try:
            for working in [pool.submit(work) for _ in range(threads)]:
                working.result()
        finally:
            ended.set()


def spans(count: int, most: int, threads: int) -> list[slice]:
    """`count` things in parts of nearly one size, at most `most`; as many for each thread, so that all end at once."""
    parts = -(-count // most)
    parts += -parts % max(1, threads)
    size = -(-count // max(1, parts))
    return [slice(start, min(start + size, count)) for start in range(0, count, max(1, size))]


def parts(positions: Positions, most: int) -> Iterator[Positions]:
    """`positions` in parts of `most`, the last one perhaps shorter; no part of none."""
    return (positions[start : start + most] for start in range(0, len(positions), most))


@contextmanager
def on_one_core() -> Iterator[None]:
    """A product of NumPy's takes one core: threads of its BLAS would wait for those of `run_all`."""
    with threadpool_limits(1, "blas"):
        yield
