"""Vectors of 8-bit integers: what nominates neighbours, at up to four times the speed of float32.

A product of codes differs from the true dot product by no more than a margin known for each vector:
with x = c + e, code and what rounding took, |x.y - c.c'| <= |e||y| + |c||e'| (Cauchy-Schwarz). So a search by codes
misses nothing when it takes all within twice the margin of its k-th best.

Rounding seldom conspires so. Where recall is measured anyway, `likely` margins do: a quarter as wide at 384 dimensions.

Products of integers are exact, the same on every machine and in every block: partitions are assigned by them. NumKong
multiplies them, and NumPy's BLAS float32; both let other threads run and use one core a call. Of each 16 products of a
block the largest, their peak, is looked at first, and only where it reaches the threshold the 16 singly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

import numkong
import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Floats, Positions, Rows
from quern.jobs.graph.neighbours.threads import run_all, spans

BLOCK = 1024  # With half of it two threads are no quicker than one: their steps are short, and wait for each other.
SPAN = 16_384
# Of a likely margin: fewer than 5 of 10^11 products are farther off, 2 exp(-7^2 / 2). At 6, 3 of 10^8: a graph of some
# million edges, made twice, might differ in one.
_SIGMAS = 7.0
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
        if len(lost) == 0:
            return cls(numbers, scale, lost, lost, length)
        longest = float((lost + length).max())
        margin = (lost * longest + length * float(lost.max())) * (1 + 1e-5) + _SLACK * longest**2
        return cls(numbers, scale, margin.astype(np.float32), lost, length)

    def __len__(self) -> int:
        return len(self.numbers)


def scale_of(vectors: Rows) -> float:
    """A large scale at which 8 bits clip no component of `vectors`: a single clipped one widens every margin.

    It doubles in four steps, so that a few other vectors seldom change it and with it all codes.
    """
    blocks = (np.abs(vectors[slice(s, s + BLOCK)]).max(initial=0.0) for s in range(0, len(vectors), BLOCK))
    largest = float(max(blocks, default=0.0))
    return 127 / 2 ** float(np.ceil(4 * np.log2(largest)) / 4) if largest > 0 else 1.0


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
        scaled, rounded = np.empty((2, min(BLOCK, count), dimension), dtype=np.float32)
        for start in range(span.start, span.stop, BLOCK):
            part = slice(start, min(start + BLOCK, span.stop))
            size = part.stop - part.start
            rows = np.asarray(vectors[part])
            block, codes = np.multiply(rows, np.float32(scale), out=scaled[:size]), rounded[:size]
            np.rint(block, out=codes)
            np.clip(codes, -127, 127, out=codes)
            numbers[part, :dimension] = codes
            length[part] = _lengths(codes) / scale
            lost[part] = _lengths(np.subtract(block, codes, out=block)) / scale

    run_all([partial(make, span) for span in spans(count, SPAN, threads)], threads)
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


Numbers = npt.NDArray[Any]

FOLD = 16  # Rows and columns of a product come in multiples of it: 362 columns take a third longer to make than 368.


def products(left: Numbers, right: Numbers) -> Numbers:
    """Products of codes: (m, width) and (n, width) give (m, n), int32 where codes are integers, else float32."""
    if left.dtype == np.float32:
        result: Numbers = np.matmul(left, right.T)
        return result
    if not _is_exact():
        raise ArithmeticError(f"NumKong {version('numkong')} multiplies 8-bit integers wrongly on this processor")
    return _multiply(left, right)


def _multiply(left: Numbers, right: Numbers) -> Numbers:
    result = np.empty((len(left), len(right)), dtype=np.int32)
    numkong.dots_packed(_tensor(left, "int8"), numkong.dots_pack(_tensor(right, "int8")), out=_tensor(result, "int32"))
    return result


@cache
def _is_exact() -> bool:
    """Whether the largest products are right: kernels differ by processor, and a wrong one would lose neighbours."""
    extreme = np.full((16, 256), -127, dtype=np.int8)
    return bool((_multiply(extreme, extreme) == 256 * 127 * 127).all())


def _tensor(numbers: Numbers, kind: Literal["int8", "int32"]) -> Any:
    return numkong.from_pointer(numbers.ctypes.data, numbers.shape, kind, owner=numbers)


_LOWEST = -(1 << 30)  # Below all products of integers...
_LOWEST_FLOAT = -(1 << 15)  # ...and of floats.


class Pairs(NamedTuple):
    """Pairs in one direction: `target` may be a neighbour of `owner`, with a cosine within [lower, upper]."""

    owner: Positions
    target: Positions
    lower: Floats
    upper: Floats

    def where(self, kept: npt.NDArray[np.bool_]) -> Pairs:
        """Those that are `kept`."""
        index = np.flatnonzero(kept)
        return Pairs(self.owner[index], self.target[index], self.lower[index], self.upper[index])


@dataclass(frozen=True)
class Block:
    """Products of some vectors with some others."""

    # Shape (rows, columns), both rounded up to multiples of 16; padding, and a vector with itself, is out of reach.
    # int32 or float32.
    products: Numbers
    unit: float  # Cosine of a product of 1.
    row_margin: Floats  # Most that a cosine differs from its product, for each row.
    column_margin: Floats  # The same for each column.

    @classmethod
    def of_codes(cls, codes: Codes, rows: Positions, columns: Positions) -> Block:
        """The block of the codes at positions `rows` and `columns`, both ascending."""
        block = products(_padded(codes.numbers, rows), _padded(codes.numbers, columns))
        _blank(block, rows, columns)
        return cls(block, codes.scale**-2, codes.margin[rows], codes.margin[columns])

    @classmethod
    def of_vectors(cls, left: Floats, right: Floats, rows: Positions, columns: Positions) -> Block:
        """The same of the vectors themselves, in float32."""
        block = products(_pad(left), _pad(right))
        _blank(block, rows, columns)
        longest = float(np.linalg.norm(left, axis=1).max() * np.linalg.norm(right, axis=1).max())
        # Higham, Accuracy and Stability of Numerical Algorithms, 3.1: n u |x||y|, in any order of the sum.
        rounding = np.float32(left.shape[1] * 2.0**-23 * longest + 1e-6)
        return cls(block, 1.0, np.full(len(rows), rounding), np.full(len(columns), rounding))

    def peaks(self, *, turned: bool) -> Numbers:
        """The largest of each 16 products of a row, shape (rows, columns / 16).

        `turned` of a column, shape (rows / 16, columns).
        """
        rows, columns = self.products.shape
        shape = (rows // FOLD, FOLD, columns) if turned else (rows, FOLD, columns // FOLD)
        peaks: Numbers = self.products.reshape(shape).max(axis=1)
        return peaks

    def floor(self, peaks: Numbers, depth: int, *, turned: bool) -> Floats:
        """Lower bound of the `depth`-th best cosine of each row, or column; -inf where there are too few peaks."""
        margin = self.column_margin if turned else self.row_margin
        peaks = (peaks.T if turned else peaks)[: len(margin)]
        if peaks.shape[1] < depth:
            return np.full_like(margin, -np.inf)
        best = np.partition(peaks, -depth, axis=1)[:, -depth]
        cosine = best.astype(np.float32) * np.float32(self.unit)
        return np.where(best > _lowest(best) // 2, cosine - margin, np.float32(-np.inf))

    def reaching(self, peaks: Numbers, floor: Floats, most: int, *, turned: bool) -> Pairs | None:
        """Rows and columns, or `turned`, that may reach the floors of the former; None if more than `most` peaks do."""
        margin = self.column_margin if turned else self.row_margin
        threshold: Numbers = (floor.astype(np.float64) - margin) / self.unit
        if self.products.dtype == np.int32:
            threshold = np.maximum(np.floor(threshold), _LOWEST + 1).astype(np.int32)
        else:
            threshold -= np.abs(threshold) * 2.0**-23  # It is rounded to float32 itself.
            threshold = np.maximum(threshold, _LOWEST_FLOAT // 2).astype(np.float32)
        (rows, columns), groups = self.products.shape, self.products.shape[1] // FOLD
        if turned:
            at = np.flatnonzero(peaks[:, : len(floor)] >= threshold)
        else:
            at = np.flatnonzero(peaks[: len(floor)] >= threshold[:, None])
        if len(at) > most:
            return None
        if turned:
            group, owner = np.divmod(at, max(1, len(floor)))
            near = self.products.reshape(rows // FOLD, FOLD, columns)[group, :, owner]
        else:
            owner, group = np.divmod(at, groups)
            near = self.products.reshape(rows, FOLD, groups)[owner, :, group]
        hit, fold = np.nonzero(near >= threshold[owner, None])
        owner, group = owner[hit], group[hit]
        target = group * FOLD + fold if turned else fold * groups + group
        cosine = near[hit, fold].astype(np.float32) * np.float32(self.unit)
        return Pairs(owner, target, cosine - margin[owner], cosine + margin[owner])


def _padded(numbers: Numbers, positions: Positions) -> Numbers:
    """The rows of `numbers` at `positions`, and any others up to a multiple of 16; no copy where they are a range."""
    first, count = int(positions[0]), len(positions)
    padding = -count % FOLD
    if int(positions[-1]) - first + 1 == count:
        stop = first + count + padding
        return numbers[first:stop] if stop <= len(numbers) else _pad(numbers[first : first + count])
    if padding:
        positions = np.concatenate([positions, np.repeat(positions[:1], padding)])
    return numbers.take(positions, axis=0)


def _pad(rows: Numbers) -> Numbers:
    padding = -len(rows) % FOLD
    return np.concatenate([rows, np.zeros((padding, rows.shape[1]), rows.dtype)]) if padding else rows


def _blank(block: Numbers, rows: Positions, columns: Positions) -> None:
    """Put what is no pair out of reach: padding, and a vector with itself."""
    block[len(rows) :] = _lowest(block)
    block[:, len(columns) :] = _lowest(block)
    at = np.searchsorted(columns, rows)
    inside = np.flatnonzero(at < len(columns))
    same = inside[columns[at[inside]] == rows[inside]]
    block[same, at[same]] = _lowest(block)


def _lowest(products: Numbers) -> int:
    return _LOWEST if products.dtype == np.int32 else _LOWEST_FLOAT
