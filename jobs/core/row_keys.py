"""The keys of the rows that a job makes: of two rows with one key (pages that name one canonical address) one stays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.jobs.core.contract import Job, Source
from quern.schemas.row_digests import hash_pairs

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


class RowKeys:
    """Keys of the rows that `job` makes of `source`, gathered batch by batch; memory: 32 bytes a row."""

    def __init__(self, job: Job, source: Source, batch_rows: int) -> None:
        self._job, self._source, self._batch_rows = job, source, batch_rows
        self._keys: list[npt.NDArray[np.uint64]] = [np.empty((0, 2), dtype=np.uint64)]
        self._preference: list[Numbers] = [np.empty(0, dtype=np.int64)]
        self._inputs: list[Numbers] = [np.empty(0, dtype=np.int64)]

    def add(self, rows: pa.RecordBatch, inputs: Numbers) -> None:
        """Take the next rows, and the number of the input of each."""
        self._keys.append(hash_pairs(rows.select(list(self._job.makes.key))))
        self._preference.append(self._job.preference(rows))
        self._inputs.append(inputs)

    def kept(self) -> Bools:
        """Which of all rows stay, one per key, in the order they were made, shape (rows,)."""
        keys, preference = np.concatenate(self._keys), -np.concatenate(self._preference)
        order = np.lexsort((np.arange(len(keys)), preference, keys[:, 1], keys[:, 0]))
        again = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
        tied = again & (preference[order[1:]] == preference[order[:-1]])
        if tied.any():
            # Not by the order of the inputs: a page store has it by what was ingested when.
            among = np.union1d(order[1:][tied], order[:-1][tied])
            rank = np.zeros(len(keys), dtype=np.int64)
            rank[among] = self._rank_by_key(np.concatenate(self._inputs)[among])
            order = np.lexsort((np.arange(len(keys)), rank, preference, keys[:, 1], keys[:, 0]))
        kept = np.ones(len(keys), dtype=np.bool_)
        kept[order[1:]] = ~again
        return kept

    def input_keys(self, rows: Bools) -> list[str]:
        """The keys of the inputs of these rows."""
        wanted, back = np.unique(np.concatenate(self._inputs)[rows], return_inverse=True)
        found: list[str] = self._keys_of(wanted).take(pa.array(back)).to_pylist()
        return found

    def _rank_by_key(self, inputs: Numbers) -> Numbers:
        """The place of some inputs, which are numbered in the order of the source, among each other by their keys."""
        wanted, back = np.unique(inputs, return_inverse=True)
        ranks: Numbers = pc.rank(self._keys_of(wanted), tiebreaker="dense").to_numpy().astype(np.int64)
        return ranks[back]

    def _keys_of(self, inputs: Numbers) -> pa.ChunkedArray:
        """The keys of the inputs with these numbers, which ascend."""
        found, at = [], 0
        for batch in self._source.batches([self._job.key], self._batch_rows):
            inside = inputs[(inputs >= at) & (inputs < at + batch.num_rows)] - at
            found.append(batch.column(self._job.key).take(pa.array(inside)))
            at += batch.num_rows
        return pa.chunked_array(found)
