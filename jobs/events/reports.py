"""The reports of events, as the table `events` holds them in its column `sources`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def documents_of(sources: pa.Array) -> list[list[str]]:
    """The documents of each event's reports: of all that is known of a report only this is made Python's."""
    found: list[list[str]] = of_lengths(pc.list_value_length(sources), sources.flatten().field("doc_id")).to_pylist()
    return found


def of_lengths(lengths: pa.Array, values: pa.Array) -> pa.ListArray:
    """The values in lists of these lengths, one after the other."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)
