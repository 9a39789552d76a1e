"""Margins of codes: some that all products keep, and some that nearly all do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from quern.indexes.vectors import Floats
from quern.jobs.graph.neighbours.codes import Codes, encode, likely, products


def unit(rows: Floats) -> Floats:
    made: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return made


def gaussian(seed: int) -> Floats:
    return unit(np.random.default_rng(seed).standard_normal((1200, 384)))


def few_components(seed: int) -> Floats:
    """Nine in ten components are 0: rounding takes nothing of them."""
    rng = np.random.default_rng(seed)
    return unit(rng.standard_normal((1200, 384)) * (rng.random((1200, 384)) < 0.1) + 1e-9)


def one_large_component(seed: int) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((1200, 384))
    rows[:, 7] *= 40
    return unit(rows)


def near_each_other(seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    return unit(rng.standard_normal((1, 384)) + 0.05 * rng.standard_normal((1200, 384)))


KINDS = [gaussian, few_components, one_large_component, near_each_other]


def off(codes: Codes, vectors: Floats) -> torch.Tensor:
    """How far each product is from its cosine."""
    true = torch.from_numpy(vectors.astype(np.float64) @ vectors.T.astype(np.float64))
    return (products(codes.numbers, codes.numbers).double() / codes.scale**2 - true).abs()


@pytest.mark.parametrize("kind", KINDS)
def test_products_keep_likely_margins_as_well_as_those_of_all(kind: Callable[[int], Floats]) -> None:
    vectors = kind(1)
    codes = encode(vectors, "int8")
    far = off(codes, vectors)
    assert (far <= codes.margin[:, None]).all()
    assert (far <= likely(codes).margin[:, None]).all()  # 1.44 million products of each kind.


def test_likely_margins_are_a_quarter_of_those_that_all_keep() -> None:
    codes = encode(gaussian(2), "int8")
    assert float((likely(codes).margin / codes.margin).max()) < 0.27


def test_a_clipped_vector_leaves_the_margins_of_others_narrow() -> None:
    vectors = gaussian(3)
    both = np.concatenate([vectors, one_large_component(3)[:5]])
    codes = encode(both, "int8", scale=encode(vectors, "int8").scale)
    margins = likely(codes).margin
    assert (margins[-5:] == codes.margin[-5:]).all()
    assert float(margins[:-5].max()) < 0.27 * float(encode(vectors, "int8").margin.min())
    far = off(codes, both)
    assert (far[-5:] <= margins[-5:, None]).all()
    assert (far[:-5, :-5] <= margins[:-5, None]).all()


def test_margins_of_floats_stay_as_they_are() -> None:
    codes = encode(gaussian(4), "bf16")
    assert likely(codes) is codes
    assert len(likely(encode(gaussian(4)[:0].reshape(0, 384), "int8"))) == 0


@pytest.mark.parametrize("largest", [0.4, 1.7])
def test_a_scale_that_is_likely_changes_no_code(largest: float) -> None:
    rows = gaussian(3)
    rows[5, 7] = largest
    expected = encode(rows, "int8")
    for likely_scale in (expected.scale, 427.0, 50.0):
        found = encode(rows, "int8", likely_scale=likely_scale)
        assert found.scale == expected.scale
        assert (found.numbers == expected.numbers).all()
