"""Where keys stand among sorted or listed keys, and what tells keys of several columns apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.vectors import Positions
from quern.schemas.digests import row_fingerprints


def positions_in(keys: pa.Array, wanted: pa.Array | pa.ChunkedArray) -> Positions:
    """Positions of `wanted` among `keys`, -1 where absent."""
    places = pc.fill_null(pc.index_in(wanted, value_set=keys), -1)
    return np.asarray(
        places.to_numpy(zero_copy_only=False) if isinstance(places, pa.Array) else places.to_numpy(), np.int64
    )


def hash_pairs(batch: pa.RecordBatch) -> npt.NDArray[np.uint64]:
    """The fingerprint of each row over all columns as two numbers, shape (rows, 2).

    Columns go by number: a key and a reference to it have different names and have the same hashes.
    """
    numbers = [str(n) for n in range(batch.num_columns)]
    return row_fingerprints(batch.rename_columns(numbers), numbers).view(np.uint64).reshape(-1, 2)
