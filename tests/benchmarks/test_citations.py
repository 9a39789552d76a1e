"""The formulae of citation precision and density."""

from __future__ import annotations

import pytest

from quern.jobs.reasoning.citing.inputs import CitingInput
from tests.benchmarks.citations import JudgedClaim, counts, measures


def claim(right: dict[int, bool]) -> JudgedClaim:
    return JudgedClaim("q", CitingInput("said", []), [0, 0, 1, 2], right)


def test_precision_is_of_citations_and_density_of_claims() -> None:
    claims = [claim({0: True, 2: False}), claim({0: True}), claim({0: False}), claim({2: False})]
    # Two sentences of one text are one citation; text 1 of the second claim was not judged; the last cites nothing.
    of = counts(claims, [[1, 2], [1, 3], [2], []])
    precision, strict, density, supported = measures(of)
    assert precision == pytest.approx(2 / 3)
    assert strict == pytest.approx(2 / 4)
    assert density == pytest.approx(3 / 4)
    assert supported == 1.0
