"""Sorting by owner and score, several times as fast as by columns, because both go into one integer; prints of vectors.

A print tells different vectors apart, and gives them an order that no change of others alters.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from xxhash import xxh3_128_digest

from quern.indexes.keys import positions_among
from quern.indexes.vectors import Floats, Positions, Rows

Flags = npt.NDArray[np.bool_]


def by_score(owner: Positions, score: Floats, tie: Positions) -> Positions:
    """The order of pairs by owner, then the highest score, then the lowest `tie`.

    Args:
        owner: Below 2**31, shape (pairs,).
        score: None of them NaN, shape (pairs,).
        tie: What decides between equal scores, shape (pairs,).
    """
    # Bits of floats sort as integers do, those of negative ones from behind; -score is from the best to the worst.
    bits = (np.float32(0) - score).view(np.uint32)
    key = owner << 32 | np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31)).astype(np.int64)
    by = order_of(key)
    key = key[by]
    same = ~begins(key)
    tied = np.flatnonzero(np.append(same[1:], False) | same) if same.any() else by[:0]
    by[tied] = by[tied][np.lexsort((tie[by[tied]], key[tied]))]
    return by


def order_of(keys: Positions) -> Positions:
    """The order of integers, fewer than 2**32 of them, equal ones in their own.

    NumPy sorts with AVX-512 or AVX2 where equal ones may come in any order: 600,000 in a third of the time that its
    stable sort takes. Those are put in order then.
    """
    order: Positions = np.argsort(keys)
    same = ~begins(keys[order])
    if same.any():
        tied = np.flatnonzero(np.append(same[1:], False) | same)
        order[tied] = np.sort(np.cumsum(~same[tied]) << 32 | order[tied]) & 0xFFFFFFFF
    return order


def begins(values: npt.NDArray[np.int64]) -> Flags:
    """Which of sorted `values` differ from the one before, the first among them."""
    first = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def ranks(owner: Positions) -> Positions:
    """Place of each among those of its owner, from 0; `owner` is sorted."""
    first = np.flatnonzero(begins(owner))
    ranked: Positions = np.arange(len(owner)) - np.repeat(first, np.diff(np.append(first, len(owner))))
    return ranked


Prints = npt.NDArray[np.uint64]


def vector_prints(vectors: Rows) -> Prints:
    """XXH3-128 of each vector's bytes, shape (n, 2): half the processor's time of sums of products in NumPy."""
    digests = bytearray()
    for start in range(0, len(vectors), 512):
        rows = np.ascontiguousarray(vectors[slice(start, start + 512)], dtype="<f4")
        digests += b"".join(map(xxh3_128_digest, rows))
    return np.frombuffer(digests, dtype=">u8").reshape(len(vectors), 2).astype(np.uint64)


def keys_of(prints: Prints) -> pa.Array:
    """The prints as 16 bytes each."""
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), len(prints), [None, pa.py_buffer(np.ascontiguousarray(prints))]
    )


def matches(prints: Prints, known: Prints) -> Positions:
    """Where each of `prints` is among `known`, -1 where it is not; none occurs twice in either."""
    return positions_among(keys_of(known), keys_of(prints))


def last_by_print(prints: Prints, size: int) -> Positions:
    """Positions of the last `size` in the order of the prints, which no change of other vectors alters."""
    first: npt.NDArray[np.uint64] = prints[:, 0]
    least = np.partition(first, len(first) - size)[len(first) - size] if size < len(first) else np.uint64(0)
    near: Positions = np.flatnonzero(first >= least)
    return near[np.lexsort((prints[near, 1], first[near]))][-size:]
