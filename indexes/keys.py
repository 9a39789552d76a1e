"""Where keys stand among sorted or listed keys."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.vectors import Positions


def positions_in(keys: pa.Array, wanted: pa.Array | pa.ChunkedArray) -> Positions:
    """Positions of `wanted` among `keys`, -1 where absent."""
    places = pc.fill_null(pc.index_in(wanted.cast(keys.type), value_set=keys), -1)
    return np.asarray(
        places.to_numpy(zero_copy_only=False) if isinstance(places, pa.Array) else places.to_numpy(), np.int64
    )
