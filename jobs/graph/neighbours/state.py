"""What the graph builder keeps from night to night: vectors' prints, lists of neighbours, who was in which partition.

For each different vector a state has 8 bytes a neighbour, a bit a partition, and 32 bytes besides; where there are
partitions a byte a dimension more, its code: to make all codes and sums of codes anew takes a fifth of a night.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from quern.indexes.night_state import NightStates
from quern.jobs.graph.neighbours.centroids import Rounds
from quern.jobs.graph.neighbours.kept_codes import KeptCodes, SharedFile
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists
from quern.jobs.graph.neighbours.members import Members
from quern.jobs.graph.neighbours.plan import Neighbourhood, Partitioned
from quern.jobs.graph.neighbours.prints import Prints
from quern.jobs.graph.neighbours.truth import Truth

_CODE_COLUMNS = ("place", "since", "lost", "length", "peak")  # Of `KeptCodes`.
_SHARED = "codes.npy"  # What states of many nights share.

_Column = np.ndarray[tuple[int, ...], np.dtype[Any]]
_Columns = dict[str, _Column]


class StateWriter:
    """Writes the state of tonight: who is in which partition as soon as it is known, while lists are made."""

    def __init__(self, folder: Path, name: str) -> None:
        """The state `name` of `folder`."""
        self._states, self._name = NightStates(folder), name
        self._path: Path | None = None
        self._written: set[str] = set()
        self._known: dict[str, str] = {}

    def laid_out(self, prints: Prints, partitioned: Partitioned, codes: KeptCodes) -> None:
        """Write what is known before the lists are, and bring it to the disk."""
        files = self._save(_partition_columns(prints, partitioned) | _code_columns(codes))
        if codes.file is not None:
            self._share(codes, codes.file)
        for file in files:
            with file.open("rb") as written:
                os.fsync(written.fileno())

    def finish(self, neighbourhood: Neighbourhood) -> None:
        """Make `neighbourhood` the state, of whose partitions `laid_out` was told."""
        self._save({"prints": neighbourhood.prints, **_list_columns("", neighbourhood.lists)})
        about: dict[str, Any] = {"dimension": neighbourhood.dimension}
        if neighbourhood.partitioned is not None:
            about["partitions"] = neighbourhood.partitioned.members.partitions
            about["scale"] = neighbourhood.partitioned.rounds.scale
        self._states.commit(self._begun(), about, self._known)

    def _share(self, codes: KeptCodes, file: SharedFile) -> None:
        """Let the state have the file that the last one has, or one like it where files cannot have two names."""
        try:
            (self._begun() / _SHARED).hardlink_to(file.path)
            self._known[_SHARED] = file.checksum
        except OSError:
            self._save({_SHARED.removesuffix(".npy"): codes.shared})

    def _begun(self) -> Path:
        self._path = self._path or self._states.begin(self._name)
        return self._path

    def _save(self, columns: _Columns) -> list[Path]:
        """Files of those columns that are not written yet."""
        files = []
        for column in [name for name in columns if name not in self._written]:
            files.append(self._begun() / f"{column}.npy")
            np.save(files[-1], columns[column], allow_pickle=False)
            self._written.add(column)
        return files


def read_state(folder: Path) -> Neighbourhood | None:
    """The newest state of `folder` that is as it was written; None where there is none."""
    return NightStates(folder).newest(_read)


def _partition_columns(prints: Prints, parts: Partitioned) -> _Columns:
    home = parts.members.home.astype(np.int32)
    partitioned: _Columns = {"home": home, "bits": parts.members.bits, "sample": parts.truth.rows}
    rounds: _Columns = {"nearest": parts.rounds.nearest, "totals": parts.rounds.totals}
    return {"prints": prints, **partitioned, **rounds, **_list_columns("sample_", parts.truth.lists)}


def _code_columns(codes: KeptCodes) -> _Columns:
    known: _Columns = {
        "place": codes.place,
        "since": codes.since,
        "lost": codes.lost,
        "length": codes.length,
        "peak": codes.peak,
    }
    if codes.file is None:
        known["codes"] = codes.shared
    return known


def _list_columns(prefix: str, lists: NeighbourLists) -> _Columns:
    few = int(lists.positions.max(initial=0)) < 1 << 31
    positions = lists.positions.astype(np.int32 if few else np.int64)
    return {f"{prefix}positions": positions, f"{prefix}scores": lists.scores, f"{prefix}cut": lists.cut}


def _lists(read: _Columns, prefix: str) -> NeighbourLists:
    positions = read[f"{prefix}positions"].astype(np.int64)
    return NeighbourLists(positions, read[f"{prefix}scores"], read[f"{prefix}cut"])


def _read(path: Path, about: Mapping[str, Any]) -> Neighbourhood:
    """The state at `path`."""
    # Mapped, not copied: what changes is written to new arrays. Those mapped outlive the files.
    names = [name.removesuffix(".npy") for name in about["digests"]]
    read = {name: np.load(path / f"{name}.npy", mmap_mode="c", allow_pickle=False) for name in names}
    partitioned = codes = None
    if "partitions" in about:
        members = Members(read["home"].astype(np.int64), read["bits"], int(about["partitions"]))
        rounds = Rounds(read["nearest"], read["totals"], float(about["scale"]))
        partitioned = Partitioned(rounds, members, Truth(read["sample"], _lists(read, "sample_")))
        shared = SharedFile(path / _SHARED, about["digests"][_SHARED])
        kept = {name: read[name] for name in _CODE_COLUMNS}
        codes = KeptCodes(shared=read["codes"], scale=rounds.scale, file=shared, **kept)
    return Neighbourhood(read["prints"], _lists(read, ""), int(about["dimension"]), 0, partitioned, codes=codes)
