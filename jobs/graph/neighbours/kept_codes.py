"""Codes that the last night left: those of vectors that are there still are not made again.

A state has them in two files: most are in one that the states of many nights share, those that came since in another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quern.indexes.vectors import Floats, Positions
from quern.jobs.graph.neighbours.codes import Codes, encode, room_for_codes, scale_for
from quern.jobs.graph.neighbours.threads import run_all, spans
from quern.jobs.graph.neighbours.vectors_in_order import Vectors, VectorsInOrder

_SPAN = 16_384
_MOST_SINCE = 0.25  # Of all codes; then one file is made of both.
_MOST_GONE = 0.5


@dataclass(frozen=True)
class SharedFile:
    """A file that states share.

    Attributes:
        path: Where the state that was read has it.
        checksum: Of its bytes.
    """

    path: Path
    checksum: str


@dataclass(frozen=True)
class KeptCodes:
    """The 8-bit codes of n vectors.

    Attributes:
        shared: Codes of most of them, of some that went too; shape (rows, width), mapped perhaps.
        file: What they are in; None where it is to be written yet.
        place: Where among them the code of each vector is; -1 where it is among the others. Shape (n,).
        since: The others, in the order of the vectors.
        scale: Of all.
        lost: See `Codes`.
        length: See `Codes`.
        peak: See `Codes`.
    """

    shared: npt.NDArray[np.int8]
    file: SharedFile | None
    place: npt.NDArray[np.int32]
    since: npt.NDArray[np.int8]
    scale: float
    lost: Floats
    length: Floats
    peak: Floats

    @classmethod
    def of(cls, codes: Codes, before: KeptCodes | None = None, was: Positions | None = None) -> KeptCodes:
        """What is to be kept of `codes`; the shared file of the last night serves while most of them are in it.

        Args:
            codes: Of tonight's vectors.
            before: Those of the last night.
            was: Where each of the vectors was then; -1 where it is new.
        """
        columns = (codes.scale, codes.lost, codes.length, codes.peak)
        if before is not None and was is not None and before.file is not None and before.scale == codes.scale:
            place = np.where(was >= 0, before.place[was], np.int32(-1))
            since = np.flatnonzero(place < 0)
            gone = len(before.shared) - (len(place) - len(since))
            if len(since) <= _MOST_SINCE * len(place) and gone <= _MOST_GONE * len(before.shared):
                others = codes.numbers[since]
                return cls(before.shared, before.file, place, others, *columns)
        return cls(codes.numbers, None, np.arange(len(codes), dtype=np.int32), codes.numbers[:0], *columns)

    def numbers(self, positions: Positions, threads: int = 1) -> npt.NDArray[np.int8]:
        """The codes of the vectors at `positions`, shape (positions, width); any where it is -1."""
        made = room_for_codes(len(positions), self.shared.shape[1], "int8")
        place = self.place[positions].astype(np.int64)
        others = np.flatnonzero((place < 0) & (positions >= 0))

        def carry(span: slice) -> None:
            self.shared.take(place[span], axis=0, out=made[span], mode="clip")

        if len(self.shared):
            run_all([partial(carry, span) for span in spans(len(positions), _SPAN, threads)], threads)
        nth = np.cumsum(self.place < 0) - 1
        made[others] = self.since[nth[positions[others]]]
        return made


def encode_changed(vectors: Vectors, before: KeptCodes, was: Positions, threads: int = 1) -> Codes:
    """The 8-bit codes of `vectors`, the same as `encode` makes.

    Args:
        vectors: Shape (n, d).
        before: Of the last night, of as many dimensions.
        was: Where each of the vectors was then; -1 where it is new.
        threads: Blocks encoded at once.
    """
    new = np.flatnonzero(was < 0)
    made = encode(VectorsInOrder(vectors, new), "int8", scale=before.scale, threads=threads)
    lost, length, peak = (known[was.clip(0)] for known in (before.lost, before.length, before.peak))
    peak[new] = made.peak
    scale = scale_for(float(peak.max()))
    if scale != before.scale:
        return encode(vectors, "int8", scale=scale, threads=threads)
    numbers = before.numbers(was, threads)
    numbers[new], lost[new], length[new] = made.numbers, made.lost, made.length
    return Codes.of(numbers, scale, lost, length, peak)
