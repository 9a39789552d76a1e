"""Vectors in few bits: what nominates neighbours, at two to four times the speed of float32.

A code is a vector of 8-bit integers (a processor with VNNI multiplies four times as many as float32 numbers), or of
16-bit floats. A product of codes differs from the true dot product by no more than a margin known for each vector:
with x = c + e, code and what rounding took, |x.y - c.c'| <= |e||y| + |c||e'| (Cauchy-Schwarz). So a search by codes
misses nothing when it takes all within twice the margin of its k-th best. Which code is quicker depends on how many
that are; it changes no result.

Rounding seldom conspires so. Where recall is measured anyway, `likely` margins do: a quarter as wide at 384 dimensions.

Products of integers are exact, the same on every machine and in every block: partitions are assigned by them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
import torch

from quern.indexes.vectors import Floats, Rows
from quern.jobs.graph.neighbours.threads import spans

Kind = Literal["int8", "bf16", "f16", "f32"]

_MOST = 127
_ALIGN = 64
_BLOCK = 1024  # With half of it two threads are no quicker than one: their steps are short, and wait for each other.
_SPAN = 16_384
_COLUMNS = 1024  # Of integers, made float32 at once: 1,024 take 15 ms of 32 by 32,768, 4,096 take 24, all at once 68.
_EXACT_FLOAT32 = (1 << 24) // (_MOST * _MOST)  # Dimensions whose integer products float32 holds exactly.
# Of a likely margin: fewer than 5 of 10^11 products are farther off, 2 exp(-7^2 / 2). At 6, 3 of 10^8: a graph of some
# million edges, made twice, might differ in one.
_SIGMAS = 7.0
_SCALES = 4  # Steps in which a scale doubles.
_CLIPPED = 1.2  # A code is clipped that lost so many times what rounding takes on average.
_SLACK = 1e-6  # Rounding of canonical cosines to float32, and of bounds.
_TYPES: dict[Kind, torch.dtype] = {
    "int8": torch.int8,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
}


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

    numbers: torch.Tensor
    scale: float
    margin: torch.Tensor
    lost: torch.Tensor
    length: torch.Tensor
    peak: torch.Tensor

    @classmethod
    def of(
        cls, numbers: torch.Tensor, scale: float, lost: torch.Tensor, length: torch.Tensor, peak: torch.Tensor
    ) -> Codes:
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


def encode(vectors: Rows, kind: Kind, device: str = "cpu", scale: float = 0.0, threads: int = 1) -> Codes:
    """The codes of `vectors`, read block by block.

    Args:
        vectors: Shape (n, d).
        kind: What of.
        device: Where they are to be multiplied.
        scale: Of int8; 0 for that of `scale_of`.
        threads: Blocks encoded at once.
    """
    scale = (scale or scale_of(vectors)) if kind == "int8" else 1.0
    count, dimension = len(vectors), max(1, np.asarray(vectors[0:1]).shape[1])
    numbers = room_for_codes(count, dimension, kind, device)
    lost, length, peak = (torch.zeros(count, device=device) for _ in range(3))

    def make(span: slice) -> None:
        # Room is asked for once: the system takes longer to give a block's than the block takes.
        scaled = np.empty((min(_BLOCK, count), dimension), dtype=np.float32)
        rounded = torch.empty(scaled.shape, device=device)
        for start in range(span.start, span.stop, _BLOCK):
            part = slice(start, min(start + _BLOCK, span.stop))
            size = part.stop - part.start
            rows = np.asarray(vectors[part])
            largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
            block = torch.from_numpy(np.multiply(rows, np.float32(scale), out=scaled[:size])).to(device)
            kept = rounded[:size]
            if kind == "int8":
                torch.round(block, out=kept)
                clipped = float(largest.max()) * scale > _MOST
                numbers[part, :dimension] = kept.clamp_(-_MOST, _MOST) if clipped else kept
            else:
                numbers[part, :dimension] = block
                kept.copy_(numbers[part, :dimension])
            length[part] = _lengths(kept) / scale
            lost[part] = _lengths(block.sub_(kept)) / scale
            peak[part] = torch.from_numpy(largest)

    with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        list(pool.map(make, spans(count, _SPAN, threads)))
    return Codes.of(numbers, scale, lost, length, peak)


def _lengths(rows: torch.Tensor) -> torch.Tensor:
    if rows.is_cuda:
        return torch.linalg.vector_norm(rows, dim=1)
    numbers = rows.numpy()
    return torch.from_numpy(np.sqrt(np.vecdot(numbers, numbers)))  # Half of the time that torch takes for it.


def room_for_codes(rows: int, dimension: int, kind: Kind, device: str = "cpu") -> torch.Tensor:
    """Codes of zeros, shape (rows, width): the multiple of 64 that has room for `dimension` numbers."""
    return _zeros(rows, -(-dimension // _ALIGN) * _ALIGN, _TYPES[kind], device)


def _zeros(rows: int, width: int, kind: torch.dtype, device: str) -> torch.Tensor:
    """Room for codes. NumPy asks the system for large pages: a fifth of the time that torch's small ones take."""
    if device != "cpu":
        return torch.zeros((rows, width), dtype=kind, device=device)
    return torch.from_numpy(np.zeros((rows, width * kind.itemsize), dtype=np.int8)).view(kind)


def codes_at(codes: Codes, positions: torch.Tensor) -> Codes:
    """The codes at `positions`, with margins that hold among all."""
    return Codes(
        numbers_at(codes.numbers, positions),
        codes.scale,
        *(c[positions] for c in (codes.margin, codes.lost, codes.length, codes.peak)),
    )


def numbers_at(numbers: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The rows of `numbers` at `positions`, many of them."""
    room = _zeros(len(positions), numbers.shape[1], numbers.dtype, numbers.device.type)
    return torch.index_select(numbers, 0, positions, out=room)


def likely(codes: Codes) -> Codes:
    """8-bit `codes` with margins that nearly all products keep, not all; of a clipped vector they stay as they are.

    What rounding takes of a component is even between -1/2 and 1/2 of a step, whatever the other vector: a product of
    codes is off by a sum of such terms, of deviation step / sqrt(12) times the length of the vectors. What clipping
    takes leans one way, so a clipped vector may be missed among the neighbours of others, not among its own.
    """
    if codes.numbers.dtype != torch.int8 or len(codes) == 0:
        return codes
    deviation = 1 / (codes.scale * 12**0.5)
    clipped = codes.lost > _CLIPPED * deviation * codes.numbers.shape[1] ** 0.5
    longest = float(torch.where(clipped, 0.0, codes.lost + codes.length).max())
    margin = _SIGMAS * deviation * (codes.length**2 + longest**2).sqrt() + _SLACK * longest**2
    return replace(codes, margin=torch.where(clipped, codes.margin, torch.minimum(margin, codes.margin)))


def _margins(lost: torch.Tensor, length: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    if len(lost) == 0:
        return lost
    longest = float((lost + length).max())
    # Products of floats are summed in float32 (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
    rounding = 0.0 if numbers.dtype == torch.int8 else numbers.shape[1] * 2.0**-23
    made = lost * longest + length * float(lost.max())
    return made * (1 + 1e-5) + (rounding + _SLACK) * longest**2


def products(left: torch.Tensor, right: torch.Tensor, room: torch.Tensor | None = None) -> torch.Tensor:
    """Products of codes: (m, width) and (n, width) give (m, n), int32 where codes are integers, else of their type.

    Args:
        left: Codes.
        right: Codes of the same kind.
        room: Where products of integers may be put.
    """
    if left.dtype != torch.int8:
        return left @ right.t()
    if left.is_cuda:
        return _integers_on_gpu(left, right)
    if has_vnni():
        made: torch.Tensor = torch._int_mm(left, right.t(), out=room)
        return made
    made = torch.empty((len(left), len(right)), dtype=torch.int32) if room is None else room
    step = _EXACT_FLOAT32 // _ALIGN * _ALIGN
    _in_float32(left[:, :step], right[:, :step], made)
    for start in range(step, left.shape[1], step):
        part = slice(start, start + step)
        made += _in_float32(left[:, part], right[:, part], torch.empty_like(made))
    return made


def _in_float32(left: torch.Tensor, right: torch.Tensor, room: torch.Tensor) -> torch.Tensor:
    """Products of integers that float32 holds exactly, made in the int32 `room` itself: fresh memory takes as long."""
    floats, left = room.view(torch.float32), left.float()
    for start in range(0, len(right), _COLUMNS):
        part = slice(start, start + _COLUMNS)
        torch.mm(left, right[part].float().t(), out=floats[:, part])
    return room.copy_(floats)


def _integers_on_gpu(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The GPU's integer units want more than 16 rows, and columns by eights."""
    padded_left = torch.nn.functional.pad(left, (0, 0, 0, max(0, 32 - len(left))))
    padded_right = torch.nn.functional.pad(right, (0, 0, 0, -len(right) % 8))
    made: torch.Tensor = torch._int_mm(padded_left, padded_right.t())
    return made[: len(left), : len(right)]


@cache
def has_vnni() -> bool:
    """Whether the processor multiplies 8-bit integers, and torch does so rightly, at the largest products."""
    if not (torch.backends.mkldnn.is_available() and torch.cpu._is_vnni_supported()):
        return False
    extreme = torch.full((16, 256), -_MOST, dtype=torch.int8)
    return bool((torch._int_mm(extreme, extreme.t()) == 256 * _MOST * _MOST).all())


@cache
def fast_kinds(device: str) -> tuple[Kind, ...]:
    """Kinds of codes that `device` multiplies fast, the quickest product first: two, or but f32 without AVX-512."""
    if device != "cpu":
        return ("int8", "f16")
    kinds: list[Kind] = []
    if has_vnni():
        kinds.append("int8")
    if torch.cpu._is_avx512_bf16_supported():
        kinds.append("bf16")
    return (*kinds, "f32")[:2]
