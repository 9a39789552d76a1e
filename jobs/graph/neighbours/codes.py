"""Vectors in few bits: what nominates neighbours, at two to four times the speed of float32.

A code is a vector of 8-bit integers (a processor with VNNI multiplies four times as many as float32 numbers), or of
floats. A product of codes differs from the true dot product by no more than a margin known for each vector:
with x = c + e, code and what rounding took, |x.y - c.c'| <= |e||y| + |c||e'| (Cauchy-Schwarz). So a search by codes
misses nothing when it takes all within twice the margin of its k-th best. Which code is quicker depends on how many
that are; it changes no result.

Rounding seldom conspires so. Where recall is measured anyway, `likely` margins do: a quarter as wide at 384 dimensions.

Products of integers are exact, the same on every machine and in every block: partitions are assigned by them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from quern.indexes.vectors import Floats, Positions, Rows
from quern.jobs.graph.neighbours.products import TYPES, Kind, Numbers, from_bf16, to_bf16
from quern.jobs.graph.neighbours.threads import run_all, spans

_MOST = 127
_ALIGN = 64
_BLOCK = 1024  # With half of it two threads are no quicker than one: their steps are short, and wait for each other.
_SPAN = 16_384
# Of a likely margin: fewer than 5 of 10^11 products are farther off, 2 exp(-7^2 / 2). At 6, 3 of 10^8: a graph of some
# million edges, made twice, might differ in one.
_SIGMAS = 7.0
_SCALES = 4  # Steps in which a scale doubles.
_CLIPPED = 1.2  # A code is clipped that lost so many times what rounding takes on average.
_SLACK = 1e-6  # Rounding of canonical cosines to float32, and of bounds.


@dataclass(frozen=True)
class Codes:
    """Codes of n vectors.

    Attributes:
        numbers: Components times `scale`, rounded, padded with zeros; shape (n, width).
        scale: What components were multiplied with; 1 for floats.
        margin: Most that a product of codes / `scale`^2 differs from the cosine, for each vector, shape (n,) float32.
        lost: |e|, the length of what rounding took, shape (n,) float32.
        length: |c|, the length of the code / `scale`, shape (n,) float32.
        peak: The largest component of the vector, without its sign, shape (n,) float32.
    """

    numbers: Numbers
    scale: float
    margin: Floats
    lost: Floats
    length: Floats
    peak: Floats

    @classmethod
    def of(cls, numbers: Numbers, scale: float, lost: Floats, length: Floats, peak: Floats) -> Codes:
        """These codes, with the margins that hold among them."""
        return cls(numbers, scale, _margins(lost, length, numbers), lost, length, peak)

    def __len__(self) -> int:
        return len(self.numbers)


def scale_of(vectors: Rows) -> float:
    """A large scale at which 8 bits clip no component of `vectors`: a single clipped one widens every margin.

    It has steps, so that a few other vectors seldom change it and with it all codes.
    """
    starts = range(0, len(vectors), _BLOCK)
    return scale_for(max((_largest(np.asarray(vectors[slice(s, s + _BLOCK)])) for s in starts), default=0.0))


def scale_for(largest: float) -> float:
    """The scale of vectors with no larger component than this."""
    return _MOST / 2 ** float(np.ceil(_SCALES * np.log2(largest)) / _SCALES) if largest > 0 else 1.0


def _largest(block: Floats) -> float:
    return max(float(block.max(initial=0.0)), -float(block.min(initial=0.0)))


def encode(vectors: Rows, kind: Kind, scale: float = 0.0, threads: int = 1) -> Codes:
    """The codes of `vectors`, read block by block.

    Args:
        vectors: Shape (n, d).
        kind: What of.
        scale: Of int8; 0 for that of `scale_of`.
        threads: Blocks encoded at once.
    """
    scale = (scale or scale_of(vectors)) if kind == "int8" else 1.0
    count, dimension = len(vectors), max(1, np.asarray(vectors[0:1]).shape[1])
    numbers = room_for_codes(count, dimension, kind)
    lost, length, peak = (np.zeros(count, dtype=np.float32) for _ in range(3))

    def make(span: slice) -> None:
        # Room is asked for once: the system takes longer to give a block's than the block takes.
        scaled, rounded = np.empty((2, min(_BLOCK, count), dimension), dtype=np.float32)
        for start in range(span.start, span.stop, _BLOCK):
            part = slice(start, min(start + _BLOCK, span.stop))
            size = part.stop - part.start
            rows = np.asarray(vectors[part])
            peak[part] = np.maximum(rows.max(axis=1), -rows.min(axis=1))
            block, kept = np.multiply(rows, np.float32(scale), out=scaled[:size]), rounded[:size]
            if kind == "int8":
                np.rint(block, out=kept)
                if float(peak[part].max()) * scale > _MOST:
                    np.clip(kept, -_MOST, _MOST, out=kept)
                numbers[part, :dimension] = kept
            elif kind == "bf16":
                numbers[part, :dimension] = to_bf16(block)
                kept[:] = from_bf16(numbers[part, :dimension])
            else:
                numbers[part, :dimension] = block
                kept[:] = numbers[part, :dimension]
            length[part] = _lengths(kept) / scale
            lost[part] = _lengths(np.subtract(block, kept, out=block)) / scale

    run_all([partial(make, span) for span in spans(count, _SPAN, threads)], threads)
    return Codes.of(numbers, scale, lost, length, peak)


def _lengths(rows: Floats) -> Floats:
    lengths: Floats = np.sqrt(np.vecdot(rows, rows))
    return lengths


def room_for_codes(rows: int, dimension: int, kind: Kind) -> Numbers:
    """Codes of zeros, shape (rows, width): the multiple of 64 that has room for `dimension` numbers."""
    return np.zeros((rows, -(-dimension // _ALIGN) * _ALIGN), dtype=TYPES[kind])


def codes_at(codes: Codes, positions: Positions) -> Codes:
    """The codes at `positions`, with margins that hold among all."""
    columns = (codes.margin, codes.lost, codes.length, codes.peak)
    return Codes(codes.numbers.take(positions, axis=0), codes.scale, *(column[positions] for column in columns))


def likely(codes: Codes) -> Codes:
    """8-bit `codes` with margins that nearly all products keep, not all; of a clipped vector they stay as they are.

    What rounding takes of a component is even between -1/2 and 1/2 of a step, whatever the other vector: a product of
    codes is off by a sum of such terms, of deviation step / sqrt(12) times the length of the vectors. What clipping
    takes leans one way, so a clipped vector may be missed among the neighbours of others, not among its own.
    """
    if codes.numbers.dtype != np.int8 or len(codes) == 0:
        return codes
    deviation = 1 / (codes.scale * 12**0.5)
    clipped = codes.lost > _CLIPPED * deviation * codes.numbers.shape[1] ** 0.5
    longest = float(np.where(clipped, 0.0, codes.lost + codes.length).max())
    margin = _SIGMAS * deviation * np.sqrt(codes.length**2 + np.float32(longest**2)) + _SLACK * longest**2
    return replace(codes, margin=np.where(clipped, codes.margin, np.minimum(margin, codes.margin)).astype(np.float32))


def _margins(lost: Floats, length: Floats, numbers: Numbers) -> Floats:
    if len(lost) == 0:
        return lost
    longest = float((lost + length).max())
    # Products of floats are summed in float32 (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
    rounding = 0.0 if numbers.dtype == np.int8 else numbers.shape[1] * 2.0**-23
    made = lost * longest + length * float(lost.max())
    return (made * (1 + 1e-5) + (rounding + _SLACK) * longest**2).astype(np.float32)
