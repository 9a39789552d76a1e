"""Where keys stand among sorted or listed keys."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.vectors import Positions

_FEW: Final = 8  # Keys for each wanted one from which on hashing them all takes longer than seeking each wanted one.


def positions_in(keys: pa.Array, wanted: pa.Array | pa.ChunkedArray) -> Positions:
    """Positions of `wanted` among the sorted `keys`, -1 where absent; a few are found without reading all keys."""
    if len(wanted) * _FEW > len(keys):
        return positions_among(keys, wanted)
    wanted = wanted.cast(keys.type)
    wanted = wanted.combine_chunks() if isinstance(wanted, pa.ChunkedArray) else wanted
    at = np.asarray(pc.search_sorted(keys, wanted).fill_null(len(keys)), np.int64)
    at[at == len(keys)] = -1
    there = pc.equal(keys.take(pa.array(at, mask=at < 0)), wanted).fill_null(False)
    return np.where(np.asarray(there), at, -1)


def positions_among(keys: pa.Array, wanted: pa.Array | pa.ChunkedArray) -> Positions:
    """Positions of `wanted` among `keys` in any order, -1 where absent; all keys are hashed."""
    places = pc.fill_null(pc.index_in(wanted.cast(keys.type), value_set=keys), -1)
    return np.asarray(
        places.to_numpy(zero_copy_only=False) if isinstance(places, pa.Array) else places.to_numpy(), np.int64
    )


class KeyPlaces:
    """Where keys stand that are in any order, for many batches: they are sorted once, not hashed for each."""

    def __init__(self, keys: pa.Array) -> None:
        self._order: Positions = pc.sort_indices(keys).to_numpy().astype(np.int64)
        self._sorted = keys.take(pa.array(self._order))

    def of(self, wanted: pa.Array) -> Positions:
        """Positions of `wanted`, -1 where absent."""
        at = positions_in(self._sorted, wanted)
        return np.where(at < 0, -1, self._order[at]) if len(self._order) else at
