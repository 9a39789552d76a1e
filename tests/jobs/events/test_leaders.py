"""Which reports are of one event, against the definition written out, and after changes against a full run."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quern.indexes.vectors import Positions
from quern.jobs.events import leaders
from quern.jobs.events.leaders import NEW, Dated, lead

SAME = 0.9


def dated(seed: int, size: int) -> Dated:
    """Reports of few days and few directions, so that many are of one event; the precise first."""
    draw = np.random.default_rng(seed)
    first, length = draw.integers(0, 8, size), draw.choice([0, 0, 0, 6, 30], size)
    order = np.lexsort((first, length))
    vectors = draw.standard_normal((5, 3))[draw.integers(0, 5, size)] + 0.25 * draw.standard_normal((size, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Dated(first[order], (first + length)[order], vectors.astype(np.float32))


def by_definition(reports: Dated) -> list[int]:
    found: list[int] = []
    for at in range(len(reports)):
        near = reports.near(np.array([at]), np.arange(at), SAME)[0]
        found.append(next((other for other in range(at) if near[other] and found[other] == other), at))
    return found


def taken(reports: Dated, rows: Positions) -> Dated:
    return Dated(reports.first[rows], reports.last[rows], reports.vectors[rows])


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(0, 90), st.integers(1, 40), st.integers(1, 9))
def test_changes_lead_where_a_full_run_does(seed: int, size: int, block: int, width: int) -> None:
    everything = dated(seed, size)
    draw = np.random.default_rng(seed)
    before, after = (np.flatnonzero(draw.random(size) < 0.85) for _ in range(2))
    was, leaders._BLOCK, leaders._WIDTH = (leaders._BLOCK, leaders._WIDTH), block, width
    try:
        night = lead(taken(everything, before), SAME).leader
        place = {int(row): at for at, row in enumerate(after)}
        known = np.full(len(after), NEW, dtype=np.int64)
        for at, row in enumerate(before):
            if int(row) in place:
                known[place[int(row)]] = place.get(int(before[night[at]]), NEW)
        now = taken(everything, after)
        full, changed = lead(now, SAME), lead(now, SAME, known)
    finally:
        leaders._BLOCK, leaders._WIDTH = was
    assert full.leader.tolist() == by_definition(now)
    assert changed.leader.tolist() == full.leader.tolist()
    assert full.searched == len(now)
    assert lead(now, SAME, full.leader).searched == 0


def test_ten_thousand_reports_of_a_day_take_no_square_of_memory() -> None:
    import tracemalloc

    draw = np.random.default_rng(1)
    vectors = draw.standard_normal((10_000, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    day = np.zeros(10_000, dtype=np.int64)
    tracemalloc.start()
    lead(Dated(day, day, vectors), SAME)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 << 20, "a square of bits alone would be 100 MB"
