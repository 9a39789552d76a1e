"""Products of codes: NumKong multiplies 8-bit integers and bfloat16, NumPy's BLAS multiplies float32.

Both let other threads run and use one core a call (`.threads` holds the BLAS to one).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any, Literal

import numkong
import numpy as np
import numpy.typing as npt

Kind = Literal["int8", "bf16", "f16", "f32"]
Numbers = npt.NDArray[Any]

# bfloat16 is kept as the bits of uint16: NumPy has no such type. f16 is for GPUs alone.
TYPES: dict[Kind, npt.DTypeLike] = {"int8": np.int8, "bf16": np.uint16, "f16": np.float16, "f32": np.float32}
BITS: dict[Kind, float] = {"int8": 8.0, "bf16": 16.0, "f16": 16.0, "f32": 32.0}

_VNNI = ("icelake", "alder", "sierra", "sapphireamx")
_BF16 = ("genoa", "sapphireamx")


def products(left: Numbers, right: Numbers, out: Numbers | None = None) -> Numbers:
    """Products of codes: (m, width) and (n, width) give (m, n), int32 where codes are integers, else float32.

    Args:
        left: Codes.
        right: Codes of the same kind.
        out: Where the products are written, C-contiguous.
    """
    if out is None:
        out = np.empty((len(left), len(right)), dtype=np.int32 if left.dtype == np.int8 else np.float32)
    if left.dtype == np.float32:
        return np.matmul(left, right.T, out=out)
    if not _is_exact():
        raise ArithmeticError(f"NumKong {version('numkong')} multiplies 8-bit integers wrongly on this processor")
    _multiply(left, right, out)
    return out


def _multiply(left: Numbers, right: Numbers, out: Numbers) -> None:
    numkong.dots_packed(_tensor(left), numkong.dots_pack(_tensor(right)), out=_tensor(out))


@cache
def _is_exact() -> bool:
    """Whether the largest products are right: kernels differ by processor, and a wrong one would lose neighbours."""
    extreme, made = np.full((16, 256), -127, dtype=np.int8), np.empty((16, 16), dtype=np.int32)
    _multiply(extreme, extreme, made)
    return bool((made == 256 * 127 * 127).all())


_NAMES: dict[np.dtype[Any], Any] = {
    np.dtype(np.int8): "int8",
    np.dtype(np.uint16): "bfloat16",
    np.dtype(np.int32): "int32",
    np.dtype(np.float32): "float32",
}


def _tensor(numbers: Numbers) -> Any:
    """NumKong's view of a C-contiguous array."""
    return numkong.from_pointer(numbers.ctypes.data, numbers.shape, _NAMES[numbers.dtype], owner=numbers)


def to_bf16(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """The nearest bfloat16 numbers, halves to even, as the bits of uint16."""
    bits = numbers.view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def from_bf16(numbers: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """The float32 numbers that are equal to bfloat16 ones."""
    return (numbers.astype(np.uint32) << np.uint32(16)).view(np.float32)


@cache
def fast_kinds() -> tuple[Kind, ...]:
    """Kinds of codes that this processor multiplies fast, the quickest first: two, or f32 alone without VNNI."""
    able = numkong.get_capabilities()
    kinds: list[Kind] = []
    if any(able[name] for name in _VNNI):
        kinds.append("int8")
    if any(able[name] for name in _BF16):
        kinds.append("bf16")
    return (*kinds, "f32")[:2]
