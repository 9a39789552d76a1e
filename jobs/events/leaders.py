"""Which reports are of one event: each joins the first before it that it is near to and does not contradict in time.

Reports are given in the order in which they are kept: precise before vague, earlier before later. A report joins the
first *leader* with a cosine above the bar and days in common, else it leads (Xinyu, section 3.6.2: above .9 the later
is discarded; its released code: precise before vague). So the result is a function of the reports alone.

After a night's changes only new reports, those that have lost their leader, and those near a new leader are decided
again. Exact: what a matrix product rounds near the bar is computed anew in float64, so no block decides anything.
Memory: 40 bytes a report, and blocks of `_BLOCK` reports by `_WIDTH` leaders, however many a day has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.indexes.vectors import Floats, Positions

Bools = npt.NDArray[np.bool_]
_BLOCK: Final = 256
_WIDTH: Final = 8192
NEW: Final = -1
"""The leader before of a report that was not there, or whose leader is gone."""


@dataclass(frozen=True)
class Dated:
    """Reports in the order in which they are kept; arrays of shape (reports,)."""

    first: Positions  # First day of each, as a number.
    last: Positions  # Last day of each.
    vectors: Floats  # Their vectors, shape (reports, d).

    def __len__(self) -> int:
        return len(self.first)

    def near(self, rows: Positions, others: Positions, same: float) -> Bools:
        """Whether each of `rows` and each of `others` are of one event, shape (rows, others)."""
        cosine = np.asarray(self.vectors[rows]) @ np.asarray(self.vectors[others]).T
        near: Bools = cosine > same
        # So near to the bound, a product of matrices may round otherwise than that of two vectors.
        for row, other in np.argwhere(np.abs(cosine - same) < 1e-5):
            one, two = (self.vectors[at].astype(np.float64) for at in (rows[row], others[other]))
            near[row, other] = float(np.sum(one * two)) > same
        at_once = (self.first[rows, None] <= self.last[others]) & (self.first[others] <= self.last[rows, None])
        return near & at_once


@dataclass(frozen=True)
class Led:
    """Reports by the events that they are of."""

    leader: Positions  # Position of each report's leader; its own of one that leads, shape (reports,).
    searched: int  # How many reports were decided anew.


def lead(reports: Dated, same: float, before: Positions | None = None) -> Led:
    """The leader of each report.

    Args:
        reports: The reports, in the order in which they are kept.
        same: Cosine above which two are of one event.
        before: Position of each report's leader of last night, among reports that have not changed; `NEW` for others.
    """
    previous = np.full(len(reports), NEW, dtype=np.int64) if before is None else before
    state = _State(reports, same, previous)
    for start in range(0, len(reports), _BLOCK):
        state.decide(np.arange(start, min(start + _BLOCK, len(reports))))
    return Led(state.leader, state.searched)


class _State:
    """What is decided so far."""

    def __init__(self, reports: Dated, same: float, previous: Positions) -> None:
        self.reports, self.same, self.previous, self.searched = reports, same, previous, 0
        size = len(reports)
        self.leader: Positions = np.full(size, NEW, dtype=np.int64)
        self._leads = np.zeros(size, dtype=np.bool_)
        self._fresh = np.zeros(size, dtype=np.bool_)  # Leaders that did not lead last night.

    def decide(self, block: Positions) -> None:
        """Find the leaders of a block of reports."""
        previous = self.previous[block]
        inside = previous >= block[0]
        # A leader in the block itself is not decided yet: it led last night, and loses that to a fresh leader alone.
        stays = (previous >= 0) & (inside | self._leads[np.maximum(previous, 0)])
        # The leaders before the block whose days may meet those of its reports, in order.
        reports, until = self.reports, int(block[0])
        low, high = reports.first[block].min(), reports.last[block].max()
        meeting = (reports.last[:until] >= low) & (reports.first[:until] <= high)
        overlapping = np.flatnonzero(self._leads[:until] & meeting)
        fresh = overlapping[self._fresh[overlapping]]
        if stays.all() and len(fresh) == 0:
            self.leader[block] = previous
            self._leads[block[previous == block]] = True
            return
        first = np.full(len(block), len(self.reports), dtype=np.int64)
        first[~stays] = self._first(block[~stays], overlapping)
        first[stays] = self._first(block[stays], fresh)
        within = self.reports.near(block, block, self.same)
        for at, report in enumerate(block.tolist()):
            before = int(previous[at])
            if stays[at] and before != report and before >= block[0] and not self._leads[before]:
                stays[at] = False  # Its leader, in the same block, leads no more.
                first[at] = self._first(block[at : at + 1], overlapping)[0]
            candidates = self._fresh if stays[at] else self._leads
            near = np.flatnonzero(within[at, :at] & candidates[block[:at]])
            ahead = int(block[near[0]]) if len(near) else len(self.reports)
            leader = min(int(first[at]), ahead, before if stays[at] else report)
            self.searched += not stays[at] or leader != before
            self.leader[report] = leader
            if leader == report:
                self._leads[report] = True
                self._fresh[report] = before != report

    def _first(self, rows: Positions, others: Positions) -> Positions:
        """The first of `others`, in order, that each of `rows` is near to; the number of reports for none."""
        positions = np.full(len(rows), len(self.reports), dtype=np.int64)
        for start in range(0, len(others), _WIDTH):
            open_ = np.flatnonzero(positions == len(self.reports))
            if len(open_) == 0:
                break
            part = others[start : start + _WIDTH]
            near = self.reports.near(rows[open_], part, self.same)
            hit = near.any(axis=1)
            positions[open_[hit]] = part[near[hit].argmax(axis=1)]
        return positions


def documents_of(sources: pa.ListArray) -> list[list[str]]:
    """The documents of each event's reports, of the column `sources`: only this of a report is made Python's."""
    documents: list[list[str]] = pa.ListArray.from_arrays(sources.offsets, sources.values.field("doc_id")).to_pylist()
    return documents
