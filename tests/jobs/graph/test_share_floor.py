from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quern.jobs.graph.share_floor import best_share_floor

FLOATS = st.lists(st.floats(-1, 1, width=32), max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FLOATS, max_size=5), st.floats(0.01, 1.0))
def test_the_floor_is_that_of_sorting_all_scores(tmp_path: Path, blocks: list[list[float]], share: float) -> None:
    floor = best_share_floor([np.array(b, np.float32) for b in blocks], share, tmp_path / "spool")
    scores = np.sort(np.array([s for b in blocks for s in b], np.float32))
    if not len(scores):
        assert floor == -np.inf
    else:
        assert floor == scores[len(scores) - max(1, int(np.ceil(share * len(scores) - 1e-9)))]
    assert not (tmp_path / "spool").exists()


def test_nan_counts_as_the_least_of_all(tmp_path: Path) -> None:
    scores = np.array([np.nan, 0.25, -0.5, np.nan], np.float32)
    assert best_share_floor([scores], 0.25, tmp_path / "spool") == 0.25
    assert best_share_floor([scores], 0.5, tmp_path / "spool") == -0.5
    assert best_share_floor([scores], 1.0, tmp_path / "spool") == -np.inf


def test_the_spool_goes_also_when_the_scores_fail(tmp_path: Path) -> None:
    def broken():  # type: ignore[no-untyped-def]
        yield np.zeros(3, np.float32)
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        best_share_floor(broken(), 0.5, tmp_path / "spool")
    assert not (tmp_path / "spool").exists()
