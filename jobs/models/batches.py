"""Batches of texts for a model: only texts of one padded length share a call.

A text is padded to its own length rounded up to a multiple of `PAD_TO`, never to the longest text of its batch:
padding to the longest would change last digits, and a last digit can flip an edge of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]

# Bit-identical in OpenVINO f32, bf16 and int8 and in torch f32 also at 1; of 30 tokens 8 wastes a tenth, 16 a quarter.
PAD_TO = 8


@dataclass(frozen=True)
class Call:
    """One call of the model."""

    rows: Rows  # Which texts, shape (n,).
    ids: Ids  # Their token ids, int64 of shape (n, length).
    mask: Ids  # 1 where there is a token, 0 where there is padding, int64 of shape (n, length).


@dataclass(frozen=True)
class Batching:
    """How texts share calls."""

    texts: int  # Most texts of a call.
    tokens: int  # Most tokens of a call, padding included, unless one text has more.
    positions: int | None  # Most tokens that the model reads; None for no limit.
    pad_id: int  # Token id that fills a text up to its padded length.

    def calls(self, ids: Sequence[Sequence[int]]) -> Iterator[Call]:
        """Calls for all texts, longest first, so that the last calls, which some workers wait for, are short."""
        lengths = np.maximum(1, np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)))
        padded = -(-lengths // PAD_TO) * PAD_TO
        if self.positions is not None:
            padded = np.minimum(padded, self.positions)
        for length in np.unique(padded)[::-1].tolist():
            rows = np.flatnonzero(padded == length)
            size = max(1, min(self.texts, self.tokens // length))
            for first in range(0, len(rows), size):
                own = rows[first : first + size]
                tokens = np.full((len(own), length), self.pad_id, dtype=np.int64)
                mask = np.zeros((len(own), length), dtype=np.int64)
                for at, row in enumerate(own.tolist()):
                    tokens[at, : len(ids[row])] = ids[row]
                    mask[at, : len(ids[row])] = 1
                yield Call(own, tokens, mask)
