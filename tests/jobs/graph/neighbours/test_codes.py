"""Margins of codes: some that all products keep, and some that nearly all do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

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


def off(codes: Codes, vectors: Floats) -> npt.NDArray[np.float64]:
    """How far each product is from its cosine."""
    true = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    return np.abs(products(codes.numbers, codes.numbers) / np.float64(codes.scale**2) - true)


@pytest.mark.parametrize("kind", KINDS)
def test_products_keep_likely_margins_as_well_as_those_of_all(kind: Callable[[int], Floats]) -> None:
    vectors = kind(1)
    codes = encode(vectors)
    far = off(codes, vectors)
    assert (far <= codes.margin[:, None]).all()
    assert (far <= likely(codes).margin[:, None]).all()  # 1.44 million products of each kind.


def test_a_clipped_vector_leaves_the_margins_of_others_narrow() -> None:
    vectors = gaussian(3)
    both = np.concatenate([vectors, one_large_component(3)[:5]])
    codes = encode(both, scale=encode(vectors).scale)
    margins = likely(codes).margin
    assert (margins[-5:] == codes.margin[-5:]).all()
    assert float(margins[:-5].max()) < 0.27 * float(encode(vectors).margin.min())
    far = off(codes, both)
    assert (far[-5:] <= margins[-5:, None]).all()
    assert (far[:-5, :-5] <= margins[:-5, None]).all()
