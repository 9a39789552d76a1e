"""Vectors of 8-bit integers: what nominates neighbours, at up to four times the speed of float32.

A product of codes differs from the true dot product by no more than a margin known for each vector:
with x = c + e, code and what rounding took, |x.y - c.c'| <= |e||y| + |c||e'| (Cauchy-Schwarz). So a search by codes
misses nothing when it takes all within twice the margin of its k-th best.

Rounding seldom conspires so. Where recall is measured anyway, `likely` margins do: a quarter as wide at 384 dimensions.

Products of integers are exact, the same on every machine and in every block: partitions are assigned by them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from typing import Any, Literal

import numkong
import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Floats, Positions, Rows
from quern.jobs.graph.neighbours.threads import run_all, spans

_BLOCK = 1024  # With half of it two threads are no quicker than one: their steps are short, and wait for each other.
_SPAN = 16_384
# Of a likely margin: fewer than 5 of 10^11 products are farther off, 2 exp(-7^2 / 2). At 6, 3 of 10^8: a graph of some
# million edges, made twice, might differ in one.
_SIGMAS = 7.0
_SCALES = 4  # Steps in which a scale doubles.
_SLACK = 1e-6  # Rounding of canonical cosines to float32, and of bounds.


Codes8 = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Codes:
    """Codes of n vectors."""

    numbers: Numbers  # Components times `scale`, rounded, padded with zeros; shape (n, width).
    scale: float  # What components were multiplied with.
    # Most that a product of codes / `scale`^2 differs from the cosine, for each vector, shape (n,) float32.
    margin: Floats
    lost: Floats  # |e|, the length of what rounding took, shape (n,) float32.
    length: Floats  # |c|, the length of the code / `scale`, shape (n,) float32.

    @classmethod
    def of(cls, numbers: Numbers, scale: float, lost: Floats, length: Floats) -> Codes:
        """These codes, with the margins that hold among them."""
        return cls(numbers, scale, _margins(lost, length), lost, length)

    def __len__(self) -> int:
        return len(self.numbers)


def scale_of(vectors: Rows) -> float:
    """A large scale at which 8 bits clip no component of `vectors`: a single clipped one widens every margin.

    It has steps, so that a few other vectors seldom change it and with it all codes.
    """
    blocks = (np.abs(vectors[slice(s, s + _BLOCK)]).max(initial=0.0) for s in range(0, len(vectors), _BLOCK))
    largest = float(max(blocks, default=0.0))
    return 127 / 2 ** float(np.ceil(_SCALES * np.log2(largest)) / _SCALES) if largest > 0 else 1.0


def encode(vectors: Rows, scale: float = 0.0, threads: int = 1) -> Codes:
    """The codes of `vectors`, read block by block.

    Args:
        vectors: Shape (n, d).
        scale: What components are multiplied with; 0 for that of `scale_of`.
        threads: Blocks encoded at once.
    """
    scale = scale or scale_of(vectors)
    count, dimension = len(vectors), max(1, np.asarray(vectors[0:1]).shape[1])
    numbers = room_for_codes(count, dimension)
    lost, length = (np.zeros(count, dtype=np.float32) for _ in range(2))

    def make(span: slice) -> None:
        # Room is asked for once: the system takes longer to give a block's than the block takes.
        scaled, rounded = np.empty((2, min(_BLOCK, count), dimension), dtype=np.float32)
        for start in range(span.start, span.stop, _BLOCK):
            part = slice(start, min(start + _BLOCK, span.stop))
            size = part.stop - part.start
            rows = np.asarray(vectors[part])
            block, kept = np.multiply(rows, np.float32(scale), out=scaled[:size]), rounded[:size]
            np.rint(block, out=kept)
            np.clip(kept, -127, 127, out=kept)
            numbers[part, :dimension] = kept
            length[part] = _lengths(kept) / scale
            lost[part] = _lengths(np.subtract(block, kept, out=block)) / scale

    run_all([partial(make, span) for span in spans(count, _SPAN, threads)], threads)
    return Codes.of(numbers, scale, lost, length)


def _lengths(rows: Floats) -> Floats:
    lengths: Floats = np.sqrt(np.vecdot(rows, rows))
    return lengths


def room_for_codes(rows: int, dimension: int) -> Codes8:
    """Codes of zeros, shape (rows, width): the multiple of 64 that has room for `dimension` numbers."""
    return np.zeros((rows, -(-dimension // 64) * 64), dtype=np.int8)


def codes_at(codes: Codes, positions: Positions) -> Codes:
    """The codes at `positions`, with margins that hold among all."""
    columns = (codes.margin, codes.lost, codes.length)
    return Codes(codes.numbers.take(positions, axis=0), codes.scale, *(column[positions] for column in columns))


def likely(codes: Codes) -> Codes:
    """8-bit `codes` with margins that nearly all products keep, not all; of a clipped vector they stay as they are.

    What rounding takes of a component is even between -1/2 and 1/2 of a step, whatever the other vector: a product of
    codes is off by a sum of such terms, of deviation step / sqrt(12) times the length of the vectors. What clipping
    takes leans one way, so a clipped vector may be missed among the neighbours of others, not among its own.
    """
    if len(codes) == 0:
        return codes
    deviation = 1 / (codes.scale * 12**0.5)
    # A code is clipped that lost more than 1.2 times what rounding takes on average.
    clipped = codes.lost > 1.2 * deviation * codes.numbers.shape[1] ** 0.5
    longest = float(np.where(clipped, 0.0, codes.lost + codes.length).max())
    margin = _SIGMAS * deviation * np.sqrt(codes.length**2 + np.float32(longest**2)) + _SLACK * longest**2
    return replace(codes, margin=np.where(clipped, codes.margin, np.minimum(margin, codes.margin)).astype(np.float32))


def _margins(lost: Floats, length: Floats) -> Floats:
    if len(lost) == 0:
        return lost
    longest = float((lost + length).max())
    made = lost * longest + length * float(lost.max())
    return (made * (1 + 1e-5) + _SLACK * longest**2).astype(np.float32)


Numbers = npt.NDArray[Any]

FOLD = 16  # Rows and columns of a product come in multiples of it: 362 columns take a third longer to make than 368.


def products(left: Numbers, right: Numbers) -> Numbers:
    """Products of codes: (m, width) and (n, width) give (m, n), int32 where codes are integers, else float32."""
    if left.dtype == np.float32:
        made: Numbers = np.matmul(left, right.T)
        return made
    if not _is_exact():
        raise ArithmeticError(f"NumKong {version('numkong')} multiplies 8-bit integers wrongly on this processor")
    return _multiply(left, right)


def _multiply(left: Numbers, right: Numbers) -> Numbers:
    made = np.empty((len(left), len(right)), dtype=np.int32)
    numkong.dots_packed(_tensor(left, "int8"), numkong.dots_pack(_tensor(right, "int8")), out=_tensor(made, "int32"))
    return made


@cache
def _is_exact() -> bool:
    """Whether the largest products are right: kernels differ by processor, and a wrong one would lose neighbours."""
    extreme = np.full((16, 256), -127, dtype=np.int8)
    return bool((_multiply(extreme, extreme) == 256 * 127 * 127).all())


def _tensor(numbers: Numbers, kind: Literal["int8", "int32"]) -> Any:
    """NumKong's view of a C-contiguous array."""
    return numkong.from_pointer(numbers.ctypes.data, numbers.shape, kind, owner=numbers)
