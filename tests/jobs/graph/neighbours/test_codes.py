"""Margins of codes: some that all products keep, and some that nearly all do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from quern.indexes.vectors import Floats
from quern.jobs.graph.neighbours.codes import Codes, encode, likely
from quern.jobs.graph.neighbours.kept_codes import KeptCodes, SharedFile, encode_changed
from quern.jobs.graph.neighbours.products import products


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


@pytest.mark.parametrize(("come", "gone"), [(0.4, None), (1.7, None), (None, 1.7), (0.4, 0.4), (None, None)])
def test_codes_of_the_last_night_are_those_made_anew(come: float | None, gone: float | None) -> None:
    """A component that comes or goes may be the one that the scale of all is made for."""
    pool = gaussian(3)
    for row, largest in ((0, gone), (-1, come)):
        if largest is not None:
            pool[row, 7] = largest
    was = np.append(np.random.default_rng(3).permutation(np.arange(1, 1000)), np.full(200, -1))
    tonight = np.concatenate([pool[was[:-200]], pool[-200:]])
    expected = encode(tonight, "int8")
    found = encode_changed(tonight, KeptCodes.of(encode(pool[:1000], "int8")), was)
    assert found.scale == expected.scale
    for column in ("numbers", "lost", "length", "peak", "margin"):
        assert (getattr(found, column) == getattr(expected, column)).all(), column


@pytest.mark.parametrize("fresh", [20, 400])
def test_nights_share_a_file_of_codes_until_a_quarter_of_them_came_since(fresh: int) -> None:
    rng = np.random.default_rng(5)
    pool = gaussian(5)
    rows = np.arange(800)
    kept = KeptCodes.of(encode(pool[rows], "int8"))
    for _ in range(3):
        kept = replace(kept, file=SharedFile(Path("codes.npy"), ""))
        stay = np.sort(rng.permutation(len(rows))[fresh:])
        others = np.setdiff1d(np.arange(len(pool)), rows)[:fresh]
        was = np.concatenate([stay, np.full(fresh, -1)])[order := rng.permutation(800)]
        rows = np.concatenate([rows[stay], others])[order]
        codes = encode_changed(pool[rows], kept, was)
        kept = KeptCodes.of(codes, kept, was)
        assert (kept.file is None) == (fresh == 400)
        some = rng.permutation(800)[:300]
        assert (kept.numbers(some, 2) == encode(pool[rows], "int8", scale=codes.scale).numbers[some]).all()
        assert (kept.numbers(np.array([-1, 5]))[1] == codes.numbers[5]).all()


def test_a_file_of_which_most_went_is_shared_no_longer() -> None:
    pool = gaussian(6)
    before = KeptCodes.of(encode(pool, "int8"))
    before = replace(before, file=SharedFile(Path("codes.npy"), ""))
    for left, shared in ((700, True), (500, False)):
        was = np.arange(left)
        assert (KeptCodes.of(encode_changed(pool[:left], before, was), before, was).file is not None) == shared
