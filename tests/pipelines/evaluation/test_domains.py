"""The default answers of this version over the held-out domains: only totals are looked at, and pinned."""

from __future__ import annotations

import pytest

from tests.benchmarks.domains import HELD_OUT, benchmark_domains
from tests.floors import FLOORS, broken


@pytest.mark.long
def test_answers_on_held_out_domains_are_as_good_as_their_floors() -> None:
    assert broken(benchmark_domains(), FLOORS["domains"], 100 * len(HELD_OUT)) == {}
